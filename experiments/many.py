"""Many training runs: side by side, each kept as it ends, and resumed after a kill."""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch
from tqdm import tqdm

from helpers.recorded import results
from helpers.whole_files import write_whole

Settings = dict[str, Any]
Run = dict[str, Any]  # its settings, and what was measured


def read(path: pathlib.Path) -> dict[str, Any]:
    """A record as it stands: a dict with a list of "runs", empty without a file."""
    if not path.exists():
        return {"runs": []}
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: pathlib.Path, record: dict[str, Any]) -> None:
    """Write a record with a run a line. A kill leaves the old file or the new one."""
    head = {name: value for name, value in record.items() if name != "runs"}
    runs = ",\n".join(f"  {json.dumps(run)}" for run in record["runs"])
    text = json.dumps(head | {"runs": []}, indent=1)
    text = text.removesuffix("[]\n}") + f"[\n{runs}\n ]\n}}\n"
    write_whole(path, text.encode())


def _begin() -> None:
    """Take one thread, and end with the process that hands out the runs."""
    torch.set_num_threads(1)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()  # killed, it couldn't say that nobody waits for the run
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def complete(
    path: pathlib.Path,
    wanted: Callable[[dict[str, Any]], Sequence[Settings]],
    train: Callable[[Settings], Run],
    *,
    processes: int | None = None,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Train until nothing more is wanted, and write the record after every run.

    Args:
        path: the record, which may hold runs already.
        wanted: from the record so far to the settings of the runs that it lacks. Which
            ones may depend on what was measured.
        train: a function at the top of a module, from settings to what was measured.
            Each call has a process with one thread.
        processes: how many run side by side; one for each core where left out.
        progress: whether a bar shows how many runs are done and how long the others
            will take; where left out, it does in a terminal.

    Returns:
        record: a dict with the "runs", sorted by their settings.
    """
    record = read(path)
    processes = processes or os.cpu_count() or 1
    hidden = None if progress is None else not progress
    pending: dict[concurrent.futures.Future[Run], Settings] = {}
    with (
        concurrent.futures.ProcessPoolExecutor(
            processes,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
        ) as pool,
        tqdm(unit="run", disable=hidden, smoothing=0) as bar,
    ):
        while True:
            missing = wanted(record)
            bar.total = bar.n + len(missing)
            bar.refresh()
            for settings in missing:
                if len(pending) < processes and settings not in pending.values():
                    pending[pool.submit(train, settings)] = settings
            if not pending:
                break
            ended, _ = concurrent.futures.wait(
                pending, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in ended:
                record["runs"].append(pending.pop(future) | future.result())
                bar.update()
            write(path, record)
    record["runs"].sort(key=json.dumps)
    write(path, record)
    return record


def _processes(text: str) -> int:
    """The argument of the command.

    Raises:
        ArgumentTypeError: no whole number of at least 1.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(
            f"N must be a whole number of at least 1, got {text!r}"
        )
    return int(text)


def processes_asked(command: str, does: str | None = None) -> int | None:
    """How many runs are to stand side by side, by the argument of a command.

    Args:
        command: its module, such as "experiments.heads".
        does: what it does, in the words of its help.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {command}", description=does)
    parser.add_argument(
        "processes",
        nargs="?",
        type=_processes,
        metavar="N",
        help="how many runs stand side by side; one for each core where left out",
    )
    asked: int | None = parser.parse_args().processes
    return asked


def main(
    name: str,
    wanted: Callable[[dict[str, Any]], Sequence[Settings]],
    train: Callable[[Settings], Run],
) -> int:
    """Train what an experiment's record lacks; stop and start it at any time.

    Args:
        name: the record's, in ``helpers.recorded``.
        wanted: as for ``complete``.
        train: as for ``complete``.

    An argument of the command says how many runs stand side by side; ``--help`` says
    so.
    """
    processes = processes_asked(f"experiments.{name}")
    complete(results.path(name), wanted, train, processes=processes)
    return 0
