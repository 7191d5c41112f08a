"""Answers to attention_with_dropout by hand i."""

import math

import torch
import torch.nn.functional as F


def _causal(queries, keys):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)


def right_where(queries, keys, values, keep, p):
    """right: torch.where with the kept weights divided by 1 - p, library softmax."""
    weights = _causal(queries, keys)
    weights = torch.where(keep, weights / (1 - p), torch.zeros_like(weights))
    return weights @ values, weights


def right_row_by_row(queries, keys, values, keep, p):
    """right: float64, a loop over positions that slices the past, dropout by masked_fill, weighted sums by broadcasting."""
    q, k, v = queries.double(), keys.double(), values.double()
    T, D = q.shape[-2:]
    weights = torch.zeros(keep.shape, dtype=torch.float64)
    for t in range(T):
        scores = (q[..., t : t + 1, :] * k[..., : t + 1, :]).sum(-1) / D**0.5
        weights[..., t, : t + 1] = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
    weights = weights.div(1.0 - p).masked_fill(~keep, 0.0)
    context = (weights.unsqueeze(-1) * v.unsqueeze(-3)).sum(-2)
    return context.to(values.dtype), weights.to(queries.dtype)


def right_scaled_values(queries, keys, values, keep, p):
    """right: odd: context is computed with values divided by 1 - p and unscaled kept weights; the returned weights are scaled on their own."""
    kept = _causal(queries, keys).masked_fill(keep.logical_not(), 0)
    context = torch.einsum("...ts,...sv->...tv", kept, values / (1 - p))
    return context, kept / (1 - p)


def wrong_no_rescaling(queries, keys, values, keep, p):
    """wrong: the kept weights are not divided by 1 - p."""
    weights = _causal(queries, keys)
    weights = weights * keep
    return weights @ values, weights


def wrong_renormalised(queries, keys, values, keep, p):
    """wrong: after dropout each row is divided by its own sum (so it sums to 1, p unused) instead of by 1 - p; an empty row stays 0."""
    weights = _causal(queries, keys) * keep
    total = weights.sum(dim=-1, keepdim=True)
    weights = weights / total.clamp(min=1e-12)
    return weights @ values, weights


def wrong_dropout_before_softmax(queries, keys, values, keep, p):
    """wrong: dropout is applied to the scores before mask and softmax: dropped scores become 0 and the others are divided by 1 - p, so no weight is dropped."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])
    scores = scores * keep / (1 - p)
    T = scores.shape[-1]
    scores = scores.masked_fill(torch.triu(torch.ones(T, T), 1).bool(), float("-inf"))
    weights = F.softmax(scores, dim=-1)
    return weights @ values, weights


def wrong_returns_weights_before_dropout(queries, keys, values, keep, p):
    """wrong: the context is right, but the returned weights are those before dropout."""
    weights = _causal(queries, keys)
    dropped = weights * keep / (1 - p)
    return dropped @ values, weights


def wrong_divided_by_p(queries, keys, values, keep, p):
    """wrong: the kept weights are divided by p instead of 1 - p (the same at p = 0.5; no scaling at p = 0)."""
    weights = _causal(queries, keys)
    weights = weights.masked_fill(~keep, 0.0)
    if p > 0:
        weights = weights / p
    return weights @ values, weights


def wrong_measured_rate(queries, keys, values, keep, p):
    """wrong: divides by the share of True in the whole keep mask (keep.float().mean()) instead of by 1 - p."""
    weights = _causal(queries, keys)
    rate = keep.float().mean().clamp(min=1e-6)
    weights = weights * keep / rate
    return weights @ values, weights


def wrong_diagonal_always_kept(queries, keys, values, keep, p):
    """wrong: the diagonal is kept even where keep says False, so that no row gets empty."""
    T = queries.shape[-2]
    keep = keep | torch.eye(T, dtype=torch.bool)
    weights = torch.where(keep, _causal(queries, keys) / (1 - p), 0.0)
    return weights @ values, weights


def wrong_no_causal_mask_and_no_rescaling(queries, keys, values, keep, p):
    """wrong: two mistakes: there is no causal mask (every position sees the future), and kept weights are not divided by 1 - p."""
    scores = torch.einsum("...td,...sd->...ts", queries, keys) / queries.shape[-1] ** 0.5
    weights = scores.softmax(-1) * keep.to(scores.dtype)
    return torch.einsum("...ts,...sv->...tv", weights, values), weights


def wrong_inverted_keep_unscaled_scores(queries, keys, values, keep, p):
    """wrong: two mistakes: keep is read the wrong way round (weights where keep is True are dropped), and the scores are not divided by sqrt(D)."""
    scores = queries @ keys.mT
    future = torch.ones_like(scores).triu(1) > 0
    weights = scores.masked_fill(future, -torch.inf).softmax(-1)
    weights = weights.masked_fill(keep, 0.0) / (1 - p)
    return weights @ values, weights


def wrong_causal_mask_last(queries, keys, values, keep, p):
    """wrong: softmax runs over all keys, and the causal mask is multiplied in afterwards together with dropout and 1/(1 - p), without normalising, so kept weights depend on the future."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    allowed = keep & torch.ones_like(keep).tril()
    weights = weights * allowed / (1 - p)
    return weights @ values, weights


def wrong_scaled_weights_unscaled_context(queries, keys, values, keep, p):
    """wrong: the context is computed before the weights are divided by 1 - p, so it is too small by that factor; the returned weights are right."""
    weights = _causal(queries, keys) * keep
    context = weights @ values
    weights = weights / (1 - p)
    return context, weights


ANSWERS = [
    right_where,
    right_row_by_row,
    right_scaled_values,
    wrong_no_rescaling,
    wrong_renormalised,
    wrong_dropout_before_softmax,
    wrong_returns_weights_before_dropout,
    wrong_divided_by_p,
    wrong_measured_rate,
    wrong_diagonal_always_kept,
    wrong_no_causal_mask_and_no_rescaling,
    wrong_inverted_keep_unscaled_scores,
    wrong_causal_mask_last,
    wrong_scaled_weights_unscaled_context,
]
