"""Answers to attend by hand a."""

import math

import numpy as np
import torch


def right_einsum_double(queries, keys, values):
    """right: einsum in float64, exp(score - logsumexp), both results cast back."""
    scores = torch.einsum("td,sd->ts", queries.double(), keys.double())
    w = (scores - scores.logsumexp(dim=1, keepdim=True)).exp()
    c = torch.einsum("ts,sv->tv", w, values.double())
    return c.to(values.dtype), w.to(queries.dtype)


def right_by_columns(queries, keys, values):
    """right: the lecture's column form, scores (S, T), softmax down the columns, both results transposed at the end."""
    columns = torch.softmax(keys @ queries.T, dim=0)
    context = values.T @ columns
    return context.T, columns.T


def right_numpy(queries, keys, values):
    """right: NumPy matrix products, row maximum taken away before exp, back to torch."""
    q, k, v = (x.detach().double().numpy() for x in (queries, keys, values))
    s = q @ k.T
    e = np.exp(s - s.max(axis=1, keepdims=True))
    w = e / e.sum(axis=1, keepdims=True)
    return (
        torch.from_numpy(w @ v).to(values.dtype),
        torch.from_numpy(w).to(values.dtype),
    )


def wrong_scaled(queries, keys, values):
    """wrong: divides the scores by sqrt(D), though no scaling is asked for."""
    d_k = queries.size(-1)
    scores = queries @ keys.transpose(0, 1) / math.sqrt(d_k)
    p_attn = scores.softmax(dim=-1)
    return p_attn @ values, p_attn


def wrong_order(queries, keys, values):
    """wrong: order of the results, weights first and context second."""
    weights = torch.softmax(queries @ keys.T, dim=-1)
    context = weights @ values
    return weights, context


def wrong_softmax_over_queries(queries, keys, values):
    """wrong: softmax over axis 0 (the queries), so the columns of the weights sum to 1 and not the rows."""
    weights = torch.softmax(queries @ keys.T, dim=0)
    return weights @ values, weights


def wrong_scores_returned(queries, keys, values):
    """wrong: the context is right, but the second result is the scores before softmax, not the weights."""
    scores = queries @ keys.T
    context = torch.softmax(scores, dim=-1) @ values
    return context, scores


def wrong_reshaped_keys(queries, keys, values):
    """wrong: keys.reshape(D, S) in place of the transpose, so the products mix up different keys."""
    S, D = keys.shape
    weights = torch.softmax(queries @ keys.reshape(D, S), dim=-1)
    return weights @ values, weights


def wrong_values_cut(queries, keys, values):
    """wrong: takes only the first D components of the values, so the context is too narrow when D_v is larger than D."""
    D = queries.shape[1]
    weights = torch.softmax(queries @ keys.T, dim=-1)
    return weights @ values[:, :D], weights


def wrong_causal_when_square(queries, keys, values):
    """wrong: when there are as many keys as queries it hides the keys after each query (causal mask); right for T different from S."""
    scores = queries @ keys.T
    T, S = scores.shape
    if T == S:
        future = torch.triu(torch.ones(T, S), diagonal=1).bool()
        scores = scores.masked_fill(future, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def wrong_small_weights_dropped(queries, keys, values):
    """wrong: sets weights below 0.05 to 0 after softmax without normalising again, in both results."""
    weights = torch.softmax(queries @ keys.T, dim=-1)
    weights = torch.where(weights < 0.05, torch.zeros_like(weights), weights)
    return weights @ values, weights


def wrong_averages_keys_by_columns(queries, keys, values):
    """wrong: two mistakes, the keys are averaged and not the values (context has width D), and softmax runs over the queries (axis 0)."""
    weights = torch.softmax(queries @ keys.T, dim=0)
    return weights @ keys, weights


ANSWERS = [
    right_einsum_double,
    right_by_columns,
    right_numpy,
    wrong_scaled,
    wrong_order,
    wrong_softmax_over_queries,
    wrong_scores_returned,
    wrong_reshaped_keys,
    wrong_values_cut,
    wrong_causal_when_square,
    wrong_small_weights_dropped,
    wrong_averages_keys_by_columns,
]
