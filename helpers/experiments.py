"""Experiments that take longer than a chapter may: recorded, and run anew on demand.

``make experiments`` runs all of them and rewrites the records, which are part of the
package; ``python -m helpers.experiments ladder`` runs one. Losses are in nats per
character, on held-out text.
"""

import dataclasses
import itertools
import json
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import torch
from torch import nn

from helpers import corpus, probes
from helpers.batches import Documents, Windows
from helpers.generation import generate_text
from helpers.language_model import TransformerLM
from helpers.presets import preset
from helpers.recipe import TrainConfig
from helpers.tokenizer import CharTokenizer
from helpers.training import bits, train
from helpers.transformer_block import TransformerConfig

RECORDS = pathlib.Path(__file__).resolve().parent / "recorded"
PARTS_OFF: dict[str, Any] = {"residual": False, "norm": "none", "mlp": False}
LADDER: dict[str, dict[str, Any]] = {
    "one attention layer": {"num_layers": 1, **PARTS_OFF},
    "+ residual path": {"num_layers": 1, **PARTS_OFF, "residual": True},
    "+ normalisation": {"num_layers": 1, "mlp": False},
    "+ MLP: one block": {"num_layers": 1},
    "two attention layers": {"num_layers": 2, "mlp": False},
    "two blocks": {"num_layers": 2},
    "six layers, no residual path": {"num_layers": 6, "mlp": False, "residual": False},
    "six layers": {"num_layers": 6, "mlp": False},
}
CONTEXT_LENGTHS = (4, 8, 16, 32, 64, 128)


@dataclasses.dataclass(frozen=True)
class Size:
    """How long an experiment is.

    Args:
        steps: updates of each model.
        stories: held-out stories to measure on.
        variants: how many of its models are trained.
        characters: of a sample of text.
    """

    steps: int
    stories: int
    variants: int
    characters: int


#: What is recorded and shown.
FULL = Size(steps=2_400, stories=1_000, variants=100, characters=240)
#: What a test repeats.
SHORT = Size(steps=20, stories=20, variants=4, characters=8)


def ladder(size: Size) -> dict[str, Any]:
    """Little-world's loss and right answers, as parts are added to a layer.

    Returns:
        rows: a dict from each model to its "parameters", "loss" and "accuracy".
    """
    world = corpus.load("little-world", held_out_stories=size.stories)
    tokenizer = CharTokenizer(world.alphabet)
    rows = {}
    for name, changes in _small(LADDER, size):
        configs = _recipe(tokenizer, size, **changes)
        data = _stories(world, tokenizer, configs[0].context_length)
        model, loss = _train(*configs, *data)
        predict = probes.model_predictions(model, tokenizer)
        shares = probes.accuracy(world.held_out, predict)
        rows[name] = {
            "parameters": _count(model),
            "loss": _round(loss),
            "accuracy": {kind: _round(share) for kind, (share, _) in shares.items()},
        }
    return rows


def context_lengths(size: Size) -> dict[str, Any]:
    """Little-world's loss, as the model may read less than a story at once.

    A story longer than the context length is read in pieces, and a piece knows nothing
    of those before it. Each batch holds about as many characters.

    Returns:
        rows: a dict from each context length, as a string, to the loss.
    """
    world = corpus.load("little-world", held_out_stories=size.stories)
    tokenizer = CharTokenizer(world.alphabet)
    rows = {}
    for length in CONTEXT_LENGTHS[: size.variants]:
        batch_size = 1_328 // min(length, 83)  # a story has 83 characters on average
        changes = {"context_length": length, "batch_size": batch_size}
        configs = _recipe(tokenizer, size, **changes)
        _, loss = _train(*configs, *_stories(world, tokenizer, length))
        rows[str(length)] = _round(loss)
    return rows


def shakespeare(size: Size) -> dict[str, Any]:
    """Tiny Shakespeare's loss with the plain recipe, read in windows.

    Returns:
        rows: a dict of the "parameters", the "steps", the "loss", its "bits", and what
            the model writes behind "ROMEO:" as a "sample".
    """
    text = corpus.load("tiny-shakespeare")
    tokenizer = CharTokenizer(text.alphabet)
    configs = _recipe(tokenizer, size)
    data, held_out = (
        Windows(tokenizer.encode(part), configs[0].context_length)
        for part in (text.train_text, text.held_out_text)
    )
    model, loss = _train(*configs, data, held_out)
    return {
        "parameters": _count(model),
        "steps": size.steps,
        "loss": _round(loss),
        "bits": _round(bits(loss)),
        "sample": generate_text(
            model,
            tokenizer,
            "ROMEO:",
            size.characters,
            generator=torch.Generator().manual_seed(configs[1].seed),
        ),
    }


EXPERIMENTS: dict[str, Callable[[Size], dict[str, Any]]] = {
    "ladder": ladder,
    "context-lengths": context_lengths,
    "shakespeare": shakespeare,
}


def recorded(name: str, *, short: bool = False) -> dict[str, Any]:
    """Read what an experiment gave when it was run.

    Args:
        name: a key of ``EXPERIMENTS``.
        short: the result of the short run, which is there for the tests.

    Returns:
        rows: what the function of that name returns.

    Raises:
        ValueError: an unknown name.
    """
    _require_name(name)
    text = (RECORDS / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)["short" if short else "full"]


def run(name: str, *, short: bool = False) -> dict[str, Any]:
    """Run an experiment on the CPU.

    Args:
        name: a key of ``EXPERIMENTS``.
        short: a few steps only.

    Returns:
        rows: what the function of that name returns.

    Raises:
        ValueError: an unknown name.
    """
    _require_name(name)
    return EXPERIMENTS[name](SHORT if short else FULL)


def main(names: Sequence[str]) -> int:
    """Run experiments, all where none is named, and rewrite their records.

    Returns:
        status: 0, or 1 where a text couldn't be had and its record was left alone.
    """
    status = 0
    for name in names or EXPERIMENTS:
        try:
            rows = {"short": run(name, short=True), "full": run(name)}
        except corpus.CorpusUnavailable as error:
            print(f"{name}: left as it was: {error}")
            status = 1
            continue
        text = json.dumps({"torch": torch.__version__, **rows}, indent=1)
        (RECORDS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{name}: {json.dumps(rows['full'])}")
    return status


def _small(
    variants: dict[str, dict[str, Any]], size: Size
) -> Iterator[tuple[str, dict[str, Any]]]:
    return itertools.islice(variants.items(), size.variants)


def _recipe(
    tokenizer: CharTokenizer, size: Size, **changes: Any
) -> tuple[TransformerConfig, TrainConfig]:
    """The plain recipe, for fewer steps where the run is short."""
    warmup = min(100, size.steps // 2)
    changes = {"steps": size.steps, "warmup_steps": warmup, **changes}
    return preset("plain", tokenizer.vocab_size, **changes)


def _train(
    model_config: TransformerConfig,
    train_config: TrainConfig,
    data: Windows | Documents,
    held_out: Windows | Documents,
) -> tuple[TransformerLM, float]:
    """A model drawn from the recipe's seed and trained on the CPU, and its loss."""
    torch.manual_seed(train_config.seed)
    model = TransformerLM(model_config)
    result = train(model, data, train_config, held_out=held_out, device="cpu")
    return model, cast(float, result.held_out)  # there is text to measure on


def _stories(
    world: corpus.Corpus, tokenizer: CharTokenizer, context_length: int
) -> list[Documents]:
    """The stories to train on and those held out, as batches."""
    return [
        Documents.from_texts(part, tokenizer, context_length)
        for part in (world.train, world.held_out)
    ]


def _count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def _round(number: float) -> float:
    return round(number, 4)


def _require_name(name: str) -> None:
    if name not in EXPERIMENTS:
        raise ValueError(f"name must be one of {list(EXPERIMENTS)}, got {name!r}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
