"""What the experiments share: how long they are, how they train, where they write."""

import argparse
import dataclasses
import importlib
import json
import sys
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import nn

from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.recorded import results
from helpers.text import corpus, probes
from helpers.text.batches import Documents, Windows
from helpers.text.little_world import LittleWorld
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import TrainConfig, preset
from helpers.training.loop import train


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


def recipe(
    tokenizer: CharTokenizer, size: Size, **changes: Any
) -> tuple[TransformerConfig, TrainConfig]:
    """The plain recipe, for fewer steps where the run is short."""
    warmup = min(100, size.steps // 2)
    changes = {"steps": size.steps, "warmup_steps": warmup, **changes}
    return preset("plain", tokenizer.vocab_size, **changes)


def trained(
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


def stories(
    world: corpus.Corpus, tokenizer: CharTokenizer, context_length: int
) -> list[Documents]:
    """The stories to train on and those held out, as batches."""
    return [
        Documents.from_texts(part, tokenizer, context_length)
        for part in (world.train, world.held_out)
    ]


def right_answers(
    model: nn.Module, tokenizer: CharTokenizer, stories: Sequence[str]
) -> dict[str, int]:
    """How many questions of each kind a model answers rightly."""
    return count_right(stories, probes.model_predictions(model, tokenizer, stories))


def count_right(
    stories: Sequence[str], predict: probes.Predict, world: LittleWorld | None = None
) -> dict[str, int]:
    """How many questions of each kind are answered rightly, of all in the stories."""
    shares = probes.accuracy(stories, predict, world=world).items()
    return {kind: round(share * asked) for kind, (share, asked) in shares}


def count(model: nn.Module) -> int:
    """How many parameters a model has."""
    return sum(parameter.numel() for parameter in model.parameters())


def rounded(number: float) -> float:
    """A number as records hold it."""
    return round(number, 4)


def require_no_arguments(command: str, does: str) -> None:
    """Answer ``--help``, and refuse what else stands behind a command that takes none.

    Args:
        command: its module, such as "experiments.shakespeare".
        does: what it does, in the words of its help.
    """
    argparse.ArgumentParser(prog=f"python -m {command}", description=does).parse_args()


def main(names: Sequence[str]) -> int:
    """Run experiments and rewrite their records.

    Args:
        names: modules of this package with a function ``run(size)``.

    Returns:
        status: 0, or 1 where a text couldn't be had and its record was left alone.
    """
    status = 0
    for name in names:
        run = importlib.import_module(f"experiments.{name}").run
        try:
            rows = {"short": run(SHORT), "full": run(FULL)}
        except corpus.CorpusUnavailable as error:
            print(f"{name}: left as it was: {error}", file=sys.stderr)
            status = 1
            continue
        text = json.dumps({"torch": torch.__version__, **rows}, indent=1)
        results.path(name).write_text(text + "\n", encoding="utf-8")
        print(f"{name}: {json.dumps(rows['full'])}")
    return status
