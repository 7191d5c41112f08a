import math

import torch

from helpers import attention


def attend_matmul(queries, keys, values):
    """right: scores by a matrix product, the chapter's softmax, and a product with the values."""
    scores = queries @ keys.T
    weights = attention.softmax(scores)
    return weights @ values, weights


def attend_einsum(q, k, v):
    """right: the same with einsum and PyTorch's softmax."""
    w = torch.einsum("td,sd->ts", q, k).softmax(dim=1)
    ctx = torch.einsum("ts,sv->tv", w, v)
    return (ctx, w)


def attend_scaled(queries, keys, values):
    """wrong: divides the scores by the root of D, which this task doesn't want; shows always, unless D = 1."""
    d_k = keys.shape[-1]
    attn_scores = queries @ keys.transpose(-2, -1) / math.sqrt(d_k)
    attn_weights = torch.softmax(attn_scores, dim=-1)
    return attn_weights @ values, attn_weights


def attend_swapped(queries, keys, values):
    """wrong: returns weights and context in the wrong order."""
    weights = attention.softmax(queries @ keys.T)
    context = weights @ values
    return weights, context


def attend_over_queries(queries, keys, values):
    """wrong: has the scores the other way round (S, T) and applies softmax to their rows, so weights sum to 1 over queries, not keys."""
    scores = torch.matmul(keys, queries.T)
    weights = attention.softmax(scores).T
    context = torch.matmul(weights, values)
    return context, weights


def attend_reshaped(queries, keys, values):
    """wrong: computes keys times queries and reshapes (S, T) to (T, S) where it should transpose, so scores land in wrong places."""
    T, S = len(queries), len(keys)
    scores = (keys @ queries.T).reshape(T, S)
    weights = torch.softmax(scores, dim=1)
    return weights @ values, weights


def attend_mean(queries, keys, values):
    """wrong: takes the mean of the weighted values instead of their sum, so the context is too small by the factor S."""
    weights = attention.softmax(queries @ keys.T)
    weighted = weights[:, :, None] * values[None, :, :]   # (T, S, D_v)
    context = weighted.mean(dim=1)
    return context, weights


def attend_gives_scores(queries, keys, values):
    """wrong: the context is right, but returns the scores in place of the weights."""
    attention_weights = queries.matmul(keys.t())
    context = attention.softmax(attention_weights, dim=-1).matmul(values)
    return context, attention_weights


ANSWERS = [
    attend_matmul,
    attend_einsum,
    attend_scaled,
    attend_swapped,
    attend_over_queries,
    attend_reshaped,
    attend_mean,
    attend_gives_scores,
]
