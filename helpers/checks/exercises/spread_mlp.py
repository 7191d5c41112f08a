"""Exercise of "Dividing a layer, and a text": an MLP shared by several processes."""

import torch
import torch.nn.functional as F

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def spread(
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
    return lambda *arguments: spread(*arguments, **options)


def _behind_the_sum(x, W1_parts, b1_parts, W2_parts, b2):
    parts = zip(W1_parts, b1_parts, W2_parts, strict=True)
    return F.gelu(sum((x @ W1 + b1) @ W2 for W1, b1, W2 in parts) + b2)


def _half_an_activation(x, W1_parts, b1_parts, W2_parts, b2):
    """x W1 without its bias goes through the activation."""
    parts = zip(W1_parts, b1_parts, W2_parts, strict=True)
    return sum((F.gelu(x @ W1) + b1) @ W2 for W1, b1, W2 in parts) + b2


def _summed_features(x, W1_parts, b1_parts, W2_parts, b2):
    """An error where parts aren't equally wide."""
    hidden = sum(F.gelu(x @ W1 + b1) for W1, b1 in zip(W1_parts, b1_parts, strict=True))
    return sum(hidden @ W2 for W2 in W2_parts) + b2


def _exchanged(x, W1_parts, b1_parts, W2_parts, b2):
    first, second = ([W.T for W in parts] for parts in (W2_parts, W1_parts))
    return spread(x, first, b1_parts, second, b2)


def _narrowest(x, W1_parts, b1_parts, W2_parts, b2):
    width = min(W1.shape[1] for W1 in W1_parts)
    firsts = [W1[:, :width] for W1 in W1_parts]
    biases = [b1[:width] for b1 in b1_parts]
    return spread(x, firsts, biases, [W2[:width] for W2 in W2_parts], b2)


def _one_after_the_other(own, behind):
    """What a process hands on, of x and its part, and what is added after the last."""

    def one(x, W1_parts, b1_parts, W2_parts, b2):
        for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts, strict=True):
            x = own(x, F.gelu(x @ W1 + b1) @ W2, b2)
        return x + behind(b2)

    return one


_WHERE_IT_STANDS = (
    "The activation stands between the two products. Each process can apply it alone, "
    "because its hidden features are complete."
)
_SIDE_BY_SIDE = (
    "All processes get the same x, and work side by side: none waits for what another "
    "has computed. Give each one x itself, and sum what they return."
)

WHAT_A_PROCESS_COMPUTES = (
    Mistake(
        "no first bias",
        _with(first=lambda b1, number: 0.0),
        "b1 is missing: each process adds its own part of it, in front of the "
        "activation.",
    ),
    Mistake(
        "a first bias that is shared out",
        _with(first=lambda b1, number: b1 / number),
        "Each process has features of its own, and their part of b1 belongs to them "
        "whole. Only what is summed over processes could be shared out.",
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
    *several(
        "an activation behind the sum",
        [
            _behind_the_sum,
            _with(
                act=lambda x: x, joined=lambda parts: F.gelu(torch.stack(parts).sum(0))
            ),
        ],
        _WHERE_IT_STANDS,
    ),
    Mistake(
        "an activation of each part's output",
        _with(act=lambda x: x, joined=lambda parts: sum(map(F.gelu, parts))),
        "The activation belongs to the hidden features, in front of the second "
        "product.",
    ),
    Mistake(
        "an activation in front of the first bias",
        _half_an_activation,
        "b1 is added first, and gelu is applied to the sum.",
    ),
    Mistake(
        "the two matrices exchanged",
        _exchanged,
        "x meets W1 first, (C, F_n), and the hidden features meet W2. F.linear wants "
        "its matrix transposed, so that W2 fits there where W1 belongs: write x @ W1.",
    ),
    Mistake(
        "parts cut to the narrowest",
        _narrowest,
        "The F_n needn't be equal, and all features count. Where parts don't fit into "
        "one tensor, a loop over the lists takes each as wide as it is.",
    ),
    *several(
        "processes that work one after the other",
        [
            _one_after_the_other(lambda x, part, b2: part, lambda b2: b2),
            _one_after_the_other(lambda x, part, b2: part + b2, lambda b2: 0.0),
        ],
        _SIDE_BY_SIDE,
    ),
    Mistake(
        "parts that are added to x itself",
        _one_after_the_other(lambda x, part, b2: x + part, lambda b2: b2),
        "The next process still needs x as it was, and the output doesn't contain it. "
        "Begin the sum with zeros, in a tensor of its own.",
    ),
)

HOW_PARTS_ARE_JOINED = (
    Mistake(
        "the last bias in every process",
        _with(last=lambda b2, number: number * b2),
        "Each process has added b2, and the sum holds it N times. Add it once, behind "
        "the sum.",
    ),
    Mistake(
        "no last bias",
        _with(last=lambda b2, number: 0.0),
        "b2 is missing. It is added once, behind the sum.",
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
        "the first process's part counted twice",
        _with(joined=lambda parts: parts[0] + sum(parts)),
        "Your sum begins with the first process's part, and then adds all of them. "
        "Begin with zeros, or go on with the second part.",
    ),
    Mistake(
        "a sum of hidden features",
        _summed_features,
        "Each process has other hidden features, and needn't have as many as the next. "
        "They meet their own rows of W2 first; only what comes of that is summed.",
    ),
    Mistake(
        "an output with x added",
        lambda x, *others: x + spread(x, *others),
        "A transformer's block adds x to what its MLP returns. The MLP itself doesn't, "
        "and it is the MLP's output that is asked for.",
    ),
    Mistake(
        "parts one above the other",
        _with(joined=lambda parts: torch.cat(parts)),
        "What each process gets is a part of the same sum. Add them.",
    ),
    *several(
        "a sum over the tokens",
        [
            _with(joined=lambda parts: torch.stack(parts).sum(dim=1)),
            _with(joined=lambda parts: torch.cat(parts).sum(dim=0)),
        ],
        "The sum goes over the processes. Each token keeps a row of its own, (T, C).",
    ),
    *several(
        "parts in a stack, not summed",
        [
            _with(joined=torch.stack),
            _with(joined=torch.stack, last=lambda b2, number: 0.0),
        ],
        "Each process's (T, C) is a part of the same sum: sum the stack over its first "
        "axis, that of the processes, and add b2 once.",
    ),
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
