"""Exercise of chapter 14: one attention from two that saw half of the keys each."""

import math

import torch
import torch.nn.functional as F

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def right_share(log_a, log_b):
    return torch.sigmoid(log_a - log_b)


def merge(
    context_a, log_a, context_b, log_b, *, share=right_share, together=torch.logaddexp
):
    """Right where nothing is given; each option is one mistake."""
    part = share(log_a, log_b)
    part_a, part_b = part if isinstance(part, tuple) else (part, 1 - part)
    context = part_a[..., None] * context_a + part_b[..., None] * context_b
    return context, together(log_a, log_b)


def merged_with(**options):
    return lambda *inputs: merge(*inputs, **options)


def _half(log_a, log_b):
    return torch.full_like(log_a, 0.5)


def _softmax_over_queries(log_a, log_b):
    return log_a.softmax(dim=0), log_b.softmax(dim=0)


def _first_of_logs(log_a, log_b):
    return log_a / (log_a + log_b)


def _share_of_logs(log_a, log_b):
    return _first_of_logs(log_a, log_b), _first_of_logs(log_b, log_a)


def _winner(log_a, log_b):
    return (log_a > log_b).to(log_a.dtype)


def _winner_or_first(log_a, log_b):
    return (log_a >= log_b).to(log_a.dtype)


def _share_by_2(log_a, log_b):
    return (1 + torch.exp2(log_b - log_a)).reciprocal()


def _each_its_own_largest(log_a, log_b):
    largest = torch.maximum(log_a, log_b)
    return (log_a - largest).exp(), (log_b - largest).exp()


def _wrong_axis(context_a, log_a, context_b, log_b):
    part = right_share(log_a, log_b)
    context = part * context_a + (1 - part) * context_b
    return context, torch.logaddexp(log_a, log_b)


_SHARE_OF_POWERS = (
    "The shares are those of the sums of exponentials, not of their logarithms: a log "
    "may be 0 or negative."
)
_SMALLER_COUNTS = (
    "The smaller half counts too, with its share; only far below the other is that "
    "nothing."
)
_BASE = (
    "The logs are natural ones, to the base e: so take exponentials, with exp, and the "
    "natural log, and not exp2 and log2."
)
WHAT_COUNTS_HOW_MUCH = (
    Mistake(
        "the mean of the two contexts",
        merged_with(share=_half),
        "A half with large scores must count more. How much each counts is its sum of "
        "exponentials, which is e to the power of its log, as a share of both.",
    ),
    Mistake(
        "the sum of the two contexts",
        merged_with(share=lambda a, b: (torch.ones_like(a), torch.ones_like(b))),
        "Each context is an average already. The two need weights that sum to 1.",
    ),
    *several(
        "the logs as shares",
        [
            merged_with(share=_share_of_logs),
            merged_with(share=_first_of_logs),
            merged_with(share=lambda a, b: 1 - _first_of_logs(b, a)),
        ],
        _SHARE_OF_POWERS,
    ),
    Mistake(
        "the shares exchanged",
        merged_with(share=lambda a, b: right_share(b, a)),
        "The half with the larger log must get the larger share. Yours gets the "
        "smaller one.",
    ),
    *several(
        "the larger half's context and log",
        [
            merged_with(share=_winner, together=torch.maximum),
            merged_with(share=_winner_or_first, together=torch.maximum),
        ],
        f"{_SMALLER_COUNTS} Nor is the larger log that of both sums together.",
    ),
    Mistake(
        "a softmax over the queries",
        merged_with(share=_softmax_over_queries),
        "The two logs of one query compete with each other, and not with those of "
        "other queries. Stack the two, and take softmax over the new axis.",
    ),
    Mistake(
        "shares along the features",
        _wrong_axis,
        "Each query has a share, (T,), and (T,) times (T, D) puts it beside the "
        "features. Give it an axis: share[:, None].",
    ),
    Mistake(
        "contexts corrected, but not divided",
        merged_with(share=_each_its_own_largest),
        "With the larger log subtracted, one of the two factors is 1. The sum of both "
        "still has to be divided by the sum of the two factors.",
    ),
    Mistake(
        "powers of 2",
        merged_with(share=_share_by_2, together=torch.logaddexp2),
        _BASE,
    ),
)

WHICH_LOG = (
    Mistake(
        "the sum of the logs",
        merged_with(together=torch.add),
        "The context is right. The sums of exponentials are added, not their "
        "logarithms: the sum of two logs belongs to a product.",
    ),
    Mistake(
        "the larger log",
        merged_with(together=torch.maximum),
        "The context is right. The log must belong to both sums together, which is "
        "more than the larger one: add the log of 1 + e to the power of minus their "
        "distance.",
    ),
    Mistake(
        "the log of the mean of both sums",
        merged_with(together=lambda a, b: torch.logaddexp(a, b) - math.log(2)),
        "The context is right. The log belongs to the sum of both sums of "
        "exponentials: a mean is half of it, and its log too small by log 2.",
    ),
    Mistake(
        "a log that lacks the largest",
        merged_with(together=lambda a, b: torch.logaddexp(a, b) - torch.maximum(a, b)),
        "The context is right. What was subtracted before the exponentials has to be "
        "added to the logarithm of their sum again.",
    ),
)


def _of_changed(change):
    """The right way with logs that were changed before."""
    return lambda context_a, log_a, context_b, log_b: merge(
        context_a, change(log_a), context_b, change(log_b)
    )


def _left_out_for_all(context_a, log_a, context_b, log_b):
    if log_a.isneginf().any():
        return context_b + 0, log_b + 0
    if log_b.isneginf().any():
        return context_a + 0, log_a + 0
    return merge(context_a, log_a, context_b, log_b)


def _share_of_powers(log_a, log_b):
    a, b = log_a.exp(), log_b.exp()
    return a / (a + b), b / (a + b)


def _log_of_powers(log_a, log_b):
    return (log_a.exp() + log_b.exp()).log()


def _one_for_all(log_a, log_b):
    largest = torch.maximum(log_a.max(), log_b.max())
    a, b = (log_a - largest).exp(), (log_b - largest).exp()
    return a / (a + b), b / (a + b)


def _log_one_for_all(log_a, log_b):
    largest = torch.maximum(log_a.max(), log_b.max())
    return largest + ((log_a - largest).exp() + (log_b - largest).exp()).log()


def _shares_from_first(log_a, log_b):
    ratio = (log_b - log_a).exp()
    return 1 / (1 + ratio), ratio / (1 + ratio)


def _shares_from_second(log_a, log_b):
    return _shares_from_first(log_b, log_a)[::-1]


def _log_from_first(log_a, log_b):
    return log_a + torch.log1p((log_b - log_a).exp())


def _log_from_second(log_a, log_b):
    return _log_from_first(log_b, log_a)


def _softly_from_first(log_a, log_b):
    return log_a + F.softplus(log_b - log_a)


def _softly_from_second(log_a, log_b):
    return _softly_from_first(log_b, log_a)


_CLAMPED = (
    "A clamped log stands for another sum of exponentials, so that shares and log "
    "come out wrong. Subtract the larger log of each query before you take "
    "exponentials, and nothing overflows."
)
_FROM_ONE_HALF = (
    "What is subtracted before the exponentials may be the smaller log. Where the "
    "other is far larger, or this one is minus infinity, e to the power of the "
    "difference is infinite. Subtract the larger of the two."
)

WHAT_OVERFLOWS = (
    Mistake(
        "exponentials that overflow",
        merged_with(share=_share_of_powers, together=_log_of_powers),
        "e to the power of 1000 is more than float32 holds, and to that of -1000 it is "
        "0. Subtract the larger log of each query first.",
    ),
    Mistake(
        "a log from exponentials that overflow",
        merged_with(together=_log_of_powers),
        "The context is right. In the log, e to the power of 1000 is more than float32 "
        "holds: take the larger log out of the sum, and add it afterwards.",
    ),
    Mistake(
        "one largest log for all queries",
        merged_with(share=_one_for_all, together=_log_one_for_all),
        "Where another query has a far larger log, both of this one's exponentials "
        "become 0, and 0 / 0 has no value. Each query needs its own largest.",
    ),
    *several(
        "logs that are clamped",
        [
            _of_changed(lambda log: log.clamp(-80, 80)),
            _of_changed(lambda log: log.clamp(-88, 88)),
            _of_changed(lambda log: log.clamp(-50, 50)),
        ],
        _CLAMPED,
    ),
    Mistake(
        "logs of minus infinity that are set to 0",
        _of_changed(lambda log: log.nan_to_num(neginf=0.0)),
        "e to the power of 0 is 1, so a half that has seen no key counts as one whose "
        "sum is 1. Left as it is, minus infinity gives an exponential of 0, and a "
        "share of 0.",
    ),
    Mistake(
        "a half left out for all queries where one has seen none of its keys",
        _left_out_for_all,
        "Other queries have seen keys of that half. Nothing needs to be left out: "
        "minus infinity gives a share of 0, and to its own query alone.",
    ),
    *several(
        "exponentials relative to the same half for all queries",
        [
            merged_with(share=_shares_from_first, together=_log_from_first),
            merged_with(share=_shares_from_second, together=_log_from_second),
        ],
        _FROM_ONE_HALF,
    ),
    *several(
        "shares relative to the same half for all queries",
        [merged_with(share=_shares_from_first), merged_with(share=_shares_from_second)],
        f"The log is right. {_FROM_ONE_HALF}",
    ),
    *several(
        "a log that starts from the same half for all queries",
        [
            merged_with(together=_log_from_first),
            merged_with(together=_log_from_second),
            merged_with(together=_softly_from_first),
            merged_with(together=_softly_from_second),
        ],
        "The context is right. The half that you start from may have seen no key: "
        "then infinity is added to minus infinity, which gives nan. Start from the "
        "larger of the two logs.",
    ),
)


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
