"""Exercise of the page on how sharp attention begins: the divisor for other entries."""

import math

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_any_number


def _entries():
    entries = [
        *((4, 0.0, 1.0), (64, 1.0, 1.0), (64, 0.0, 0.25), (16, -2.0, 1.0)),
        *((256, 0.5, 0.25), (2, 3.0, 4.0), (1, 1.0, 0.5), (128, 10.0, 0.01)),
    ]
    return [
        Case(
            f"D = {D}, mean {mean:g}, variance {variance:g}",
            {"D": D, "mean": mean, "variance": variance},
        )
        for D, mean, variance in entries
    ]


def _right(D, mean, variance):
    return math.sqrt(D * variance * (variance + mean**2))


EXERCISE = Exercise(
    name="divisor",
    stub="my_divisor(D, mean, variance)",
    asks=(
        "a function of the width D and of the mean and the variance of the entries of "
        "queries and keys that returns what to divide the scores by, so that their "
        "variance within a row is 1 on average."
    ),
    returns={"divisor": "a number"},
    reference=_right,
    cases=_entries,
    run=call_for_any_number,
    mistakes=(
        Mistake(
            "the square root of D",
            lambda D, mean, variance: math.sqrt(D),
            "That is right for a mean of 0 and a variance of 1. Here the products "
            "have a different variance.",
        ),
        Mistake(
            "the mean left out",
            lambda D, mean, variance: variance * math.sqrt(D),
            "That is right for a mean of 0. Within a row, each entry of a key is "
            "multiplied by an entry of the query: how large is the square of that "
            "entry, on average?",
        ),
        Mistake(
            "one variance in place of two factors",
            lambda D, mean, variance: math.sqrt(D * variance),
            "A product has two factors. This is what the key's entries contribute; "
            "each is also multiplied by an entry of the query.",
        ),
        Mistake(
            "the query's mean square alone",
            lambda D, mean, variance: math.sqrt(D * (variance + mean**2)),
            "That is what the query's entries contribute. Each is also multiplied by "
            "an entry of the key, which has a variance of its own.",
        ),
        Mistake(
            "a squared mean in place of a mean square",
            lambda D, mean, variance: math.sqrt(D * mean**2 * variance),
            "For a mean of 0 it gives 0. The square of the query's entry is on average "
            "more than the square of its mean: the variance comes on top.",
        ),
        Mistake(
            "the variance of all scores, not within a row",
            lambda D, mean, variance: math.sqrt(
                D * (variance**2 + 2 * variance * mean**2)
            ),
            "That is the variance of all scores together. Within a row, the query is "
            "the same for every key, and softmax sees only that.",
        ),
        Mistake(
            "the mean square of the scores' products",
            lambda D, mean, variance: math.sqrt(D) * (variance + mean**2),
            "That also counts the mean of a row's scores, which softmax doesn't see: "
            "the key's entries count with their variance, only the query's with their "
            "mean square.",
        ),
        Mistake(
            "a variance in place of a standard deviation",
            lambda D, mean, variance: D * variance * (variance + mean**2),
            "That is the variance within a row. Dividing by a number divides the "
            "variance by its square.",
        ),
        Mistake(
            "a number to multiply by",
            lambda D, mean, variance: 1 / _right(D, mean, variance),
            "That is what to multiply by. The divisor is one over it.",
        ),
        Mistake(
            "D in place of its square root",
            lambda D, mean, variance: _right(D, mean, variance) * math.sqrt(D),
            "The variance of a sum of D independent terms is D times as large, so its "
            "standard deviation grows with the square root of D.",
        ),
    ),
)
