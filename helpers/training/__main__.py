"""Train a recipe on a text, in one process or in several.

``python -m helpers.training little-world`` trains in one process,
``torchrun --nproc-per-node=2 -m helpers.training little-world`` in two. With
``--checkpoints run``, each of these commands, given again, goes on from the newest
checkpoint in that folder, also with another number of processes.
"""

import argparse
import ast
import dataclasses
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record
from tqdm import tqdm

from helpers.models.language_model import TransformerLM
from helpers.models.model_file import save_model
from helpers.models.transformer_block import TransformerConfig
from helpers.notebook.device import seed_everything
from helpers.text import corpus
from helpers.text.batches import Documents, Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training import checkpoint
from helpers.training.config import PRESETS, TrainConfig, preset
from helpers.training.launching import Group, Stopped, signals
from helpers.training.loop import Row, bits, train
from helpers.training.strategies import STRATEGIES


def main(arguments: Sequence[str] | None = None) -> int:
    """Train as the command line says; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    group = Group()
    with signals():
        try:
            with group.meet(options.device) as device:
                _train(options, device, group)
            return 0
        except ValueError as error:
            why, status = f"error: {error}", 2
        except OSError as error:
            why, status = f"error: {error}; {_kept(options.checkpoints)}", 2
        except FloatingPointError as error:
            why, status = f"{error}; {_kept(options.checkpoints)}", 1
        except Stopped as stopped:
            why, status = stopped.args
            why += f"; {_kept(options.checkpoints)}"
        if group.is_first_to_end():
            print(f"{parser.prog}: {why}", file=sys.stderr, flush=True)
        return status


def _kept(folder: pathlib.Path | None) -> str:
    """What is left of a run that ends early."""
    if folder is None:
        return "nothing is kept without --checkpoints FOLDER"
    steps = checkpoint.steps(folder)
    newest = f"step {steps[-1]:,}" if steps else "none"
    return f"the newest checkpoint in {folder} is {newest}"


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
        "--strategy",
        choices=STRATEGIES,
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


def _train(options: argparse.Namespace, device: torch.device, group: Group) -> None:
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
    if options.save and first:
        _require_place(options.save, options.text, options.checkpoints)
    seed_everything(config.seed)
    model = TransformerLM(model_config)
    if first:
        count = sum(parameter.numel() for parameter in model.parameters())
        many = f"{dist.get_world_size()} processes" if several else "one process"
        way = f" ({options.strategy})" if several else ""
        _print(
            f"{options.recipe} on {options.text}: {count:,} numbers to train in "
            f"{config.steps:,} steps, {many}{way} on {device.type}"
        )
        if whole:
            _print("short_steps=0, as each story is read from its start")
        if options.checkpoints:
            _print(
                f"a checkpoint each {config.checkpoint_every:,} steps in "
                f"{options.checkpoints}: the same command, with any number of "
                "processes, goes on from the newest"
            )
    log = _Log(config, group)
    with group.noticing():
        result = train(
            model,
            data,
            config,
            held_out=held_out,
            checkpoint_dir=options.checkpoints,
            device=device,
            log=log,
            strategy=options.strategy if several else None,
        )
    if first and result.resumed_from:
        if result.resumed_from == config.steps:
            log(result.history[-1])  # there was no step to log
        _print(f"went on from step {result.resumed_from:,}")
    if first and options.save:
        save_model(options.save, model, tokenizer)
        _print(f"the model is in {options.save}")


def _require_place(path: pathlib.Path, text: str, folder: pathlib.Path | None) -> None:
    """--save works: better told before the training than behind it."""
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise ValueError(f"--save must be a file, got {path}")
    if not path.parent.is_dir():
        raise ValueError(f"--save must be in a folder that is there, got {path}")
    others = [] if text in corpus.OPTIONS else [pathlib.Path(text)]
    others += [] if folder is None else [folder]
    if path.resolve() in [one.resolve() for one in others]:
        raise ValueError(
            f"--save must be another place than the text and --checkpoints, got {path}"
        )
    trial = path.with_name(f".writing-{path.name}")  # as save_model calls it
    if not trial.exists():
        trial.touch()
        trial.unlink()


def _print(line: str) -> None:
    """Print at once, above the bar where there is one."""
    tqdm.write(line)
    sys.stdout.flush()


@dataclasses.dataclass
class _Log:
    """Prints the steps whose loss on held-out text is known, and the last."""

    config: TrainConfig
    group: Group

    def __call__(self, row: Row) -> None:
        self.group.require_launcher()
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
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return name, value  # the option's own check says what it must be


if __name__ == "__main__":
    sys.exit(record(main)())  # torchrun's report shows an unexpected error
