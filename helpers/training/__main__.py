"""Train a recipe on a text, in one process or in several.

``python -m helpers.training little-world`` trains in one process,
``torchrun --nproc-per-node=2 -m helpers.training little-world`` in two. Each of these
commands, given again with the same --checkpoints, goes on from the last one there, also
with another number of processes. ``--help`` has the options.
"""

import argparse
import ast
import contextlib
import dataclasses
import os
import pathlib
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import torch
import torch.distributed as dist

from helpers.models.language_model import TransformerLM
from helpers.models.model_file import save_model
from helpers.notebook.device import choose_device, seed_everything
from helpers.text import corpus
from helpers.text.batches import Documents, Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training import checkpoint
from helpers.training.config import PRESETS, TrainConfig, preset
from helpers.training.loop import Row, bits, train
from helpers.training.team import SPREADS

# What a shell says of a program that a signal has ended.
ENDED = {"SIGINT": 130, "SIGTERM": 143}


class _Stopped(BaseException):
    """Somebody wants the process to end; the name is the signal's."""


class _NobodyThereError(RuntimeError):
    """Another process of the run has ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Train as the command line says; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    with _signals():
        try:
            with _processes(options) as device:
                return _train(options, device)
        except (ValueError, OSError, UnicodeError) as error:
            return _say(f"{parser.prog}: error: {error}", 2)
        except FloatingPointError as error:
            return _say(f"{parser.prog}: {error}", 1)
        except _NobodyThereError:
            _ignore_signals()  # torchrun's, which follow
            line = f"another process has ended, {_what_is_kept(options)}"
            return _say_once(line, 1)
        except _Stopped as signals:
            (name,) = signals.args
            why = " (torchrun's, if another process has ended)" if _is_spread() else ""
            line = f"stopped by {name}{why}, {_what_is_kept(options)}"
            return _say_once(line, ENDED[name])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m helpers.training", description=__doc__)
    parser.add_argument(
        "text",
        help=f"{', '.join(corpus.OPTIONS)}, or the path of a text file (UTF-8), whose "
        "last tenth is held out",
    )
    parser.add_argument("--recipe", choices=PRESETS, default="plain")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="changes",
        help="an option of TransformerConfig or TrainConfig that differs from the "
        "recipe, such as steps=200; may be repeated",
    )
    parser.add_argument(
        "--checkpoints",
        type=pathlib.Path,
        metavar="FOLDER",
        help="write some, and go on",
    )
    parser.add_argument(
        "--save", type=pathlib.Path, metavar="FILE", help="the trained model"
    )
    parser.add_argument(
        "--spread",
        choices=SPREADS,
        default="ddp",
        help="how several processes share the work: ddp (each has the model) or fsdp "
        "(each has a part of it)",
    )
    parser.add_argument(
        "--device", help="cpu, cuda or mps; the fastest one if left out"
    )
    return parser


def _train(options: argparse.Namespace, device: torch.device) -> int:
    alphabet, parts = _read(options.text)
    tokenizer = CharTokenizer(alphabet)
    changes = dict(_change(one) for one in options.changes)
    model_config, config = preset(options.recipe, tokenizer.vocab_size, **changes)
    if config.evaluate_every is None:
        config = dataclasses.replace(config, evaluate_every=max(1, config.steps // 10))
    data, held_out = (
        _batches(options.text, part, tokenizer, model_config.context_length)
        for part in parts
    )
    if data is None:
        raise ValueError(f"{options.text} has no text to train on")
    seed_everything(config.seed)
    model = TransformerLM(model_config)
    several = dist.is_initialized()
    first = not several or dist.get_rank() == 0
    if first:
        count = sum(parameter.numel() for parameter in model.parameters())
        many = f"{dist.get_world_size()} processes" if several else "one process"
        way = f" ({options.spread})" if several else ""
        print(
            f"{options.recipe} on {options.text}: {count:,} numbers to train in "
            f"{config.steps:,} steps, {many}{way} on {device.type}",
            flush=True,
        )
    with _noticing(several):
        result = train(
            model,
            data,
            config,
            held_out=held_out,
            checkpoint_dir=options.checkpoints,
            device=device,
            log=_Log(config),
            spread=options.spread if several else None,
        )
    if first and result.resumed_from:
        print(f"went on from step {result.resumed_from:,}")
    if first and options.save:
        save_model(options.save, model, tokenizer)
        print(f"the model is in {options.save}")
    return 0


@dataclasses.dataclass
class _Log:
    """Prints the steps whose loss on held-out text is known, and the last."""

    config: TrainConfig

    def __call__(self, row: Row) -> None:
        due = row.step % (self.config.evaluate_every or row.step) == 0
        if not due and row.step < self.config.steps:
            return
        line = f"step {row.step:>6,}  {bits(row.loss):.4f} bits on its batch"
        if row.held_out is not None:
            line += f"  {bits(row.held_out):.4f} bits a character held out"
        print(f"{line}  {row.seconds:.1f} s", flush=True)


def _read(text: str) -> tuple[str, list[tuple[str, ...]]]:
    """The alphabet of a text, what is trained on, and what is held out."""
    if text in corpus.OPTIONS:
        found = corpus.load(text)
        return found.alphabet, [found.train, found.held_out]
    path = pathlib.Path(text)
    if not path.is_file():
        names = ", ".join(corpus.OPTIONS)
        raise ValueError(f"text must be one of {names} or a file, got {text!r}")
    whole = path.read_text(encoding="utf-8")
    end = len(whole) * 9 // 10
    return "".join(sorted(set(whole))), [(whole[:end],), (whole[end:],)]


def _batches(
    name: str, part: tuple[str, ...], tokenizer: CharTokenizer, context_length: int
) -> Documents | Windows | None:
    """Stories are read from their start, long texts in windows."""
    if not part:
        return None
    if name == "little-world":
        return Documents.from_texts(part, tokenizer, context_length)
    return Windows(tokenizer.encode("".join(part)), context_length)


def _change(given: str) -> tuple[str, Any]:
    """NAME=VALUE as a pair; a value that is no number, pair or truth is a text."""
    name, equals, value = given.partition("=")
    if not equals:
        raise ValueError(f"--set takes NAME=VALUE, got {given!r}")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


# --- processes ------------------------------------------------------------------------


@contextlib.contextmanager
def _processes(options: argparse.Namespace) -> Iterator[torch.device]:
    """Meet the other processes, where torchrun has started some; yields the device."""
    device = choose_device(options.device)
    if not _is_spread():
        yield device
        return
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    elif device.type == "mps":  # which no processes can share
        device = torch.device("cpu")
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    yield device
    dist.destroy_process_group()


def _is_spread() -> bool:
    """Whether torchrun has started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


@contextlib.contextmanager
def _noticing(several: bool) -> Iterator[None]:
    """Tell an error of the connection to another process from all others."""
    try:
        yield
    except RuntimeError as error:
        lost = isinstance(error, dist.DistError) or "gloo" in str(error).lower()
        if several and lost:
            raise _NobodyThereError from error
        raise


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Ctrl-C and SIGTERM end the run with a line."""
    numbers = [signal.Signals[name] for name in ENDED]
    before = {number: signal.signal(number, _stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ignore_signals() -> None:
    for name in ENDED:
        signal.signal(signal.Signals[name], signal.SIG_IGN)


def _stop(number: int, _: object) -> NoReturn:
    _ignore_signals()  # or a second one would cut off what is said of the first
    raise _Stopped(signal.Signals(number).name)


def _what_is_kept(options: argparse.Namespace) -> str:
    found = options.checkpoints and checkpoint.latest(options.checkpoints)
    if not found:
        hint = "" if options.checkpoints else "; --checkpoints FOLDER keeps some"
        return f"and no checkpoint was written yet{hint}"
    return (
        f"and {found.path} has everything up to step {found.step:,}: the same command, "
        "with any number of processes, goes on from there"
    )


def _say(line: str, status: int) -> int:
    print(line, file=sys.stderr, flush=True)
    return status


def _say_once(line: str, status: int) -> int:
    """Say it in one of the processes that are left."""
    try:
        if dist.is_initialized():
            store = dist.distributed_c10d._get_default_store()
            if store.add("somebody has said it", 1) > 1:
                return status
    except RuntimeError:  # the launcher has ended, too
        pass
    return _say(line, status)


if __name__ == "__main__":
    sys.exit(main())
