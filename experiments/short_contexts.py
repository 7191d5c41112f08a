"""Little-world's loss, as the model may read less than a story at once.

A story longer than the context length is read in two ways: cut into pieces, which know
nothing of each other, and by a window that slides along it, one character at a time.
What the second way loses is what lies too far back; the first loses more.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments import many, running, sweeps
from helpers.models.language_model import TransformerLM
from helpers.text import corpus
from helpers.text.batches import NOTHING, Documents
from helpers.text.tokenizer import CharTokenizer
from helpers.training.loop import evaluate, train

CONTEXT_LENGTHS = (8, 16, 32, 64)
BEGIN = (0.002, 0.004, 0.008)
STEPS = 1_200
STORIES = {"validation": 500, "test": 500}
WINDOWS = 2_048  # read at once


def train_one(settings: many.Settings, **stories: int) -> many.Run:
    """Train two blocks on stories in pieces, and measure in both ways.

    Args:
        settings: a dict of "context_length", "rate", "seed" and "steps". Each batch
            holds about as many characters.
        stories: how many of the "validation" and of the "test" to measure on.

    Returns:
        run: a dict of the "validation" loss in pieces, and of the test loss in "pieces"
            and through a "sliding" window, all in nats per character.
    """
    count = STORIES | stories
    length, steps = settings["context_length"], settings["steps"]
    world = corpus.load("little-world", held_out_stories=count["test"])
    other = corpus.load(
        "little-world", seed=1, train_stories=1, held_out_stories=count["validation"]
    )
    tokenizer = CharTokenizer(world.alphabet)
    configs = running.recipe(
        tokenizer,
        running.Size(steps=steps, stories=0, variants=0, characters=0),
        context_length=length,
        batch_size=1_328 // min(length, 83),  # a story has 83 characters on average
        learning_rate=settings["rate"],
        seed=settings["seed"],
    )
    data, test, validation = (
        Documents.from_texts(part, tokenizer, length)
        for part in (world.train, world.held_out, other.held_out)
    )
    torch.manual_seed(settings["seed"])
    model = TransformerLM(configs[0])
    train(model, data, configs[1], device="cpu", progress=False)
    return {
        "validation": running.rounded(evaluate(model, validation)),
        "pieces": running.rounded(evaluate(model, test)),
        "sliding": running.rounded(sliding_loss(model, tokenizer, world.held_out)),
    }


def sliding_loss(
    model: TransformerLM, tokenizer: CharTokenizer, stories: Sequence[str]
) -> float:
    """The loss where each character is predicted from as many as the model can read.

    Args:
        model: a TransformerLM, in eval mode.
        tokenizer: its tokenizer, with a start character.
        stories: strings.

    Returns:
        loss: nats per character.
    """
    nats, characters = 0.0, 0
    for inputs, targets in _windows(tokenizer, stories, model.context_length):
        with torch.no_grad():
            logits = model(inputs)
        losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="sum")
        nats += losses.item()
        characters += int((targets >= 0).sum())
    return nats / characters


def _windows(
    tokenizer: CharTokenizer, stories: Sequence[str], length: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Inputs and targets (B, T); behind the first window each predicts its last."""
    begun: list[tuple[Tensor, Tensor]] = []
    whole: list[tuple[Tensor, Tensor]] = []
    for story in stories:
        ids = torch.tensor(tokenizer.encode(f"{tokenizer.start_character}{story}"))
        first, pad = ids[: length + 1], max(0, length - len(story))
        inputs, targets = (
            F.pad(first[:-1], (0, pad)),
            F.pad(first[1:], (0, pad), value=NOTHING),
        )
        begun.append((inputs, targets))
        if len(story) > length:
            inputs = ids[1:-1].unfold(0, length, 1)  # (N, T)
            targets = torch.full_like(inputs, NOTHING)
            targets[:, -1] = ids[length + 1 :]
            whole += zip(inputs, targets, strict=True)
    for rows in (begun, whole):
        for i in range(0, len(rows), WINDOWS):
            inputs, targets = zip(*rows[i : i + WINDOWS], strict=True)
            yield torch.stack(inputs), torch.stack(targets)


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks."""
    sides = ({"context_length": length, "steps": STEPS} for length in CONTEXT_LENGTHS)
    return sweeps.lacking_of_all(record, sides, BEGIN)


if __name__ == "__main__":
    sys.exit(many.main("short_contexts", wanted, train_one))
