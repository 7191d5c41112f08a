"""Run a function in several processes that can talk to each other.

PyTorch starts and watches the processes, as ``torchrun`` does; here they are started
from a notebook or a test, and end with the call.
"""

import contextlib
import datetime
import io
import logging
import multiprocessing
import pathlib
import pickle
import re
import signal
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.api import SignalException
from torch.distributed.elastic.multiprocessing.errors import (
    ChildFailedError,
    ProcessFailure,
)
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from helpers import validation

THIS_MACHINE = "127.0.0.1"
# On Linux they are forked from a process that has done nothing but import PyTorch, so
# that none of them has to: a third of the time.
START = "forkserver" if sys.platform == "linux" else "spawn"
# What PyTorch's launcher logs of a failure is said by the error that is raised.
LOGS = ("torch.distributed.elastic", "torch.multiprocessing")


class ProcessError(RuntimeError):
    """A process that failed, and why; the others were ended."""


def run(
    function: Callable[..., Any],
    processes: int,
    *args: Any,
    backend: str = "gloo",
    seconds: float = 60.0,
) -> list[Any]:
    """Call a function in several processes at once.

    In each of them, ``torch.distributed`` is ready: ``get_rank`` says which one it is.
    A process computes with one thread, so that two fit on two cores.

    Args:
        function: one that other processes can import: it stands in a file, at the top.
            In a notebook, write it with ``%%writefile`` and import it. In a script, the
            call stands below ``if __name__ == "__main__":``.
        processes: how many.
        args: what each call gets.
        backend: "gloo" for CPUs, "nccl" for GPUs.
        seconds: how long one process may wait for another.

    Returns:
        results: what each call returned, in the order of the ranks: numbers, texts and
            tensors, also in lists, tuples and dicts.

    Raises:
        ValueError: a function that other processes can't import, or a number of
            processes below 1.
        ProcessError: a call that raised, with its traceback, or a process that was
            killed; the message names the rank.
        RuntimeError: this PyTorch can't talk to other processes, as on Windows.
        KeyboardInterrupt: the call was interrupted; the processes were ended.
    """
    validation.require_integers(processes=processes)
    _require_importable(function)
    if not dist.is_available() or not dist.is_backend_available(backend):
        raise RuntimeError(f"this PyTorch has no torch.distributed with {backend}")
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=processes,
        run_id=str(uuid.uuid4()),
        rdzv_backend="c10d",
        rdzv_endpoint=f"{THIS_MACHINE}:0",
        local_addr=THIS_MACHINE,
        max_restarts=0,
        monitor_interval=0.05,
        start_method=START,
    )
    if START == "forkserver":
        multiprocessing.set_forkserver_preload([__name__])
    try:
        with _without_logs(), _own_signals():
            found = elastic_launch(config, _work)(function, backend, seconds, *args)
    except ChildFailedError as error:
        raise ProcessError(_in_words(error)) from None
    except SignalException as error:  # the processes have been ended by now
        if error.sigval != signal.SIGINT:
            raise
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        if "libuv" not in str(error):
            raise
        raise RuntimeError(
            "this PyTorch can't start processes that find each other: its builds for "
            "Windows lack libuv. In Windows' subsystem for Linux (WSL) it can"
        ) from error
    return [_unpacked(found[rank]) for rank in range(processes)]


def _work(
    function: Callable[..., Any], backend: str, seconds: float, *args: Any
) -> bytes:
    """What one process does: its packed result, which outlives the process."""
    torch.set_num_threads(1)
    timeout = datetime.timedelta(seconds=seconds)
    dist.init_process_group(backend, timeout=timeout)
    dist.barrier()  # a quick one might leave while others are still connecting
    try:
        result = function(*args)
    except (KeyboardInterrupt, SystemExit) as error:
        # PyTorch would end the process without a word, and wait for its result.
        raise RuntimeError(f"it was ended by {error!r}") from error
    # A call that raises leaves the others connected until its error is written, so that
    # theirs, which follow from it, come later.
    dist.destroy_process_group()
    packed = io.BytesIO()
    torch.save(result, packed)
    try:
        _unpacked(packed.getvalue())
    except pickle.UnpicklingError as error:
        raise TypeError(
            f"what {function.__name__} returned must be numbers, texts and tensors, "
            f"also in lists, tuples and dicts, got {type(result).__name__}"
        ) from error
    return packed.getvalue()


def _unpacked(packed: bytes) -> Any:
    return torch.load(io.BytesIO(packed), map_location="cpu", weights_only=True)


def _require_importable(function: Callable[..., Any]) -> None:
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", repr(function))
    if module in (None, "__main__") or "<" in name:
        raise ValueError(
            f"other processes can't import {name}: they know what stands in files, at "
            "the top. Put the function into a file (in a notebook with %%writefile), "
            "import it from there, and call run with that"
        )


def _in_words(error: ChildFailedError) -> str:
    # Times are whole seconds. Whoever lost the connection to another failed later.
    rank, failure = min(
        _all_failures(error).items(),
        key=lambda item: (_has_lost_another(item[1].message), item[1].timestamp),
    )
    name = failure.signal_name()
    if failure.exitcode < 0:
        return f"process {rank} was ended by {name}; the others were ended, too"
    message = failure.message
    closed = re.search(r"connection (reset|closed)", str(message), re.IGNORECASE)
    lost = " because another had ended" if closed else ""
    if isinstance(message, dict):
        trace = message.get("extraInfo", {}).get("py_callstack", "")
        message = f"{message.get('message', '')}\n{trace}"
    return f"process {rank} failed{lost}, and the others were ended: {message}"


def _all_failures(error: ChildFailedError) -> dict[int, ProcessFailure]:
    """By rank; the launcher tells only of a process that it finds ended first."""
    found = dict(error.failures)
    for file in [pathlib.Path(one.error_file) for one in error.failures.values()]:
        if file.is_file():  # PyTorch keeps them in a folder for each rank
            for other in file.parent.parent.glob(f"*/{file.name}"):
                rank = other.parent.name
                if rank.isdecimal() and int(rank) not in found:
                    found[int(rank)] = ProcessFailure(int(rank), -1, 1, str(other))
    return found


def _has_lost_another(message: object) -> bool:
    """Whether a failure is only what follows from another process's."""
    words = str(message.get("message", "") if isinstance(message, dict) else message)
    return "DistBackendError" in words or "gloo" in words.lower()


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """PyTorch's launcher takes over what ends a program, and doesn't give it back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    names = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")
    numbers = [signal.Signals[name] for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _without_logs() -> Iterator[None]:
    levels = {name: logging.getLogger(name).level for name in LOGS}
    for name in LOGS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
