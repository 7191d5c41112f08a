"""Exercise of chapter 10: the gradient of a large batch from those of its parts."""

import torch

from helpers.checks.cases import Case
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.mistakes_with_parts import (
    HOW_THEY_ADD_UP,
    WHAT_THEY_WEIGH,
)
from helpers.checks.exercises.support.sums_of_parts import itself, weighted


def _parts():
    generator = torch.Generator().manual_seed(4)

    def case(name, gradients, counts):
        tensors = [torch.as_tensor(one, dtype=torch.float32) for one in gradients]
        return Case(name, {"gradients": tensors, "counts": counts})

    # PyTorch's gradient of a part without a character is 0, so it is so here.
    return [
        case("a part of one character, another of three", [[4.0], [0.0]], [1, 3]),
        case("two equal parts", [[1.0, 2.0], [3.0, 6.0]], [2, 2]),
        case("a single part", [[1.0, -2.0]], [5]),
        case("three parts", [[6.0], [3.0], [1.0]], [1, 2, 3]),
        case("a part that is all padding", [[0.0, 0.0], [1.0, 3.0]], [0, 4]),
        case("matrices", torch.randn(4, 2, 3, generator=generator), [90, 70, 80, 16]),
    ]


EXERCISE = Exercise(
    name="mean_gradient",
    stub="my_mean_gradient(gradients, counts)",
    asks=(
        "a function of a list of gradients of one parameter, each that of the mean "
        "loss over a part of the batch, and of the list of how many characters each "
        "part predicts; it returns the gradient of the mean loss over the whole batch, "
        "a new tensor of the same shape."
    ),
    returns={"gradient": "a tensor of the parameter's shape"},
    reference=weighted(itself, sum),
    cases=_parts,
    mistakes=(*HOW_THEY_ADD_UP, *WHAT_THEY_WEIGH),
    fresh=True,
)
