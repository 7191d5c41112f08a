"""Exercise of chapter 15: an MLP whose hidden features several processes share."""

import torch
import torch.nn.functional as F

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise

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


def _spread(
    x,
    W1_parts,
    b1_parts,
    W2_parts,
    b2,
    *,
    act=F.gelu,
    first=lambda b1, number: b1,
    last=lambda b2, number: b2,
    joined=lambda parts: sum(parts),
):
    """Right where nothing is given; each option is one mistake."""
    number = len(W1_parts)
    parts = [
        act(x @ W1 + first(b1, number)) @ W2
        for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts, strict=True)
    ]
    return joined(parts) + last(b2, number)


def _with(**options):
    return lambda *arguments: _spread(*arguments, **options)


def _behind_the_sum(x, W1_parts, b1_parts, W2_parts, b2):
    parts = zip(W1_parts, b1_parts, W2_parts, strict=True)
    return F.gelu(sum((x @ W1 + b1) @ W2 for W1, b1, W2 in parts) + b2)


def _half_an_activation(x, W1_parts, b1_parts, W2_parts, b2):
    """x W1 without its bias goes through the activation."""
    parts = zip(W1_parts, b1_parts, W2_parts, strict=True)
    return sum((F.gelu(x @ W1) + b1) @ W2 for W1, b1, W2 in parts) + b2


def _reversed_rows(x, W1_parts, b1_parts, W2_parts, b2):
    """Where widths allow it, each meets another one's rows."""
    others = W2_parts[::-1]
    if any(a.shape != b.shape for a, b in zip(others, W2_parts, strict=True)):
        others = W2_parts
    return _spread(x, W1_parts, b1_parts, others, b2)


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
    reference=_spread,
    cases=_layers,
    mistakes=(
        Mistake(
            "the last bias in every process",
            _with(last=lambda b2, number: number * b2),
            "Each process has added b2, and the sum holds it N times. Add it once, "
            "behind the sum.",
        ),
        Mistake(
            "no last bias",
            _with(last=lambda b2, number: 0.0),
            "b2 is missing. It is added once, behind the sum.",
        ),
        Mistake(
            "no first bias",
            _with(first=lambda b1, number: 0.0),
            "b1 is missing: each process adds its own part of it, in front of the "
            "activation.",
        ),
        Mistake(
            "a first bias that is shared out",
            _with(first=lambda b1, number: b1 / number),
            "Each process has features of its own, and their part of b1 belongs to "
            "them whole. Only what is summed over processes could be shared out.",
        ),
        Mistake(
            "no activation",
            _with(act=lambda x: x),
            "gelu is missing between the two products.",
        ),
        Mistake(
            "another activation, ReLU",
            _with(act=F.relu),
            "The task says gelu: F.gelu.",
        ),
        Mistake(
            "gelu by its tanh approximation",
            _with(act=lambda x: F.gelu(x, approximate="tanh")),
            "F.gelu without options is the exact one.",
        ),
        Mistake(
            "an activation behind the sum",
            _behind_the_sum,
            "The activation stands between the two products. Each process can apply "
            "it alone, because its hidden features are complete.",
        ),
        Mistake(
            "an activation of each part's output",
            lambda x, W1, b1, W2, b2: (
                sum(F.gelu((x @ a + b) @ c) for a, b, c in zip(W1, b1, W2, strict=True))
                + b2
            ),
            "The activation belongs to the hidden features, in front of the second "
            "product.",
        ),
        Mistake(
            "an activation in front of the first bias",
            _half_an_activation,
            "b1 is added first, and gelu is applied to the sum.",
        ),
        Mistake(
            "the mean over processes",
            _with(joined=lambda parts: sum(parts) / len(parts)),
            "The parts add up to the whole: each is a sum over some of the hidden "
            "features. A mean divides by N, which nothing asks for.",
        ),
        Mistake(
            "the first process's part alone",
            _with(joined=lambda parts: parts[0]),
            "Each part is a sum over one process's hidden features. Only all parts "
            "together are the output.",
        ),
        Mistake(
            "the last process's part alone",
            _with(joined=lambda parts: parts[-1]),
            "A loop that assigns in place of adding keeps its last part alone.",
        ),
        Mistake(
            "rows of another process",
            _reversed_rows,
            "Process n's columns of W1 make the features that meet its own rows of W2.",
        ),
        Mistake(
            "parts side by side",
            _with(
                joined=lambda parts: torch.cat(parts, dim=-1),
                last=lambda b2, number: b2.repeat(number),
            ),
            "What each process gets is (T, C) already, a part of a sum. Columns stand "
            "side by side; rows of the second matrix give sums.",
        ),
        Mistake(
            "parts one above the other",
            _with(joined=lambda parts: torch.cat(parts)),
            "What each process gets is a part of the same sum. Add them.",
        ),
    ),
)
