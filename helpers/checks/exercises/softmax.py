"""Exercise of chapter 1: softmax."""

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise

# --- softmax --------------------------------------------------------------------------


def _scores():
    generator = torch.Generator().manual_seed(1)
    tables = {
        "one score": [[5.0]],
        "two rows": [[1.0, 2.0], [3.0, 3.5]],
        "a row by itself": [2.0, 1.0, 0.0],
        "scores that sum to 0": [2.0, 1.0, -3.0],
        "scores of 0": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
        "scores in the thousands": [[3000.0, 2999.0], [3001.0, 3003.0]],
        "scores of minus thousands": [-3000.0, -3001.0],
        "scores that are thousands apart": [[0.0, 5000.0]],
        "rows that differ by thousands": [[0.0, 1.0, 2.0], [5000.0, 5001.0, 5003.0]],
    }
    cases = [
        Case(name, {"scores": torch.tensor(table)}) for name, table in tables.items()
    ]
    four_axes = torch.randn(2, 3, 5, 7, generator=generator)
    return [*cases, Case("four axes", {"scores": four_axes})]


def total_softmax(scores):
    """Weights that sum to 1 over all axes together: a mistake."""
    return scores.flatten().softmax(0).view_as(scores)


def naive_softmax(scores):
    """Softmax that overflows: a mistake."""
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


EXERCISE = Exercise(
    name="softmax",
    stub="my_softmax(scores)",
    asks=(
        "a function of scores with any number of axes that returns weights of the same "
        "shape; they sum to 1 along the last axis."
    ),
    returns={"weights": "(..., S)"},
    reference=attention.softmax,
    cases=_scores,
    mistakes=(
        Mistake(
            "powers of 2 in place of powers of e",
            lambda scores: (
                2.0 ** (scores - scores.amax(-1, keepdim=True))
                / (2.0 ** (scores - scores.amax(-1, keepdim=True))).sum(
                    -1, keepdim=True
                )
            ),
            "The rows sum to 1, but one score more makes a weight twice as large, and "
            "not e times. Use exp.",
        ),
        Mistake(
            "scores rounded to half precision",
            lambda scores: scores.half().float().softmax(-1),
            "float16 keeps three digits: scores in the thousands become multiples of "
            "2, and their differences get lost.",
        ),
        Mistake(
            "scores cut off before the exponential",
            lambda scores: scores.clamp(-80, 80).softmax(-1),
            "Above and below the limits all scores are made equal. Subtract each "
            "row's maximum: that leaves every difference as it was.",
        ),
        Mistake(
            "softmax without subtracting the maximum",
            naive_softmax,
            "exp(89) is already infinite in float32, and exp(-3000) is 0: the quotient "
            "is inf / inf or 0 / 0, both NaN. Subtract each row's maximum first.",
        ),
        Mistake(
            "softmax with one maximum for all rows",
            lambda scores: naive_softmax(scores - scores.max()),
            "A row that lies thousands below the largest score becomes exp(-5000) = 0 "
            "everywhere, and 0 / 0 is NaN. Each row needs its own maximum: max along "
            "dim=-1.",
        ),
        Mistake(
            "softmax that subtracts another number than the maximum",
            lambda scores: naive_softmax(scores - scores.mean(-1, keepdim=True)),
            "The mean, the smallest or the first score of a row may lie thousands "
            "below its largest: exp of the difference is infinite, and inf / inf is "
            "NaN. Only the maximum leaves nothing above 0.",
        ),
        Mistake(
            "softmax over the first axis",
            lambda scores: scores.softmax(0),
            "dim=0 is the last axis only where there is no other. Count from the end: "
            "dim=-1 is the last axis for any number of axes.",
        ),
        Mistake(
            "one softmax over all numbers together",
            total_softmax,
            "sum() without dim adds up all rows. Each row is divided by its own sum.",
        ),
    ),
)
