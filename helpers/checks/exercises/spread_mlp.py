"""Exercise of "Dividing a layer, and a text": an MLP shared by several processes."""

import torch

from helpers.checks.cases import Case
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.mlp_mistakes import (
    HOW_PARTS_ARE_JOINED,
    WHAT_A_PROCESS_COMPUTES,
    spread,
)

NAMES = ("x", "W1_parts", "b1_parts", "W2_parts", "b2")


def _layers():
    generator = torch.Generator().manual_seed(17)

    def drawn(*shape):
        return torch.randn(shape, generator=generator).round(decimals=1)

    sizes = {  # T, C, and how many hidden features each process has
        "one process": (2, 3, [4]),
        "two processes": (3, 2, [4, 4]),
        "a single token": (1, 3, [2, 2]),
        "parts of different widths": (2, 3, [1, 5]),
        "three processes": (4, 2, [3, 1, 2]),
        "as many processes as tokens": (2, 4, [2, 2]),
        "all sizes alike": (3, 3, [3, 3, 3]),
    }
    return [
        Case(
            name,
            {
                "x": drawn(T, C),
                "W1_parts": [drawn(C, width) for width in parts],
                "b1_parts": [drawn(width) for width in parts],
                "W2_parts": [drawn(width, C) for width in parts],
                "b2": drawn(C),
            },
        )
        for name, (T, C, parts) in sizes.items()
    ]


EXERCISE = Exercise(
    name="spread_mlp",
    stub="my_spread_mlp(x, W1_parts, b1_parts, W2_parts, b2)",
    asks=(
        "a function of x (T, C), of lists with each process's columns of W1 (C, F_n), "
        "its part of b1 (F_n,) and its rows of W2 (F_n, C), and of b2 (C,), that "
        "returns gelu(x W1 + b1) W2 + b2, (T, C), from what each process can compute "
        "without the others, and one sum over all of them."
    ),
    returns={"output": "(T, C)"},
    reference=spread,
    cases=_layers,
    mistakes=(*WHAT_A_PROCESS_COMPUTES, *HOW_PARTS_ARE_JOINED),
)
