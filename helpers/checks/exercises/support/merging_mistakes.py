"""Mistakes in merging two halves of an attention."""

import math

import torch

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.merged_halves import merged_with, right_share
from helpers.checks.exercises.support.several_ways import several


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
    "The shares are those of the sums of powers, not of their logarithms: a log may be "
    "0 or negative."
)
_SMALLER_COUNTS = (
    "The smaller half counts too, with its share; only far below the other is that "
    "nothing."
)
_BASE = (
    "The logs are natural ones, to the base e: so take powers of e, with exp, and the "
    "natural log, and not exp2 and log2."
)
WHAT_COUNTS_HOW_MUCH = (
    Mistake(
        "the mean of the two contexts",
        merged_with(share=_half),
        "A half with large scores must count more. How much each counts is its sum of "
        "powers, e to the power of its log, as a share of both.",
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
        "The context is right. The sums of powers are added, not their logarithms: the "
        "sum of two logs belongs to a product.",
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
        "The context is right. The log belongs to the sum of both sums of powers: a "
        "mean is half of it, and its log too small by log 2.",
    ),
    Mistake(
        "a log that lacks the largest",
        merged_with(together=lambda a, b: torch.logaddexp(a, b) - torch.maximum(a, b)),
        "The context is right. What was subtracted before the powers has to be added "
        "to the logarithm of their sum again.",
    ),
)
