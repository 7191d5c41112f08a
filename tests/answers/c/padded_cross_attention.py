"""Answers to padded cross attention by hand c."""

import math

import torch
import torch.nn.functional as F


def _filler(keys, lengths):
    """(B, 1, S), True where the row is filler."""
    pos = torch.arange(keys.shape[1], device=keys.device)
    return (pos[None, :] >= lengths[:, None])[:, None, :]


def right_masked_fill(queries, keys, values, lengths):
    """right: filler's keys and values set to 0, its scores to -inf, softmax."""
    pad = _filler(keys, lengths)
    k, v = keys.masked_fill(pad.mT, 0.0), values.masked_fill(pad.mT, 0.0)
    s = (queries @ k.mT / math.sqrt(queries.shape[-1])).masked_fill(pad, -math.inf)
    w = s.softmax(-1)
    return w @ v, w


def right_slice_each(queries, keys, values, lengths):
    """right: a loop over the batch that slices off the filler and writes into zeros."""
    B, T, D = queries.shape
    weights = queries.new_zeros(B, T, keys.shape[1])
    context = queries.new_zeros(B, T, values.shape[-1])
    for b, n in enumerate(lengths.tolist()):
        weights[b, :, :n] = F.softmax(queries[b] @ keys[b, :n].T * D ** -0.5, dim=-1)
        context[b] = weights[b, :, :n] @ values[b, :n]
    return context, weights


def right_exp_by_hand(queries, keys, values, lengths):
    """right: float64, the maximum over the real keys alone is subtracted, exp times a mask of 0 and 1, divided by the sum, cast back."""
    real = ~_filler(keys, lengths)
    k = torch.where(real.mT, keys, torch.zeros_like(keys)).double()
    v = torch.where(real.mT, values, torch.zeros_like(values)).double()
    s = torch.einsum("btd,bsd->bts", queries.double(), k) / math.sqrt(keys.shape[-1])
    lowest = torch.finfo(s.dtype).min
    top = torch.where(real, s, torch.full_like(s, lowest)).amax(-1, keepdim=True)
    e = torch.where(real, s - top, torch.zeros_like(s)).exp() * real
    w = e / e.sum(-1, keepdim=True)
    return (w @ v).to(values.dtype), w.to(queries.dtype)


def wrong_inverted(queries, keys, values, lengths):
    """wrong: the mask is inverted: hides the real rows and attends to the filler (NaN where there is no filler)."""
    pad = _filler(keys, lengths)
    s = queries @ keys.mT / math.sqrt(queries.shape[-1])
    w = s.masked_fill(~pad, -torch.inf).softmax(-1)
    return w @ values, w


def wrong_one_too_many(queries, keys, values, lengths):
    """wrong: off by one: keeps the positions <= lengths[b], so the first row of filler is attended to."""
    S = keys.size(1)
    ok = torch.arange(S, device=keys.device)[None] <= lengths[:, None]
    s = queries @ keys.transpose(1, 2) / keys.size(-1) ** 0.5
    w = torch.where(ok[:, None], s, torch.full_like(s, -torch.inf)).softmax(-1)
    return w @ values, w


def wrong_zero_scores(queries, keys, values, lengths):
    """wrong: multiplies the filler's scores by 0 in place of setting -inf, so they still get exp(0) in the softmax."""
    real = (~_filler(keys, lengths)).to(queries.dtype)
    w = (queries @ keys.mT * queries.shape[-1] ** -0.5 * real).softmax(-1)
    return w @ values, w


def wrong_cut_after_softmax(queries, keys, values, lengths):
    """wrong: softmax over all S keys first and then sets the filler's weights to 0, without renormalising."""
    w = (queries @ keys.mT / math.sqrt(keys.shape[-1])).softmax(-1)
    w = w.masked_fill(_filler(keys, lengths), 0.0)
    return w @ values, w


def wrong_renormalised_after(queries, keys, values, lengths):
    """wrong: softmax over all S keys, filler's weights set to 0, then renormalised with a sum of at least 1e-12: real weights underflow to 0 where the filler's scores are far larger."""
    w = (queries @ keys.mT / math.sqrt(keys.shape[-1])).softmax(-1)
    w = w.masked_fill(_filler(keys, lengths), 0.0)
    w = F.normalize(w, p=1, dim=-1)  # one kernel
    return w @ values, w


def wrong_minus_thousand(queries, keys, values, lengths):
    """wrong: sets the filler's scores to -1000 in place of -inf, so it gets weight where the real scores are near or below -1000."""
    s = queries @ keys.mT / math.sqrt(keys.shape[-1])
    w = s.masked_fill(_filler(keys, lengths), -1e3).softmax(-1)
    return w @ values, w


def wrong_added_mask(queries, keys, values, lengths):
    """wrong: adds -1e9 to the filler's scores in place of replacing them: filler with huge numbers, and scores of more than 1e9, still gets weight."""
    bias = _filler(keys, lengths).to(queries.dtype) * -1e9
    w = torch.baddbmm(bias.expand(-1, queries.shape[1], -1), queries, keys.mT, alpha=queries.shape[-1] ** -0.5).softmax(-1)
    return w @ values, w


def wrong_first_length(queries, keys, values, lengths):
    """wrong: uses lengths[0] for every memory of the batch; right for the first memory only."""
    n = int(lengths[0])
    w = (queries @ keys[:, :n].mT / math.sqrt(keys.shape[-1])).softmax(-1)
    return w @ values[:, :n], F.pad(w, (0, keys.shape[1] - n))


def wrong_unscaled_and_swapped(queries, keys, values, lengths):
    """wrong: two mistakes: the scores are not scaled, and the weights are returned before the context."""
    w = (queries @ keys.mT).masked_fill(_filler(keys, lengths), -torch.inf).softmax(-1)
    return w, w @ values


ANSWERS = [
    right_masked_fill, right_slice_each, right_exp_by_hand,
    wrong_inverted, wrong_one_too_many, wrong_zero_scores,
    wrong_cut_after_softmax, wrong_renormalised_after, wrong_minus_thousand,
    wrong_added_mask, wrong_first_length, wrong_unscaled_and_swapped,
]
