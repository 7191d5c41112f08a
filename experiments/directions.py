"""How much of a gradient along its singular directions the next batch bears out.

At some steps of a training, gradients of other batches are taken with the weights held
still. Each matrix's gradient is taken apart into its singular directions, and the next
batch's is measured along these, in parts of the singular values: what is noise comes
out as 0 on average, and what all batches share as 1. The same for means of ten batches.
"""

import copy
import statistics
import sys
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from experiments import many, running
from experiments.sweeps import SEEDS
from helpers.models.language_model import TransformerLM
from helpers.recorded.story_model import EARLY, LAST, RECIPE
from helpers.recorded.sweeps import has
from helpers.text import corpus
from helpers.text.batches import Documents
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import preset
from helpers.training.loop import train

RATE = 0.004  # of the recipe
LOOKS = (0, EARLY, 400, LAST)  # steps after which gradients are taken
# The directions that are put together, the strongest first, counted from 0. The 64th is
# left out: LayerNorm leaves hardly anything of it to the layers that read its output.
GROUPS = ((0, 5), (5, 20), (20, 40), (40, 63))
BATCHES = 20  # of 16 stories
# Others to be compared with the recipe, after the first steps alone.
OTHERS = (
    {"optimizer": "adamw", "rate": RATE / 4},
    {"optimizer": "adamw", "rate": RATE * 4},
    {"optimizer": "muon", "rate": RATE},
)
Gradients = dict[str, Tensor]  # by a matrix's name


def train_one(settings: many.Settings) -> many.Run:
    """Train the story model's recipe, and look at its gradients on the way.

    Args:
        settings: a dict of "optimizer", "rate", "seed" and "steps". The recipe's
            schedule is followed to its end where these are ``LAST``, and in any case
            through the warm-up.

    Returns:
        run: a dict of the "looks", from a step to what ``look`` returns there.
    """
    world = corpus.load("little-world")
    tokenizer = CharTokenizer(world.alphabet)
    steps = settings["steps"]
    model_config, train_config = preset(
        RECIPE,
        tokenizer.vocab_size,
        # The warm-up ends before the last step; its rates don't depend on what follows.
        steps=max(steps, EARLY + 1),
        optimizer=settings["optimizer"],
        learning_rate=settings["rate"],
        seed=settings["seed"],
    )
    data, held_out = running.stories(world, tokenizer, model_config.context_length)
    looks = {}

    def see(step: int, trained: nn.Module) -> None:
        if step in LOOKS and step <= steps:
            looks[str(step)] = look(trained, held_out)

    torch.manual_seed(settings["seed"])
    model = TransformerLM(model_config)
    train(model, data, train_config, device="cpu", progress=False, after_step=see)
    return {"looks": looks}


def look(model: nn.Module, stories: Documents) -> dict[str, Any]:
    """Take gradients of twenty batches, and measure each second along the one before.

    Args:
        model: a ``TransformerLM``, which is left as it is.
        stories: at least 320.

    Returns:
        found: a dict of the mean "loss" of the batches; and, each by matrix, of what
            the first five directions have of the sum of squares ("five"), and of what
            is kept along each of the ``GROUPS`` of directions, the mean over ten pairs
            of batches ("one") and of the mean of ten batches by that of ten others
            ("ten").
    """
    exact = copy.deepcopy(model).double()
    batches = [batch for batch, _ in zip(stories.all(16), range(BATCHES), strict=False)]
    losses, gradients = zip(
        *(gradients_of(exact, *one) for one in batches), strict=True
    )
    ones = list(zip(gradients[::2], gradients[1::2], strict=True))
    half = BATCHES // 2
    tens = [(mean_of(gradients[:half]), mean_of(gradients[half:]))]
    names = gradients[0]
    five = {name: [share_of_five(one[name]) for one in gradients] for name in names}
    return {
        "loss": running.rounded(statistics.fmean(losses)),
        "five": {name: round(statistics.fmean(five[name]), 3) for name in names},
        "one": {name: kept_of_pairs(ones, name) for name in names},
        "ten": {name: kept_of_pairs(tens, name) for name in names},
    }


def gradients_of(
    model: nn.Module, inputs: Tensor, targets: Tensor
) -> tuple[float, Gradients]:
    """The loss of a batch, and the gradients of all matrices in the blocks."""
    model.zero_grad()
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    return loss.item(), {
        name: weight.grad
        for name, weight in model.get_submodule("blocks").named_parameters()
        if weight.ndim == 2 and weight.grad is not None
    }


def mean_of(gradients: tuple[Gradients, ...]) -> Gradients:
    """The mean of several batches' gradients."""
    return {
        name: torch.stack([one[name] for one in gradients]).mean(dim=0)
        for name in gradients[0]
    }


def share_of_five(gradient: Tensor) -> float:
    """What the five strongest directions have of the sum of all squares."""
    squares = torch.linalg.svdvals(gradient).square()
    return float(squares[:5].sum() / squares.sum())


def kept(one: Tensor, other: Tensor) -> Tensor:
    """What a gradient keeps of the singular directions of another.

    Args:
        one: (M, N), at least 63 singular directions.
        other: (M, N).

    Returns:
        parts: for each of the ``GROUPS``, how far ``other`` goes along the directions
            of ``one``, over their singular values.
    """
    left, strong, right = torch.linalg.svd(one, full_matrices=False)
    far = (left.T @ other @ right.T).diagonal()
    return torch.stack([far[a:z].sum() / strong[a:z].sum() for a, z in GROUPS])


def kept_of_pairs(pairs: list[tuple[Gradients, Gradients]], name: str) -> list[float]:
    """The mean of ``kept`` over pairs, for one matrix."""
    found = torch.stack([kept(one[name], other[name]) for one, other in pairs])
    return [round(part, 3) for part in found.mean(dim=0).tolist()]


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks."""
    sides = [{"optimizer": "adamw", "rate": RATE, "steps": LAST}]
    sides += [other | {"steps": EARLY} for other in OTHERS]
    every = [side | {"seed": seed} for side in sides for seed in SEEDS]
    return [one for one in every if not any(has(run, one) for run in record["runs"])]


if __name__ == "__main__":
    sys.exit(many.main("directions", wanted, train_one))
