"""Mistakes in merging two halves of an attention that large logs bring to light."""

import torch
import torch.nn.functional as F

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.merged_halves import merge, merged_with
from helpers.checks.exercises.support.several_ways import several


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
    "A clamped log stands for another sum of powers, so that shares and log come out "
    "wrong. Subtract the larger log of each query before you take powers, and nothing "
    "overflows."
)
_FROM_ONE_HALF = (
    "What is subtracted before the powers may be the smaller log. Where the other is "
    "far larger, or this one is minus infinity, e to the power of the difference is "
    "infinite. Subtract the larger of the two."
)

WHAT_OVERFLOWS = (
    Mistake(
        "powers that overflow",
        merged_with(share=_share_of_powers, together=_log_of_powers),
        "e to the power of 1000 is more than float32 holds, and to that of -1000 it is "
        "0. Subtract the larger log of each query first.",
    ),
    Mistake(
        "a log from powers that overflow",
        merged_with(together=_log_of_powers),
        "The context is right. In the log, e to the power of 1000 is more than float32 "
        "holds: take the larger log out of the sum, and add it afterwards.",
    ),
    Mistake(
        "one largest log for all queries",
        merged_with(share=_one_for_all, together=_log_one_for_all),
        "Where another query has a far larger log, both of this one's powers become 0, "
        "and 0 / 0 has no value. Each query needs its own largest.",
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
        "sum is 1. Left as it is, minus infinity gives a power of 0, and a share of 0.",
    ),
    Mistake(
        "a half left out for all queries where one has seen none of its keys",
        _left_out_for_all,
        "Other queries have seen keys of that half. Nothing needs to be left out: "
        "minus infinity gives a share of 0, and to its own query alone.",
    ),
    *several(
        "powers relative to the same half for all queries",
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
