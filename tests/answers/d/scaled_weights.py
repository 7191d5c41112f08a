"""Answers to scaled_weights by hand d."""

import math

import torch
import torch.nn.functional as F


def right_einsum(queries, keys):
    """right: einsum over D, divided by sqrt(D), softmax over the keys."""
    return torch.einsum("...td,...sd->...ts", queries, keys).div(queries.shape[-1] ** 0.5).softmax(-1)


def right_attention_over_the_identity(queries, keys):
    """right: PyTorch's own attention with the identity matrix as the values, so that its context is the weights themselves."""
    S = keys.shape[-2]
    eye = torch.eye(S, dtype=keys.dtype, device=keys.device).expand(*keys.shape[:-2], S, S)
    return F.scaled_dot_product_attention(queries, keys, eye.contiguous())


def right_broadcast_in_double(queries, keys):
    """right: products by broadcasting (..., T, S, D) in float64, both sides scaled by D ** -1/4, exp(s - logsumexp(s)), cast back."""
    c = queries.shape[-1] ** -0.25
    s = (c * queries.double()[..., :, None, :] * (c * keys.double()[..., None, :, :])).sum(-1)
    return (s - s.logsumexp(-1, keepdim=True)).exp().to(queries.dtype)


def by_the_width(queries, keys):
    """wrong: divides by D, not by its root."""
    return (queries @ keys.mT / keys.shape[-1]).softmax(-1)


def raw(queries, keys):
    """wrong: the scores are not scaled at all."""
    return torch.softmax(torch.einsum("...td,...sd->...ts", queries, keys), dim=-1)


def over_the_queries(queries, keys):
    """wrong: softmax over the queries (dim -2), the columns sum to 1 in place of the rows."""
    return torch.softmax(queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1)), dim=-2)


def root_of_S(queries, keys):
    """wrong: divides by the root of the number of keys S (shape[-2]) in place of D; right where S = D."""
    return (queries @ keys.mT / keys.shape[-2] ** 0.5).softmax(-1)


def size_one(queries, keys):
    """wrong: takes the width from queries.size(1), which is D only without a batch; with one axis in front it is T, with two an axis of the batch."""
    return (queries @ keys.mT / math.sqrt(queries.size(1))).softmax(-1)


def exp_over_sum(queries, keys):
    """wrong: exp(scores) / sum without subtracting the maximum, which overflows to inf / inf = nan for scores in the thousands (or 0 / 0 where all are very negative)."""
    e = torch.exp(queries @ keys.mT * queries.shape[-1] ** -0.5)
    return e / e.sum(-1, keepdim=True)


def clipped(queries, keys):
    """wrong: clips the scaled scores to -60..60 against overflow, so that larger ones become equal and share the weight; right for small scores."""
    return torch.einsum("...td,...sd->...ts", queries, keys).mul(queries.shape[-1] ** -0.5).clip(-60, 60).softmax(-1)


def powers_of_two(queries, keys):
    """wrong: softmax with base 2 (exp2 without the factor log2(e)), so the weights are too even; right only where the scores of a row are equal or very far apart."""
    s = queries @ keys.mT / math.sqrt(keys.shape[-1])
    e = torch.exp2(s - s.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def reshaped_and_scaled_after(queries, keys):
    """wrong: two mistakes, the keys are reshaped to (..., D, S) where they should be transposed, and the division by sqrt(D) comes after softmax."""
    *lead, S, D = keys.shape
    return (queries @ keys.reshape(*lead, D, S)).softmax(-1) / D ** 0.5


ANSWERS = [
    right_einsum, right_attention_over_the_identity, right_broadcast_in_double,
    by_the_width, raw, over_the_queries, root_of_S,
    size_one, exp_over_sum, clipped, powers_of_two, reshaped_and_scaled_after,
]
