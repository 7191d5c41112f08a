"""Little-world's loss beyond the last position that a model was trained on.

The stories are one long text. A model is trained on windows of 64 characters that begin
anywhere in it, and measured on windows of 512, character by character: what does it
make of places that it has never seen? One side for each way to tell a model where a
character stands.
"""

import itertools
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

POSITIONS = ("none", "learned", "sinusoidal", "rotary", "alibi")
BEGIN = (0.004, 0.008, 0.016)
STEPS = 1_200
TRAINED, LONGEST = 64, 512  # characters in a window
CHARACTERS = 1_024  # in a batch
PARTS = (0, 16, 32, 48, 64, 80, 96, 128, 192, 256, 384, 512)  # of a long window
STORIES = {"validation": 150, "test": 300}
AT_ONCE = 32  # long windows


def train_one(settings: many.Settings, **stories: int) -> many.Run:
    """Train two blocks on short windows, and measure them on long ones.

    Args:
        settings: a dict of "positions", "rate", "seed" and "steps".
        stories: how many of the "validation" and of the "test" to measure on.

    Returns:
        run: a dict of the "validation" loss on short windows, and of the "losses" of
            the test's long ones, a list with the mean of each of the ``PARTS``; all in
            nats per character.
    """
    count = STORIES | stories
    world = corpus.load("little-world", held_out_stories=count["test"])
    other = corpus.load(
        "little-world", seed=1, train_stories=1, held_out_stories=count["validation"]
    )
    tokenizer = CharTokenizer(world.alphabet)
    configs = running.recipe(
        tokenizer,
        running.Size(steps=settings["steps"], stories=0, variants=0, characters=0),
        positions=settings["positions"],
        context_length=LONGEST,
        batch_size=CHARACTERS // TRAINED,
        learning_rate=settings["rate"],
        seed=settings["seed"],
    )
    texts = (world.train, world.held_out, other.held_out)
    ids = [torch.tensor(tokenizer.encode("".join(text))) for text in texts]
    data, validation = (Windows(one, TRAINED) for one in (ids[0], ids[2]))
    torch.manual_seed(settings["seed"])
    model = TransformerLM(configs[0])
    train(model, data, configs[1], device="cpu", progress=False)
    return {
        "validation": running.rounded(evaluate(model, validation)),
        "losses": [running.rounded(one) for one in losses_by_place(model, ids[1])],
    }


def losses_by_place(model: TransformerLM, ids: Tensor) -> list[float]:
    """The mean loss in each part of long windows that follow each other.

    Args:
        model: a TransformerLM in eval mode.
        ids: (N,), a text of more than LONGEST characters.

    Returns:
        losses: nats per character, one for each part between two of the ``PARTS``.
    """
    windows = ids.unfold(0, LONGEST + 1, LONGEST)
    nats = torch.zeros(LONGEST, dtype=torch.float64)
    for some in windows.split(AT_ONCE):
        with torch.no_grad():
            logits = model(some[:, :-1])
        lost = F.cross_entropy(logits.mT, some[:, 1:], reduction="none")
        nats += lost.double().sum(dim=0)
    return [
        (nats[a:b].mean() / len(windows)).item() for a, b in itertools.pairwise(PARTS)
    ]


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks."""
    sides = ({"positions": positions, "steps": STEPS} for positions in POSITIONS)
    return sweeps.lacking_of_all(record, sides, BEGIN)


if __name__ == "__main__":
    sys.exit(many.main("positions", wanted, train_one))
