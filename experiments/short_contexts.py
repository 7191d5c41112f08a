"""Little-world's loss, as the model may read less than a story at once.

The stories are one long text, and the windows to train on begin anywhere in it. The
same model is then measured in two ways: on windows that follow each other, pieces that
know nothing of what stands before them; and through a window that slides along the
text, so that each character is predicted from as many as the model can read. What the
second way loses is what lies too far back; what the first loses beyond that, the cuts
do.
"""

import sys
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments import many, running, sweeps
from helpers.models.language_model import TransformerLM
from helpers.text import corpus
from helpers.text.batches import Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training.loop import evaluate, train

CONTEXT_LENGTHS = (8, 16, 32, 64)
BEGIN = (0.004, 0.008, 0.016)
STEPS = 1_200
CHARACTERS = 1_024  # in a batch
STORIES = {"validation": 150, "test": 150}
AT_ONCE = 2_048  # windows


def train_one(settings: many.Settings, **stories: int) -> many.Run:
    """Train two blocks on windows, and measure in both ways.

    Args:
        settings: a dict of "context_length", "rate", "seed" and "steps". Each batch
            holds as many characters.
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
        batch_size=CHARACTERS // length,
        learning_rate=settings["rate"],
        seed=settings["seed"],
    )
    texts = (world.train, world.held_out, other.held_out)
    ids = [torch.tensor(tokenizer.encode("".join(text))) for text in texts]
    data, test, validation = (Windows(one, length) for one in ids)
    torch.manual_seed(settings["seed"])
    model = TransformerLM(configs[0])
    train(model, data, configs[1], device="cpu", progress=False)
    return {
        "validation": running.rounded(evaluate(model, validation)),
        "pieces": running.rounded(evaluate(model, test)),
        "sliding": running.rounded(sliding_loss(model, ids[1])),
    }


def sliding_loss(model: TransformerLM, ids: Tensor) -> float:
    """The loss where each character is predicted from as many as the model can read.

    Args:
        model: a TransformerLM of context length T, in eval mode.
        ids: (N,), a text of more than T characters.

    Returns:
        loss: nats per character, the mean over all but the first T.
    """
    windows = ids.unfold(0, model.context_length + 1, 1)
    nats = 0.0
    for some in windows.split(AT_ONCE):
        with torch.no_grad():
            logits = model(some[:, :-1])[:, -1]
        nats += F.cross_entropy(logits, some[:, -1], reduction="sum").item()
    return nats / len(windows)


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks."""
    sides = ({"context_length": length, "steps": STEPS} for length in CONTEXT_LENGTHS)
    return sweeps.lacking_of_all(record, sides, BEGIN)


if __name__ == "__main__":
    sys.exit(many.main("short_contexts", wanted, train_one))
