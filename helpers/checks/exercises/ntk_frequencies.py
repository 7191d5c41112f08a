"""Exercise of the page "Reading on": how fast pairs turn after NTK-aware scaling."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.models.context_extension import extended_frequencies


def _sizes():
    sizes = {
        "two pairs, four times as long": (4, 4.0),
        "two pairs, no longer": (4, 1.0),
        "three pairs, twice as long": (6, 2.0),
        "four pairs, three times as long": (8, 3.0),
        "eight pairs, four times as long": (16, 4.0),
    }
    return [
        Case(name, {"head_dim": D, "factor": factor})
        for name, (D, factor) in sizes.items()
    ]


def _with_base(change):
    """The speeds of another base, from the width and the factor."""

    def speeds(head_dim, factor):
        pairs = torch.arange(head_dim // 2)
        return float(change(head_dim, factor)) ** (-2 * pairs / head_dim)

    return speeds


def _interpolated(head_dim, factor):
    return extended_frequencies(head_dim, "interpolation", factor=factor)


def _features(head_dim, factor):
    base = 10_000 * factor ** (head_dim / (head_dim - 2))
    return base ** (-torch.arange(head_dim) / head_dim)


def _right(head_dim, factor):
    return extended_frequencies(head_dim, "ntk", factor=factor)


EXERCISE = Exercise(
    name="ntk_frequencies",
    stub="my_ntk_frequencies(head_dim, factor)",
    asks=(
        "a function of a head's width and of how much longer the text is that returns "
        "how fast each pair turns, with the base 10000 times "
        "factor^(D / (D - 2))."
    ),
    returns={"speeds": "(D / 2,)"},
    reference=_right,
    cases=_sizes,
    constants=(10_000,),
    mistakes=(
        Mistake(
            "every pair slower by the factor",
            _interpolated,
            "That is position interpolation: it slows the first pair, too. Here the "
            "base grows, and the first pair, whose exponent is 0, stays as it was.",
        ),
        Mistake(
            "the base as it was",
            _with_base(lambda D, factor: 10_000),
            "Your speeds are those of training. Multiply the base by "
            "factor^(D / (D - 2)) first.",
        ),
        Mistake(
            "the base times the factor",
            _with_base(lambda D, factor: 10_000 * factor),
            "With 10000 times the factor, the last pair is slower by less than the "
            "factor, since its exponent is -(D - 2) / D. The factor needs the power "
            "D / (D - 2), which undoes that.",
        ),
        Mistake(
            "the exponent upside down",
            _with_base(lambda D, factor: 10_000 * factor ** ((D - 2) / D)),
            "The factor's exponent is D / (D - 2), above 1; yours is (D - 2) / D.",
        ),
        Mistake(
            "the base divided in place of multiplied",
            _with_base(lambda D, factor: 10_000 / factor ** (D / (D - 2))),
            "A smaller base makes the pairs faster. They must be slower: multiply.",
        ),
        Mistake(
            "the base multiplied before the power",
            _with_base(lambda D, factor: (10_000 * factor) ** (D / (D - 2))),
            "Only the factor has the exponent D / (D - 2), not 10000.",
        ),
        Mistake(
            "a speed for each feature in place of each pair",
            _features,
            "A pair of features shares one speed: there are D / 2, with the exponents "
            "-2n / D.",
        ),
        Mistake(
            "places a turn in place of speeds",
            lambda head_dim, factor: 2 * torch.pi / _right(head_dim, factor),
            "Those are the lengths of a turn, in places. A speed is 2π divided by "
            "that.",
        ),
        Mistake(
            "pairs that speed up",
            lambda head_dim, factor: 1 / _right(head_dim, factor),
            "The sign of the exponent is wrong: the later pairs must be slower.",
        ),
    ),
)
