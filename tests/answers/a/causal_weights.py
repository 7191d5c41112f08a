"""Answers to causal_weights by hand a."""

import math

import numpy as np
import torch


def right_row_by_row(scores):
    """right: a loop over the rows, softmax over the first t + 1 scores only, zeros after them."""
    T = scores.shape[-1]
    out = torch.zeros_like(scores)
    for t in range(T):
        out[..., t, : t + 1] = torch.softmax(scores[..., t, : t + 1], dim=-1)
    return out


def right_fill_a_clone(scores):
    """right: on a clone, the future gets the smallest finite number of the dtype, then softmax."""
    T = scores.shape[-1]
    s = scores.clone()
    future = torch.ones(T, T, dtype=torch.bool, device=s.device).triu(1)
    s.masked_fill_(future, torch.finfo(s.dtype).min)
    return torch.softmax(s, dim=-1)


def right_numpy_double(scores):
    """right: NumPy in float64, -inf by where, largest allowed score of the row taken away, cast back."""
    T = scores.shape[-1]
    s = scores.detach().double().numpy()
    s = np.where(np.tri(T, dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return torch.from_numpy(e / e.sum(axis=-1, keepdims=True)).to(scores.dtype)


def wrong_zeroed_after_softmax(scores):
    """wrong: softmax over whole rows first, then the future set to 0, not normalised again, so rows don't sum to 1 and depend on the future."""
    weights = torch.softmax(scores, dim=-1)
    for t in range(scores.shape[-1]):
        weights[..., t, t + 1 :] = 0
    return weights


def wrong_mask_transposed(scores):
    """wrong: transposed mask, the keys BEFORE the query get -inf, each word attends to itself and the future."""
    T = scores.shape[-1]
    past = torch.tril(torch.ones(T, T), diagonal=-1).bool()
    return torch.softmax(scores.masked_fill(past, float("-inf")), dim=-1)


def wrong_zero_scores(scores):
    """wrong: the scores of the future are set to 0 and not to -inf before softmax, so the future still gets weight."""
    return torch.softmax(torch.tril(scores), dim=-1)


def wrong_one_word_ahead(scores):
    """wrong: off by one, the mask begins two places after the query, so each word also sees the next one."""
    T = scores.shape[-1]
    masked = scores.clone()
    for t in range(T):
        masked[..., t, t + 2 :] = -math.inf
    return torch.softmax(masked, dim=-1)


def wrong_renormalised(scores):
    """wrong: softmax over whole rows, future set to 0, divided by the rest's sum; when the future's scores are far larger the rest has rounded to 0 and this is 0 / 0 = nan."""
    T = scores.shape[-1]
    w = torch.softmax(scores, dim=-1) * torch.tril(torch.ones(T, T, dtype=scores.dtype))
    return w / w.sum(dim=-1, keepdim=True)


def wrong_minus_thousand(scores):
    """wrong: fills the future with -1000 in place of -inf; rows whose own scores are about as low or lower give weight to the future."""
    T = scores.shape[-1]
    mask = torch.tril(torch.ones(T, T))
    return torch.softmax(scores.masked_fill(mask == 0, -1e3), dim=-1)


def wrong_zero_scores_are_masked(scores):
    """wrong: masks wherever tril(scores) == 0, so an allowed score that is exactly 0 is masked too."""
    low = torch.tril(scores)
    low = low.masked_fill(low == 0, float("-inf"))
    return torch.softmax(low, dim=-1)


def wrong_rows_counted_through(scores):
    """wrong: flattens all leading axes into rows and counts the rows through, so only the first (T, T) table is masked, the later ones of a batch not."""
    T = scores.shape[-1]
    rows = scores.reshape(-1, T).clone()
    for i in range(rows.shape[0]):
        rows[i, i + 1 :] = float("-inf")
    return torch.softmax(rows, dim=-1).reshape(scores.shape)


def wrong_scaled_again_and_columns(scores):
    """wrong: two mistakes, divides the scores by sqrt(T) although they are scaled already, and takes softmax over the queries (dim -2)."""
    T = scores.shape[-1]
    allowed = torch.tril(torch.ones(T, T)).bool()
    s = (scores / math.sqrt(T)).masked_fill(~allowed, float("-inf"))
    return torch.softmax(s, dim=-2)


ANSWERS = [
    right_row_by_row,
    right_fill_a_clone,
    right_numpy_double,
    wrong_zeroed_after_softmax,
    wrong_mask_transposed,
    wrong_zero_scores,
    wrong_one_word_ahead,
    wrong_renormalised,
    wrong_minus_thousand,
    wrong_zero_scores_are_masked,
    wrong_rows_counted_through,
    wrong_scaled_again_and_columns,
]
