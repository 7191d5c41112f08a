"""Answers to attention_with_dropout by hand d."""

import math

import torch
import torch.nn.functional as F


def _causal_softmax(queries, keys, width):
    """Causal weights with the scores divided by the root of ``width``."""
    s = torch.einsum("...td,...sd->...ts", queries, keys) / math.sqrt(width)
    i = torch.arange(s.shape[-1], device=s.device)
    return s.masked_fill(i[:, None] < i, -math.inf).softmax(-1)


def right_einsum(queries, keys, values, keep, p):
    """right: scale, causal mask, softmax, times keep / (1 - p), einsum with the values."""
    w = _causal_softmax(queries, keys, queries.shape[-1]) * keep / (1 - p)
    return torch.einsum("...ts,...sv->...tv", w, values), w


def right_attention_over_the_identity(queries, keys, values, keep, p):
    """right: PyTorch's causal attention with the identity as values gives the weights; where keep is False they become 0, the others are divided by 1 - p."""
    T = queries.shape[-2]
    eye = torch.eye(T, dtype=queries.dtype, device=queries.device).expand(*queries.shape[:-2], T, T).contiguous()
    w = F.scaled_dot_product_attention(queries, keys, eye, is_causal=True)
    w = torch.where(keep, w / (1 - p), 0.0)
    return w @ values, w


def right_prefixes(queries, keys, values, keep, p):
    """right: a loop over the queries, each with only the keys up to itself, so that no mask is needed; keep and 1 / (1 - p) after softmax."""
    T, D = queries.shape[-2:]
    w = queries.new_zeros(*queries.shape[:-1], T)
    for t in range(T):
        s = (keys[..., : t + 1, :] * queries[..., t : t + 1, :]).sum(-1) * D ** -0.5
        w[..., t, : t + 1] = s.softmax(-1) * keep[..., t, : t + 1] / (1 - p)
    return w @ values, w


def forgot_the_scale(queries, keys, values, keep, p):
    """wrong: the weights that stay are not divided by 1 - p."""
    w = _causal_softmax(queries, keys, queries.shape[-1]) * keep
    return w @ values, w


def dropped_before_softmax(queries, keys, values, keep, p):
    """wrong: dropout at the wrong place, scores where keep is False become -inf together with the future, before softmax, so the rows are normalised over those kept (nan where none is), then divided by 1 - p."""
    s = queries @ keys.mT / math.sqrt(queries.shape[-1])
    w = s.masked_fill(~keep.tril(), -math.inf).softmax(-1) / (1 - p)
    return w @ values, w


def context_from_all_weights(queries, keys, values, keep, p):
    """wrong: the context is made with the weights before dropout; the returned weights, after dropout, are right."""
    w = _causal_softmax(queries, keys, queries.shape[-1])
    return w @ values, w * keep / (1 - p)


def causal_after_softmax(queries, keys, values, keep, p):
    """wrong: the future is set to 0 only after softmax over all keys, and the rows are not normalised again."""
    w = (queries @ keys.transpose(-1, -2) / queries.shape[-1] ** 0.5).softmax(-1)
    w = w.tril() * keep / (1 - p)
    return w @ values, w


def root_of_value_width(queries, keys, values, keep, p):
    """wrong: the scores are divided by sqrt(D_v), the width of the values, in place of sqrt(D); right where both widths are the same."""
    w = _causal_softmax(queries, keys, values.shape[-1]) * keep / (1 - p)
    return w @ values, w


def first_keep_for_all(queries, keys, values, keep, p):
    """wrong: all of the batch get the keep mask of its first element; right without axes in front, or with a batch of 1."""
    T = keep.shape[-1]
    w = _causal_softmax(queries, keys, queries.shape[-1]) * keep.reshape(-1, T, T)[0] / (1 - p)
    return w @ values, w


def never_drops_itself(queries, keys, values, keep, p):
    """wrong: the diagonal is always kept, a word's weight on itself stays even where keep is False there."""
    keep = keep | torch.eye(keep.shape[-1], dtype=torch.bool, device=keep.device)
    w = _causal_softmax(queries, keys, queries.shape[-1]) * keep / (1 - p)
    return torch.einsum("...ts,...sv->...tv", w, values), w


def measured_rate(queries, keys, values, keep, p):
    """wrong: divides by the share of True in keep, not by 1 - p; right where keep happens to have exactly that share."""
    w = _causal_softmax(queries, keys, queries.shape[-1]) * keep / keep.to(queries.dtype).mean()
    return w @ values, w


def inverted_and_over_p(queries, keys, values, keep, p):
    """wrong: two mistakes, weights where keep is True are dropped and the others stay (mask inverted), and the divisor is p, not 1 - p."""
    w = _causal_softmax(queries, keys, queries.shape[-1]).masked_fill(keep, 0.0) / p
    return w @ values, w


ANSWERS = [
    right_einsum, right_attention_over_the_identity, right_prefixes,
    forgot_the_scale, dropped_before_softmax, context_from_all_weights,
    causal_after_softmax, root_of_value_width, first_keep_for_all,
    never_drops_itself, measured_rate, inverted_and_over_p,
]
