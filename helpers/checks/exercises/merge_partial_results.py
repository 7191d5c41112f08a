"""Exercise of chapter 14: one attention from two that saw half of the keys each."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


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
        case("logs around 1000", 2, 2, [1000.0, 999.0], [1001.0, 998.0]),
        case("logs around -1000", 2, 2, [-1000.0, -999.0], [-1001.0, -999.5]),
        case("one query far above the other", 2, 2, [0.5, 600.0], [1.5, 599.0]),
        case("logs far apart", 2, 3, [-500.0, 300.0], [400.0, -200.0]),
    ]


def _merge(context_a, log_a, context_b, log_b, *, share=None, together=torch.logaddexp):
    """Right where nothing is given; each option is one mistake."""
    if share is None:
        share = _right_share
    part = share(log_a, log_b)
    part_a, part_b = part if isinstance(part, tuple) else (part, 1 - part)
    context = part_a[..., None] * context_a + part_b[..., None] * context_b
    return context, together(log_a, log_b)


def _right_share(log_a, log_b):
    return torch.sigmoid(log_a - log_b)


def _with(**options):
    return lambda *inputs: _merge(*inputs, **options)


def _half(log_a, log_b):
    return torch.full_like(log_a, 0.5)


def _powers(log_a, log_b):
    return log_a.exp(), log_b.exp()


def _share_of_powers(log_a, log_b):
    a, b = _powers(log_a, log_b)
    return a / (a + b), b / (a + b)


def _log_of_powers(log_a, log_b):
    return (log_a.exp() + log_b.exp()).log()


def _softmax_over_queries(log_a, log_b):
    return log_a.softmax(dim=0), log_b.softmax(dim=0)


def _share_of_logs(log_a, log_b):
    return log_a / (log_a + log_b), log_b / (log_a + log_b)


def _winner(log_a, log_b):
    return (log_a > log_b).to(log_a.dtype)


def _one_for_all(log_a, log_b):
    largest = torch.maximum(log_a.max(), log_b.max())
    a, b = (log_a - largest).exp(), (log_b - largest).exp()
    return a / (a + b), b / (a + b)


def _log_one_for_all(log_a, log_b):
    largest = torch.maximum(log_a.max(), log_b.max())
    return largest + ((log_a - largest).exp() + (log_b - largest).exp()).log()


def _each_its_own_largest(log_a, log_b):
    largest = torch.maximum(log_a, log_b)
    return (log_a - largest).exp(), (log_b - largest).exp()


def _wrong_axis(context_a, log_a, context_b, log_b):
    part = _right_share(log_a, log_b)
    context = part * context_a + (1 - part) * context_b
    return context, torch.logaddexp(log_a, log_b)


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
    reference=_merge,
    cases=_halves,
    mistakes=(
        Mistake(
            "the mean of the two contexts",
            _with(share=_half),
            "A half with large scores must count more. How much each counts is its "
            "sum of powers, e to the power of its log, as a share of both.",
        ),
        Mistake(
            "the sum of the two contexts",
            _with(share=lambda a, b: (torch.ones_like(a), torch.ones_like(b))),
            "Each context is an average already. The two need weights that sum to 1.",
        ),
        Mistake(
            "contexts times their sums, not divided",
            _with(share=_powers, together=torch.logaddexp),
            "Times its sum of powers, each context is a weighted sum again, as it "
            "should be. At the end the two together have to be divided by both sums.",
        ),
        Mistake(
            "each context times its log",
            _with(share=lambda a, b: (a, b)),
            "A log is no weight: take e to the power of it first, and the share of "
            "both.",
        ),
        Mistake(
            "the logs as shares",
            _with(share=_share_of_logs),
            "The shares are those of the sums of powers, not of their logarithms: a "
            "log may be 0 or negative.",
        ),
        Mistake(
            "the shares exchanged",
            _with(share=lambda a, b: _right_share(b, a)),
            "The half with the larger log must get the larger share. Yours gets the "
            "smaller one.",
        ),
        Mistake(
            "the half with the larger log alone",
            _with(share=_winner),
            "The smaller half counts too, with its share; only far below the other is "
            "that nothing.",
        ),
        Mistake(
            "a softmax over the queries",
            _with(share=_softmax_over_queries),
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
            "powers that overflow",
            _with(share=_share_of_powers, together=_log_of_powers),
            "e to the power of 1000 is more than float32 holds, and to that of -1000 "
            "it is 0. Subtract the larger log of each query first.",
        ),
        Mistake(
            "powers that overflow in the shares",
            _with(share=_share_of_powers),
            "The log is right. In the shares, e to the power of 1000 is more than "
            "float32 holds: subtract the larger log first.",
        ),
        Mistake(
            "a log from powers that overflow",
            _with(together=_log_of_powers),
            "The context is right. In the log, e to the power of 1000 is more than "
            "float32 holds: take the larger log out of the sum, and add it afterwards.",
        ),
        Mistake(
            "one largest log for all queries",
            _with(share=_one_for_all, together=_log_one_for_all),
            "Where another query has a far larger log, both of this one's powers "
            "become 0, and 0 / 0 has no value. Each query needs its own largest.",
        ),
        Mistake(
            "contexts corrected, but not divided",
            _with(share=_each_its_own_largest),
            "With the larger log subtracted, one of the two factors is 1. The sum of "
            "both still has to be divided by the sum of the two factors.",
        ),
        Mistake(
            "the sum of the logs",
            _with(together=torch.add),
            "The context is right. The sums of powers are added, not their "
            "logarithms: the sum of two logs belongs to a product.",
        ),
        Mistake(
            "the larger log",
            _with(together=torch.maximum),
            "The context is right. The log must belong to both sums together, which is "
            "more than the larger one: add the log of 1 + e to the power of minus "
            "their distance.",
        ),
        Mistake(
            "the mean of the logs",
            _with(together=lambda a, b: (a + b) / 2),
            "The context is right. The log belongs to the sum of both sums of powers.",
        ),
        Mistake(
            "a sum in place of its logarithm",
            _with(
                together=lambda a, b: (
                    (a - torch.maximum(a, b)).exp() + (b - torch.maximum(a, b)).exp()
                )
            ),
            "The context is right. For the log, take the logarithm of this sum, and "
            "add the larger log, which you have subtracted.",
        ),
        Mistake(
            "a log that lacks the largest",
            _with(together=lambda a, b: torch.logaddexp(a, b) - torch.maximum(a, b)),
            "The context is right. What was subtracted before the powers has to be "
            "added to the logarithm of their sum again.",
        ),
        Mistake(
            "the first half alone",
            lambda context_a, log_a, context_b, log_b: (context_a + 0, log_a + 0),
            "The second half's keys count as well.",
        ),
    ),
)
