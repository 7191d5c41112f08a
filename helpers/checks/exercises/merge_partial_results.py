"""Exercise of chapter 14: one attention from two that saw half of the keys each."""

import math

import torch

from helpers.checks.cases import Case
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.merged_halves import merge
from helpers.checks.exercises.support.merging_mistakes import (
    WHAT_COUNTS_HOW_MUCH,
    WHICH_LOG,
)
from helpers.checks.exercises.support.merging_overflows import WHAT_OVERFLOWS


def _halves():
    generator = torch.Generator().manual_seed(14)

    def draw(*shape):
        return torch.randn(shape, generator=generator).round(decimals=1)

    def case(name, T, D, logs_a, logs_b):
        contexts = {"context_a": draw(T, D), "context_b": draw(T, D)}
        logs = {"log_a": torch.tensor(logs_a), "log_b": torch.tensor(logs_b)}
        a, b = (
            {part: (contexts | logs)[part] for part in (f"context_{one}", f"log_{one}")}
            for one in "ab"
        )
        return Case(name, a | b)

    def far(one):
        for context in ("context_a", "context_b"):
            one.arguments[context] += 5
        return one

    nothing = case(
        "one half has seen no key", 3, 2, [0.5, -math.inf, 1.0], [1.0, 2.0, -math.inf]
    )
    nothing.arguments["context_a"][1] = 0
    nothing.arguments["context_b"][2] = 0
    return [
        case("one query", 1, 2, [1.0], [2.0]),
        case("equal halves", 2, 3, [0.7, -0.2], [0.7, -0.2]),
        case("three queries", 3, 2, [0.5, 3.0, -1.0], [1.5, 0.2, 0.4]),
        case("as many features as queries", 2, 2, [2.0, 0.1], [0.3, 1.4]),
        case("logs below 0", 3, 4, [-2.0, -0.5, -3.0], [-1.0, -0.7, -2.5]),
        nothing,
        # Logs of 1000 have four decimals in float32. A right share that is computed
        # from one has no more, which is little beside contexts far from 0.
        far(case("logs around 1000", 2, 2, [1000.0, 999.0], [1001.0, 998.0])),
        far(case("logs around -1000", 2, 2, [-1000.0, -999.0], [-1001.0, -999.5])),
        far(case("one query far above the other", 2, 2, [0.5, 600.0], [1.5, 599.0])),
        case("logs far apart", 2, 3, [-500.0, 250.0], [400.0, -200.0]),
    ]


EXERCISE = Exercise(
    name="merge_partial_results",
    stub="my_merge_partial_results(context_a, log_a, context_b, log_b)",
    asks=(
        "a function of what two halves of the keys gave: contexts (T, D), each the "
        "average over its own keys, and logs (T,), each the logarithm of its own sum "
        "of e to the power of a score. It returns the context (T, D) and the log (T,) "
        "over all keys."
    ),
    returns={"context": "(T, D)", "log": "(T,)"},
    reference=merge,
    cases=_halves,
    mistakes=(*WHAT_COUNTS_HOW_MUCH, *WHAT_OVERFLOWS, *WHICH_LOG),
)
