"""Answers to causal_mask by hand d."""

import numpy as np
import torch


def right_arange_broadcast(T):
    """right: compares the positions, query index >= key index, by broadcasting."""
    return (i := torch.arange(T))[:, None] >= i


def right_reverse_cumsum_of_eye(T):
    """right: cumulates the identity from the right end of each row, so that a row holds 1 up to its own index, then compares with 0."""
    return torch.eye(T).flip(1).cumsum(1).flip(1) > 0


def right_numpy_tri(T):
    """right: NumPy's lower triangle of booleans, handed to torch."""
    return torch.from_numpy(np.tri(T, dtype=bool))


def upper(T):
    """wrong: transposed, the upper triangle: each word may attend to itself and to those after it."""
    return torch.ones(T, T, dtype=torch.bool).triu()


def strictly_before(T):
    """wrong: the diagonal is False, a word may not attend to itself (query > key in place of >=)."""
    i = torch.arange(T)
    return i[:, None] > i[None, :]


def float_triangle(T):
    """wrong: the triangle is right but holds the floats 0. and 1., not booleans."""
    return torch.tril(torch.ones(T, T))


def true_is_masked(T):
    """wrong: inverted, True where the key is after the query (True = forbidden)."""
    return torch.ones(T, T, dtype=torch.bool).triu(1)


def tiny_positions(T):
    """wrong: the positions are kept as int8 to save memory, and wrap to negative numbers from 128 on; right for T up to 128."""
    i = torch.arange(T).to(torch.int8)
    return i[:, None] >= i


def rows_until_last(T):
    """wrong: the loop over the rows stops one early (range(T - 1)), so the last row is all False."""
    m = torch.zeros(T, T, dtype=torch.bool)
    for q in range(T - 1):
        m[q, : q + 1] = True
    return m


_BIGGEST = torch.zeros(0, 0, dtype=torch.bool)


def memoised(T):
    """wrong: keeps the biggest mask of earlier calls and cuts the LAST T rows and the FIRST T columns from it; after a call with a larger T, rows see the future (the first call, and calls with growing T, are right)."""
    global _BIGGEST
    if T > len(_BIGGEST):
        _BIGGEST = torch.ones(T, T, dtype=torch.bool).tril()
    return _BIGGEST[len(_BIGGEST) - T :, :T]


def banded(T):
    """wrong: keys 32 or more places back are False too (a window of 32); right for T up to 32."""
    d = (i := torch.arange(T))[:, None] - i
    return (d >= 0) & (d < 32)


def one_ahead_as_ints(T):
    """wrong: two mistakes, each word may also attend to the one right after it (tril with diagonal 1), and the entries are integers 0 and 1, not booleans."""
    return torch.ones(T, T, dtype=torch.long).tril(1)


ANSWERS = [
    right_arange_broadcast, right_reverse_cumsum_of_eye, right_numpy_tri,
    upper, strictly_before, float_triangle, true_is_masked,
    tiny_positions, rows_until_last, memoised, banded, one_ahead_as_ints,
]
