"""Answers to attention_with_dropout by hand b."""

import math

import torch


def _future(scores):
    """True above the diagonal, (T, T)."""
    T = scores.shape[-1]
    return torch.ones(T, T, dtype=torch.bool, device=scores.device).triu(1)


def _scores(queries, keys):
    """Scaled scores, with -inf for the future."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    return scores.masked_fill(_future(scores), -torch.inf)


def right_step_by_step(queries, keys, values, keep, p):
    """right: scale, mask with -inf, softmax, keep mask, divide by 1 - p, context."""
    d = keys.shape[-1]
    scores = torch.matmul(queries, keys.transpose(-1, -2)) / d**0.5
    T = scores.shape[-1]
    allowed = torch.tril(torch.ones(T, T, dtype=torch.bool, device=scores.device))
    scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(~keep, 0.0) / (1 - p)
    return weights @ values, weights


def right_einsum_in_float64(queries, keys, values, keep, p):
    """right: everything in float64 with einsum and an own softmax over the allowed scores; cast back at the end."""
    q, k, v = queries.double(), keys.double(), values.double()
    s = torch.einsum("...td,...sd->...ts", q, k) / math.sqrt(q.shape[-1])
    s = torch.where(_future(s), torch.full_like(s, -math.inf), s)
    e = (s - s.amax(dim=-1, keepdim=True)).exp()
    w = e / e.sum(dim=-1, keepdim=True)
    w = w * keep.double() / (1.0 - p)
    context = torch.einsum("...ts,...sv->...tv", w, v)
    return context.to(values.dtype), w.to(queries.dtype)


def right_row_by_row(queries, keys, values, keep, p):
    """right: no mask at all: row t is a softmax over its first t + 1 keys only, the rest stays 0."""
    T, D = queries.shape[-2:]
    weights = queries.new_zeros(*queries.shape[:-1], T)
    for t in range(T):
        now = queries[..., t : t + 1, :]
        past = keys[..., : t + 1, :]
        row = (now * past).sum(dim=-1) / math.sqrt(D)
        weights[..., t, : t + 1] = torch.softmax(row, dim=-1)
    weights = torch.where(keep, weights / (1 - p), torch.zeros_like(weights))
    return weights @ values, weights


def wrong_drops_scores(queries, keys, values, keep, p):
    """wrong: drops before softmax: scores where keep is False get -inf, so the kept weights share the whole row (then over 1 - p)."""
    scores = _scores(queries, keys).masked_fill(~keep, -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0) / (1 - p)
    return weights @ values, weights


def wrong_not_scaled_up(queries, keys, values, keep, p):
    """wrong: forgets to divide the kept weights by 1 - p."""
    weights = torch.softmax(_scores(queries, keys), -1) * keep
    return weights @ values, weights


def wrong_keep_inverted(queries, keys, values, keep, p):
    """wrong: the keep mask is inverted: weights where keep is True are dropped, the others stay."""
    weights = torch.softmax(_scores(queries, keys), dim=-1)
    weights = weights.masked_fill(keep, 0.0) / (1 - p)
    return weights @ values, weights


def wrong_context_before_dropout(queries, keys, values, keep, p):
    """wrong: the context is computed from the weights before dropout; the weights returned are right."""
    weights = torch.softmax(_scores(queries, keys), dim=-1)
    context = weights @ values
    weights = weights * keep / (1 - p)
    return context, weights


def wrong_root_of_value_width(queries, keys, values, keep, p):
    """wrong: divides the scores by the root of D_v, the values' width, not of D: right only where the two are equal."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(values.shape[-1])
    scores = scores.masked_fill(_future(scores), -torch.inf)
    weights = torch.softmax(scores, dim=-1) * keep / (1 - p)
    return weights @ values, weights


def wrong_sums_to_one_again(queries, keys, values, keep, p):
    """wrong: after dropping, divides each row by its sum (rows sum to 1 again), not by 1 - p."""
    weights = torch.softmax(_scores(queries, keys), dim=-1) * keep
    total = weights.sum(dim=-1, keepdim=True)
    weights = weights / torch.where(total == 0, torch.ones_like(total), total)
    return weights @ values, weights


def wrong_empty_rows_spared(queries, keys, values, keep, p):
    """wrong: a row of which nothing would stay (all its visible weights are dropped) isn't dropped at all, to avoid an empty row."""
    weights = torch.softmax(_scores(queries, keys), dim=-1)
    visible = keep & ~_future(weights)
    empty = ~visible.any(dim=-1, keepdim=True)
    weights = torch.where(keep | empty, weights / (1 - p), torch.zeros_like(weights))
    return weights @ values, weights


def wrong_fraction_of_keep(queries, keys, values, keep, p):
    """wrong: divides by the share of True in the keep mask, not by 1 - p."""
    weights = torch.softmax(_scores(queries, keys), dim=-1)
    share = keep.to(weights.dtype).mean().clamp(min=1e-6)
    weights = weights * keep / share
    return weights @ values, weights


def wrong_late_mask_and_order(queries, keys, values, keep, p):
    """wrong: two mistakes: the causal mask sets weights to 0 after softmax (rows aren't normalised over the past only), and the results are in the order weights, context."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    weights = torch.softmax(scores, dim=-1).tril()
    weights = weights * keep / (1 - p)
    return weights, weights @ values


ANSWERS = [
    right_step_by_step,
    right_einsum_in_float64,
    right_row_by_row,
    wrong_drops_scores,
    wrong_not_scaled_up,
    wrong_keep_inverted,
    wrong_context_before_dropout,
    wrong_root_of_value_width,
    wrong_sums_to_one_again,
    wrong_empty_rows_spared,
    wrong_fraction_of_keep,
    wrong_late_mask_and_order,
]
