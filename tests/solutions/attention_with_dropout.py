"""Attention with a given mask of kept weights."""

import math

import torch
import torch.nn.functional as F


def causal_weights(queries, keys):
    T, D = queries.shape[-2:]
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(D)
    future = torch.ones(T, T).triu(diagonal=1).bool()
    return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)


def attend_in_matrices(queries, keys, values, keep, p):
    weights = causal_weights(queries, keys) * keep / (1 - p)
    return weights @ values, weights


def attend_by_loops(queries, keys, values, keep, p):
    *leading, T, D = queries.shape
    weights = torch.zeros(*leading, T, T)
    for t in range(T):
        row = (keys[..., : t + 1, :] * queries[..., t : t + 1, :]).sum(-1) / D**0.5
        row = torch.exp(row - row.amax(-1, keepdim=True))
        weights[..., t, : t + 1] = row / row.sum(-1, keepdim=True)
    weights[~keep] = 0.0
    weights = weights / (1 - p)
    context = sum(weights[..., :, s, None] * values[..., None, s, :] for s in range(T))
    return [context, weights]


def attend_by_einsum(queries, keys, values, keep, p):
    queries, keys, values = queries.double(), keys.double(), values.double()
    scores = torch.einsum("...td,...sd->...ts", queries, keys) / keys.shape[-1] ** 0.5
    places = torch.arange(scores.shape[-1])
    scores = torch.where(places[:, None] >= places, scores, -torch.inf)
    weights = torch.where(keep, scores.softmax(-1) / (1 - p), 0.0)
    return torch.einsum("...ts,...sv->...tv", weights, values), weights


def attend_by_pytorch(queries, keys, values, keep, p):
    T = queries.shape[-2]
    eye = torch.eye(T).expand(*queries.shape[:-2], T, T)
    weights = F.scaled_dot_product_attention(queries, keys, eye, is_causal=True)
    weights = weights.masked_fill(keep.logical_not(), 0) * (1 / (1 - p))
    return weights @ values, weights


def attend_unscaled(queries, keys, values, keep, p):
    weights = causal_weights(queries, keys).masked_fill(~keep, 0)
    return weights @ values, weights


def attend_with_dropped_scores(queries, keys, values, keep, p):
    T, D = queries.shape[-2:]
    scores = queries @ keys.mT / D**0.5
    scores = scores * keep / (1 - p)
    scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -torch.inf)
    weights = scores.softmax(-1)
    return weights @ values, weights


def attend_inverted(queries, keys, values, keep, p):
    weights = causal_weights(queries, keys).masked_fill(keep, 0) / (1 - p)
    return weights @ values, weights


def attend_averaging_first(queries, keys, values, keep, p):
    weights = causal_weights(queries, keys)
    context = weights @ values
    weights = weights * keep / (1 - p)
    return context, weights


def attend_returning_first(queries, keys, values, keep, p):
    weights = causal_weights(queries, keys)
    dropped = weights.masked_fill(~keep, 0.0) / (1 - p)
    return dropped @ values, weights


def attend_over_p(queries, keys, values, keep, p):
    weights = causal_weights(queries, keys) * keep / p
    return weights @ values, weights


def attend_scaling_the_context_alone(queries, keys, values, keep, p):
    weights = causal_weights(queries, keys) * keep
    return weights @ values / (1 - p), weights


RIGHT = [
    attend_in_matrices,
    attend_by_loops,
    attend_by_einsum,
    attend_by_pytorch,
]
WRONG = [
    (
        attend_unscaled,
        "attention that doesn't divide the kept weights by 1 - p",
    ),
    (
        attend_with_dropped_scores,
        "attention that drops scores before the causal mask and softmax",
    ),
    (attend_inverted, "attention that drops what keep should keep"),
    (
        attend_averaging_first,
        "attention that averages the values with the weights before dropout",
    ),
    (
        attend_returning_first,
        "attention that returns the weights before dropout",
    ),
    (attend_over_p, "attention that divides the kept weights by p"),
    (attend_scaling_the_context_alone, None),
]
