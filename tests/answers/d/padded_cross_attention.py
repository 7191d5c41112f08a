"""Answers to padded_cross_attention by hand d."""

import math

import numpy as np
import torch


def _scores(queries, keys):
    return torch.einsum("btd,bsd->bts", queries, keys) / math.sqrt(queries.shape[-1])


def _real(keys, lengths):
    """(B, 1, S), True at real rows."""
    return (torch.arange(keys.shape[1], device=keys.device) < lengths[:, None])[:, None]


def right_einsum(queries, keys, values, lengths):
    """right: -inf at the filler's scores, softmax over the keys, filler values set to 0 before the sum."""
    real = _real(keys, lengths)
    w = _scores(queries, keys).masked_fill(~real, -math.inf).softmax(-1)
    return torch.einsum("bts,bsv->btv", w, values.masked_fill(~real.mT, 0.0)), w


def right_cut_each_memory(queries, keys, values, lengths):
    """right: a loop over the memories, each cut to its real rows; the weights of the filler stay at the zeros they start with."""
    B, T, D = queries.shape
    w = queries.new_zeros(B, T, keys.shape[1])
    c = queries.new_zeros(B, T, values.shape[2])
    for b, n in enumerate(lengths.tolist()):
        row = (queries[b] @ keys[b, :n].T / D ** 0.5).softmax(-1)
        w[b, :, :n], c[b] = row, row @ values[b, :n]
    return c, w


def right_numpy_double(queries, keys, values, lengths):
    """right: NumPy in float64, softmax by hand with the maximum over the real rows alone, filler values replaced by 0, cast back."""
    q, k, v = (a.detach().double().numpy() for a in (queries, keys, values))
    real = np.arange(k.shape[1])[None, None] < np.asarray(lengths.tolist()).reshape(-1, 1, 1)
    s = np.where(real, np.einsum("btd,bsd->bts", q, k) / np.sqrt(q.shape[-1]), -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    c = w @ np.where(real.swapaxes(1, 2), v, 0.0)
    return torch.from_numpy(c).to(queries.dtype), torch.from_numpy(w).to(queries.dtype)


def scores_times_mask(queries, keys, values, lengths):
    """wrong: multiplies the scores by the mask, the filler gets a score of 0 in place of -inf, and so some weight."""
    w = (_scores(queries, keys) * _real(keys, lengths)).softmax(-1)
    return w @ values, w


def mask_after(queries, keys, values, lengths):
    """wrong: softmax over all S keys, the filler's weights set to 0 after it and the rows not normalised again."""
    w = _scores(queries, keys).softmax(-1) * _real(keys, lengths)
    return w @ values, w


def one_row_of_filler(queries, keys, values, lengths):
    """wrong: position <= length, the first row of filler counts as real; right for a memory that fills all S rows."""
    real = torch.arange(keys.shape[1])[None, None] <= lengths[:, None, None]
    w = _scores(queries, keys).masked_fill(~real, -math.inf).softmax(-1)
    return w @ values, w


def first_length_for_all(queries, keys, values, lengths):
    """wrong: uses lengths[0] for every memory of the batch; right where all the lengths are the same."""
    w = _scores(queries, keys).masked_fill(torch.arange(keys.shape[1]) >= lengths[0], -math.inf).softmax(-1)
    return w @ values, w


def minus_a_billion(queries, keys, values, lengths):
    """wrong: adds -1e9 to the filler's scores in place of setting them to -inf; a filler key that is large enough to score above 1e9 still wins."""
    w = (_scores(queries, keys) - 1e9 * (~_real(keys, lengths))).softmax(-1)
    return w @ values, w


def minus_a_thousand(queries, keys, values, lengths):
    """wrong: sets the filler's scores to -1000 in place of -inf; where the real scores are about -1000 or lower, the filler gets the weight."""
    w = torch.where(_real(keys, lengths), _scores(queries, keys), -1000.0).softmax(-1)
    return w @ values, w


def renormalised(queries, keys, values, lengths):
    """wrong: softmax over all S keys, then mask and division by the row's sum; where filler scores much higher than the real keys, these have underflowed and the row is 0 / 0 = nan."""
    w = _scores(queries, keys).softmax(-1) * _real(keys, lengths)
    w = w / w.sum(-1, keepdim=True)
    return w @ values, w


def filler_is_zero(queries, keys, values, lengths):
    """wrong: doesn't use lengths, takes as filler the rows whose key is all zeros; filler with other numbers is attended to."""
    real = keys.ne(0).any(-1)[:, None]
    w = _scores(queries, keys).masked_fill(~real, -math.inf).softmax(-1)
    return w @ values, w


def last_rows_unscaled(queries, keys, values, lengths):
    """wrong: two mistakes, the last lengths[b] rows count as real in place of the first, and the scores are not divided by sqrt(D)."""
    S = keys.shape[1]
    real = (torch.arange(S) >= S - lengths[:, None])[:, None]
    w = torch.einsum("btd,bsd->bts", queries, keys).masked_fill(~real, -math.inf).softmax(-1)
    return w @ values, w


ANSWERS = [
    right_einsum, right_cut_each_memory, right_numpy_double,
    scores_times_mask, mask_after, one_row_of_filler, first_length_for_all,
    minus_a_billion, minus_a_thousand, renormalised, filler_is_zero,
    last_rows_unscaled,
]
