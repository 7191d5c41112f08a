"""Train a recipe on a text, in one process or in several.

``python -m helpers.training little-world`` trains in one process,
``torchrun --nproc-per-node=2 -m helpers.training little-world`` in two. With
``--checkpoints run``, each of these commands, given again, goes on from the newest
checkpoint in that folder, also with another number of processes.
"""

import argparse
import ast
import contextlib
import dataclasses
import difflib
import io
import pathlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.distributed as dist
from tqdm import tqdm

from helpers.models.language_model import TransformerLM
from helpers.models.model_file import save_model
from helpers.models.transformer_block import TransformerConfig
from helpers.notebook.device import seed_everything
from helpers.text import corpus
from helpers.text.batches import Documents, Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import PRESETS, TrainConfig, preset
from helpers.training.launching import (
    ENDED,
    Kept,
    Launcher,
    NobodyThereError,
    Stopped,
    ignore_signals,
    noticing,
    processes,
    signals,
)
from helpers.training.loop import Row, bits, train
from helpers.training.team import SPREADS


def main(arguments: Sequence[str] | None = None) -> int:
    """Train as the command line says; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    launcher, kept = Launcher(), Kept(options.checkpoints)
    with signals(), _plain_output(parser.prog):
        try:
            with processes(options.device, launcher) as device:
                return _train(options, device, kept)
        except (ValueError, OSError) as error:
            line = f"{parser.prog}: error: {error}"
            if isinstance(error, OSError) and kept.has_begun:
                return _end(line, 2, kept, launcher)
            return _say_once(line, 2, launcher)
        except FloatingPointError as error:
            return _say_once(f"{parser.prog}: {error}", 1, launcher)
        except NobodyThereError as error:
            ignore_signals()  # torchrun's, which follow
            return _end(_why(str(error), launcher), 1, kept, launcher)
        except Stopped as stopped:
            return _stopped(stopped, kept, launcher)
        except RuntimeError as error:
            if isinstance(error.__cause__, Stopped):  # it met a class being made
                return _stopped(error.__cause__, kept, launcher)
            raise


def _stopped(stopped: Stopped, kept: Kept, launcher: Launcher) -> int:
    (name,) = stopped.args
    why = f"stopped by {name}"
    if launcher.is_there and name == "SIGTERM":
        why += " (torchrun's, if another process has ended)"
    return _end(_why(why, launcher), ENDED[name], kept, launcher)


def _why(seen: str, launcher: Launcher) -> str:
    """What a process has seen may only follow from its launcher's end."""
    return "stopped, since torchrun has ended" if launcher.has_ended() else seen


@contextlib.contextmanager
def _plain_output(program: str) -> Iterator[None]:
    """Warnings are lines as errors are, and no letter of a name ends a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

    def show(message: Warning | str, *_: object, **__: object) -> None:
        print(f"{program}: warning: {message}", file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _say_once(line: str, status: int, launcher: Launcher) -> int:
    """An error that several processes meet is said by one of them."""
    if launcher.first_to(line):
        print(line, file=sys.stderr, flush=True)
    return status


def _end(why: str, status: int, kept: Kept, launcher: Launcher) -> int:
    """One of the processes that are left says what is kept."""
    if launcher.first_to("say what is kept"):
        print(f"{why}, {kept}", file=sys.stderr, flush=True)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m helpers.training", description=__doc__)
    parser.add_argument(
        "text",
        help=f"{', '.join(corpus.OPTIONS)}, or the path of a text file (UTF-8), whose "
        "last tenth is held out",
    )
    parser.add_argument(
        "--recipe", choices=PRESETS, default="plain", help="plain if left out"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="changes",
        help="an option that differs from the recipe, such as steps=200; may be "
        f"repeated. The options are {', '.join(_names())}",
    )
    parser.add_argument(
        "--checkpoints",
        type=_path,
        metavar="FOLDER",
        help="write a checkpoint each checkpoint_every steps, and go on from the "
        "newest one that is there",
    )
    parser.add_argument("--save", type=_path, metavar="FILE", help="the trained model")
    parser.add_argument(
        "--spread",
        choices=SPREADS,
        default="ddp",
        help="how several processes, started by torchrun, share the work: ddp (each "
        "has the model) or fsdp (each has a part of it)",
    )
    parser.add_argument(
        "--device", help="cpu, cuda or mps; the fastest one if left out"
    )
    return parser


def _names() -> list[str]:
    """What --set can set: all but what comes from the text."""
    fields = (*dataclasses.fields(TransformerConfig), *dataclasses.fields(TrainConfig))
    return [field.name for field in fields if field.name != "vocab_size"]


def _path(given: str) -> pathlib.Path:
    """A shell makes an empty path of a variable that is unset."""
    if not given:
        raise argparse.ArgumentTypeError("must be a path, got ''")
    return pathlib.Path(given)


def _train(options: argparse.Namespace, device: torch.device, kept: Kept) -> int:
    alphabet, parts = _read(options.text)
    tokenizer = CharTokenizer(alphabet)
    changes = dict(_change(one) for one in options.changes)
    shortens = "short_steps" in PRESETS[options.recipe].keys() - changes.keys()
    if whole := shortens and options.text == "little-world":
        changes["short_steps"] = 0
    model_config, config = preset(options.recipe, tokenizer.vocab_size, **changes)
    if config.evaluate_every is None:
        config = dataclasses.replace(config, evaluate_every=max(1, config.steps // 10))
    data, held_out = _batches(
        options.text, parts, tokenizer, model_config.context_length
    )
    if data is None:
        raise ValueError(f"{options.text} has no text to train on")
    several = dist.is_initialized()
    first = not several or dist.get_rank() == 0
    if options.save:
        with noticing(several):
            _require_place(options.save, options.text, options.checkpoints, first)
    seed_everything(config.seed)
    model = _make(model_config)
    found = kept.look()
    if first:
        count = sum(parameter.numel() for parameter in model.parameters())
        many = f"{dist.get_world_size()} processes" if several else "one process"
        way = f" ({options.spread})" if several else ""
        _print(
            f"{options.recipe} on {options.text}: {count:,} numbers to train in "
            f"{config.steps:,} steps, {many}{way} on {device.type}"
        )
        if whole:
            _print("short_steps=0, as each story is read from its start")
        if found:
            _print(f"found {found.path}")
    log = _Log(config, kept)
    with noticing(several):
        result = train(
            model,
            data,
            config,
            held_out=held_out,
            checkpoint_dir=options.checkpoints,
            device=device,
            log=log,
            spread=options.spread if several else None,
        )
    if first and result.resumed_from:
        if result.resumed_from == config.steps:
            log(result.history[-1])  # there was no step to log
        _print(f"went on from step {result.resumed_from:,}")
    if first and options.save:
        _save(options.save, model, tokenizer, kept)
    return 0


def _make(config: TransformerConfig) -> TransformerLM:
    try:
        return TransformerLM(config)
    except RuntimeError as error:  # PyTorch's, which may have a page of C++ below
        why = str(error).partition("\n")[0]
        raise ValueError(f"no model of these sizes can be made: {why}") from error


def _require_place(
    path: pathlib.Path, text: str, folder: pathlib.Path | None, first: bool
) -> None:
    """--save works: better told before the training than behind it."""
    problem = [_problem(path, text, folder) if first else None]
    if dist.is_initialized():  # the others may not see that disk
        dist.broadcast_object_list(problem)
    if problem[0]:
        raise ValueError(f"--save {problem[0]}")


def _problem(path: pathlib.Path, text: str, folder: pathlib.Path | None) -> str | None:
    """What is wrong with a place to save at, if anything is."""
    try:
        if path.is_dir():
            return f"must be a file, and {path} is a folder"
        if path.exists() and not path.is_file():
            return f"must be a file, and {path} is none"
        if folder and folder.absolute() == path.absolute():
            return f"must be another place than --checkpoints, {folder}"
        if not path.parent.is_dir():
            return f"must be in a folder that is there, got {path}"
        if text not in corpus.OPTIONS and path.exists() and path.samefile(text):
            return f"must be another file than the text, {text}"
        writing = path.with_name(f".writing-{path.name}")  # as save_model calls it
        with open(writing, "xb") as file:
            file.write(b"a trial")
        writing.unlink()
    except FileExistsError:  # of a run that was killed, or that writes just now
        return None
    except OSError as error:
        return f"can't be written: {path} ({error.strerror})"
    return None


def _save(
    path: pathlib.Path, model: TransformerLM, tokenizer: CharTokenizer, kept: Kept
) -> None:
    try:
        save_model(path, model, tokenizer)
    except OSError as error:
        why = error.strerror or error
        raise OSError(f"--save can't write {path} ({why}), {kept}") from error
    _print(f"the model is in {path}")


def _print(line: str) -> None:
    """Print at once, above the bar where there is one."""
    tqdm.write(line)
    sys.stdout.flush()


@dataclasses.dataclass
class _Log:
    """Prints the steps whose loss on held-out text is known, and the last."""

    config: TrainConfig
    kept: Kept

    def __call__(self, row: Row) -> None:
        self.kept.has_begun = True
        due = row.step % (self.config.evaluate_every or row.step) == 0
        if not due and row.step < self.config.steps:
            return
        line = f"step {row.step:>6,}  {bits(row.loss):.4f} bits on its batch"
        if row.held_out is not None:
            line += f"  {bits(row.held_out):.4f} bits a character held out"
        _print(f"{line}  {row.seconds:.1f} s")


def _read(text: str) -> tuple[str, list[tuple[str, ...]]]:
    """The alphabet of a text, what is trained on, and what is held out."""
    if text in corpus.OPTIONS:
        found = corpus.load(text)
        return found.alphabet, [found.train, found.held_out]
    path = pathlib.Path(text)
    if not path.is_file():
        names = ", ".join(corpus.OPTIONS)
        raise ValueError(f"text must be one of {names} or a file, got {text!r}")
    try:
        whole = path.read_text(encoding="utf-8-sig")  # without a byte order mark
    except UnicodeDecodeError as error:
        raise ValueError(f"{text} must be a text in UTF-8: {error}") from error
    if not whole:
        raise ValueError(f"{text} is empty")
    end = len(whole) * 9 // 10
    return "".join(sorted(set(whole))), [(whole[:end],), (whole[end:],)]


def _batches(
    name: str, parts: list[tuple[str, ...]], tokenizer: CharTokenizer, length: int
) -> list[Documents | Windows | None]:
    """Stories are read from their start, long texts in windows of a length."""
    if name == "little-world":
        return [Documents.from_texts(part, tokenizer, length) for part in parts]
    found: list[Documents | Windows | None] = []
    texts = ["".join(part) for part in parts]
    for text, which in zip(texts, ("is trained on", "is held out"), strict=True):
        try:
            found.append(Windows(tokenizer.encode(text), length) if text else None)
        except ValueError as error:
            most = min(len(text) for text in texts if text) - 1
            hint = f"; --set context_length={most} would do" if most else ""
            raise ValueError(
                f"the part of {name} that {which} is too short: {error}{hint}"
            ) from error
    return found


def _change(given: str) -> tuple[str, Any]:
    """NAME=VALUE as a pair; a value that is no number, pair or truth is a text."""
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise ValueError(f"--set takes NAME=VALUE, got {given!r}")
    if name == "vocab_size":
        raise ValueError("--set can't change vocab_size, which comes from the text")
    if name not in _names():
        raise ValueError(
            f"{name}: no option of TransformerConfig or TrainConfig{_near(name)}"
        )
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return name, value  # the option's own check says what it must be


def _near(name: str) -> str:
    found = difflib.get_close_matches(name, _names(), n=1)
    return f"; did you mean {found[0]}?" if found else ""


if __name__ == "__main__":
    sys.exit(main())
