"""Answers to attend by hand i."""

import math

import torch
import torch.nn.functional as F


def right_einsum_exp(queries, keys, values):
    """right: einsum scores, softmax by hand with each row's max taken off first."""
    scores = torch.einsum("td,sd->ts", queries, keys)
    powers = torch.exp(scores - scores.amax(dim=1, keepdim=True))
    weights = powers / powers.sum(dim=1, keepdim=True)
    return torch.einsum("ts,sv->tv", weights, values), weights


def right_keys_first_double(queries, keys, values):
    """right: float64 inside, scores built the other way round (S, T) with softmax over dim 0, then turned."""
    q, k, v = (x.double() for x in (queries, keys, values))
    columns = torch.softmax(k @ q.T, dim=0)
    context = (v.T @ columns).T
    return context.to(values.dtype), columns.T.contiguous().to(queries.dtype)


def right_fused_with_identity(queries, keys, values):
    """right: F.scaled_dot_product_attention with scale=1.0, the weights read off by attending over an identity matrix."""
    eye = torch.eye(keys.shape[0], dtype=queries.dtype)
    both = torch.cat([values, eye], dim=1)
    out = F.scaled_dot_product_attention(queries[None], keys[None], both[None], scale=1.0)[0]
    return out[:, : values.shape[1]], out[:, values.shape[1] :]


def wrong_scaled(queries, keys, values):
    """wrong: the scores are divided by sqrt(D), which the task says not to do."""
    scores = queries @ keys.T / math.sqrt(queries.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def wrong_returned_in_other_order(queries, keys, values):
    """wrong: returns (weights, context) instead of (context, weights)."""
    weights = torch.softmax(queries @ keys.T, dim=-1)
    context = weights @ values
    return weights, context


def wrong_averages_keys(queries, keys, values):
    """wrong: the context is the average of the keys; the values are never used (weights are right)."""
    weights = (queries @ keys.T).softmax(dim=-1)
    return weights @ keys, weights


def wrong_softmax_over_queries(queries, keys, values):
    """wrong: softmax runs over the queries (scores are built as (S, T), softmaxed over the last axis, then transposed), so each key's column sums to 1 instead of each query's row."""
    affinity = F.softmax(torch.matmul(keys, queries.T), dim=-1)
    weights = affinity.transpose(0, 1)
    return weights @ values, weights


def wrong_reshaped_keys(queries, keys, values):
    """wrong: the keys are reshaped to (D, S) instead of transposed, so their numbers get mixed up between keys."""
    S, D = keys.shape
    scores = queries @ keys.reshape(D, S)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def wrong_context_from_raw_scores(queries, keys, values):
    """wrong: the context is computed with the raw scores instead of the weights; the returned weights are right."""
    scores = queries @ keys.T
    weights = torch.softmax(scores, dim=-1)
    context = scores @ values
    return context, weights


def wrong_only_first_T_keys(queries, keys, values):
    """wrong: only the first T keys and values are attended to (the rest gets weight 0), T being the number of queries; right as long as S <= T."""
    T, S = len(queries), len(keys)
    weights = torch.softmax(queries @ keys[:T].T, dim=-1)
    context = weights @ values[:T]
    full = torch.zeros(T, S, dtype=weights.dtype)
    full[:, : weights.shape[1]] = weights
    return context, full


def wrong_value_cut_to_key_width(queries, keys, values):
    """wrong: the context has at most D columns, as the values are cut to the key's width; right if D_v <= D."""
    T, D = queries.shape
    weights = torch.softmax(torch.mm(queries, keys.t()), dim=1)
    context = torch.mm(weights, values[:, :D])
    return context, weights


def wrong_negative_distances(queries, keys, values):
    """wrong: the scores are minus the squared distances between query and key instead of dot products (long keys lose)."""
    scores = -torch.cdist(queries, keys).pow(2)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def wrong_causal_and_scaled(queries, keys, values):
    """wrong: two mistakes: a causal mask hides all keys after the query's own index (nothing asks for it), and the scores are divided by sqrt(D)."""
    scores = queries @ keys.T
    scores = scores / keys.shape[1] ** 0.5
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, float("-inf")).softmax(-1)
    return weights @ values, weights


def wrong_divided_by_sum_of_scores(queries, keys, values):
    """wrong: each row of scores is divided by its sum, without exp (no softmax), so weights may be negative."""
    scores = queries @ keys.T
    weights = scores / scores.sum(dim=-1, keepdim=True)
    return weights @ values, weights


ANSWERS = [
    right_einsum_exp,
    right_keys_first_double,
    right_fused_with_identity,
    wrong_scaled,
    wrong_returned_in_other_order,
    wrong_averages_keys,
    wrong_softmax_over_queries,
    wrong_reshaped_keys,
    wrong_context_from_raw_scores,
    wrong_only_first_T_keys,
    wrong_value_cut_to_key_width,
    wrong_negative_distances,
    wrong_causal_and_scaled,
    wrong_divided_by_sum_of_scores,
]
