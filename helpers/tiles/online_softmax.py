"""Softmax and average over keys that come piece by piece.

Shapes use the book's letters: T query positions, S key positions, D width of one head.
"..." stands for any leading axes.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Partial(NamedTuple):
    """What queries have found in some of the keys.

    Attributes:
        total: (..., T, D_v), the sum of the values, each times exp(score - largest).
        denominator: (..., T, 1), the sum of exp(score - largest).
        largest: (..., T, 1), the largest score that was seen.
    """

    total: Tensor
    denominator: Tensor
    largest: Tensor

    @property
    def context(self) -> Tensor:
        """The average of the values seen so far, (..., T, D_v)."""
        return self.total / self.denominator

    @property
    def logs(self) -> Tensor:
        """The logarithm of the sum of exp(score), (..., T, 1)."""
        return self.largest + self.denominator.log()


def nothing_seen(queries: Tensor, d_v: int) -> Partial:
    """What queries (..., T, D) have found before the first key."""
    one = queries.new_zeros(*queries.shape[:-1], 1)
    # Finite, since -inf - -inf has no value; every real score is above it.
    largest = torch.full_like(one, torch.finfo(queries.dtype).min)
    return Partial(one.expand(*queries.shape[:-1], d_v), one, largest)


def see_more(seen: Partial, scores: Tensor, values: Tensor) -> Partial:
    """Add a piece of the keys to what queries have found.

    What was found is measured against the largest score so far. Where the piece has a
    larger one, everything found before shrinks by the same factor, and nothing has to
    be looked at again.

    Args:
        seen: a ``Partial``.
        scores: (..., T, S) of the piece, scaled; -inf where a query may not attend.
        values: (..., S, D_v) of the piece.

    Returns:
        seen: a new ``Partial``.

    Source: Milakov and Gimelshein 2018, algorithm 3, for the denominator; Dao et al.
    2022, algorithm 1, for the values. Built by hand in chapter 14.
    """
    largest = torch.maximum(seen.largest, scores.amax(dim=-1, keepdim=True))
    shrink = (seen.largest - largest).exp()  # (..., T, 1)
    exponentials = (scores - largest).exp()  # (..., T, S)
    return Partial(
        seen.total * shrink + exponentials @ values,
        seen.denominator * shrink + exponentials.sum(dim=-1, keepdim=True),
        largest,
    )


def merge(
    context: Tensor, logs: Tensor, other_context: Tensor, other_logs: Tensor
) -> tuple[Tensor, Tensor]:
    """What queries find in two parts of the keys together.

    Args:
        context: (..., T, D_v), the average of one part's values.
        logs: (..., T, 1), the logarithm of that part's sum of exp(score).
        other_context: (..., T, D_v), of the other part.
        other_logs: (..., T, 1)

    Returns:
        context: (..., T, D_v)
        logs: (..., T, 1)
    """
    both = torch.logaddexp(logs, other_logs)
    shares = (logs - both).exp(), (other_logs - both).exp()
    return shares[0] * context + shares[1] * other_context, both
