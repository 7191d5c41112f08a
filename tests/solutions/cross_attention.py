"""Cross-attention."""

import math

import torch
import torch.nn.functional as F


def cross_by_matrices(x, context, W_query, W_key, W_value):
    queries = x @ W_query
    keys = context @ W_key
    values = context @ W_value
    scores = queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def cross_by_einsum(x, context, W_query, W_key, W_value):
    queries = torch.einsum("btq,qd->btd", x, W_query / math.sqrt(W_query.shape[1]))
    keys = torch.einsum("bsc,cd->bsd", context, W_key)
    weights = torch.einsum("btd,bsd->bts", queries, keys).softmax(-1)
    attended = torch.einsum("bts,bsc,cv->btv", weights, context, W_value)
    return [attended, weights]


def cross_by_loops(x, context, W_query, W_key, W_value):
    B, T, _ = x.shape
    S, D = context.shape[1], W_key.shape[1]
    weights = torch.zeros(B, T, S)
    attended = torch.zeros(B, T, W_value.shape[1])
    for b in range(B):
        for t in range(T):
            query = x[b, t] @ W_query
            scores = [query @ (context[b, s] @ W_key) / D**0.5 for s in range(S)]
            weights[b, t] = torch.stack(scores).softmax(dim=0)
            for s in range(S):
                attended[b, t] += weights[b, t, s] * (context[b, s] @ W_value)
    return attended, weights


def cross_by_pytorch(x, context, W_query, W_key, W_value):
    queries, keys = x @ W_query, context @ W_key
    attended = F.scaled_dot_product_attention(queries, keys, context @ W_value)
    weights = (queries @ keys.mT / math.sqrt(keys.size(-1))).softmax(-1)
    return attended, weights


def cross_in_double(x, context, W_query, W_key, W_value):
    scores = (x.double() @ W_query.double()) @ (context.double() @ W_key.double()).mT
    weights = (scores / W_key.shape[-1] ** 0.5).softmax(-1)
    return weights @ context.double() @ W_value.double(), weights


def from_parts(queries, keys, values, divisor=None, dim=-1):
    scores = queries @ keys.mT / (divisor or keys.shape[-1] ** 0.5)
    weights = F.softmax(scores, dim=dim)
    return weights @ values, weights


def cross_with_keys_of_x(x, context, W_query, W_key, W_value):
    return from_parts(x @ W_query, x @ W_key, context @ W_value)


def cross_with_values_of_x(x, context, W_query, W_key, W_value):
    return from_parts(x @ W_query, context @ W_key, x @ W_value)


def cross_within_x(x, context, W_query, W_key, W_value):
    return from_parts(x @ W_query, x @ W_key, x @ W_value)


def cross_within_the_context(x, context, W_query, W_key, W_value):
    return from_parts(context @ W_query, context @ W_key, context @ W_value)


def cross_with_exchanged_roles(x, context, W_query, W_key, W_value):
    return from_parts(context @ W_query, x @ W_key, x @ W_value)


def cross_with_columns_of_one(x, context, W_query, W_key, W_value):
    return from_parts(x @ W_query, context @ W_key, context @ W_value, dim=1)


def cross_unscaled(x, context, W_query, W_key, W_value):
    weights = ((x @ W_query) @ (context @ W_key).transpose(-1, -2)).softmax(-1)
    return weights @ (context @ W_value), weights


def cross_scaled_by_d(x, context, W_query, W_key, W_value):
    D = W_query.shape[1]
    return from_parts(x @ W_query, context @ W_key, context @ W_value, D)


def cross_scaled_by_askers(x, context, W_query, W_key, W_value):
    root = math.sqrt(W_query.shape[0])
    return from_parts(x @ W_query, context @ W_key, context @ W_value, root)


def cross_scaled_by_answers(x, context, W_query, W_key, W_value):
    root = context.size(2) ** 0.5
    return from_parts(x @ W_query, context @ W_key, context @ W_value, root)


def cross_with_a_causal_mask(x, context, W_query, W_key, W_value):
    keys = context @ W_key
    scores = x @ W_query @ keys.mT / math.sqrt(keys.shape[-1])
    future = torch.ones_like(scores).triu(1).bool()
    weights = scores.masked_fill(future, -torch.inf).softmax(-1)
    return weights @ (context @ W_value), weights


def cross_without_values(x, context, W_query, W_key, W_value):
    return from_parts(x @ W_query, context @ W_key, context)


def cross_with_results_exchanged(x, context, W_query, W_key, W_value):
    attended, weights = cross_by_matrices(x, context, W_query, W_key, W_value)
    return weights, attended


RIGHT = [
    cross_by_matrices,
    cross_by_einsum,
    cross_by_loops,
    cross_by_pytorch,
    cross_in_double,
]
WRONG = [
    (cross_with_keys_of_x, "keys made from x"),
    (cross_with_values_of_x, "values made from x"),
    (cross_within_x, "self-attention of x"),
    (cross_within_the_context, "self-attention of the context"),
    (
        cross_with_exchanged_roles,
        "x and the context with their roles exchanged",
    ),
    (cross_with_columns_of_one, "softmax over the queries"),
    (cross_unscaled, "attention without scaling"),
    (cross_scaled_by_d, "scores divided by D instead of its square root"),
    (
        cross_scaled_by_askers,
        "scores divided by the square root of d_query",
    ),
    (
        cross_scaled_by_answers,
        "scores divided by the square root of d_context",
    ),
    (cross_with_a_causal_mask, "cross-attention with a causal mask"),
    (cross_without_values, "context rows averaged without W_value"),
    (cross_with_results_exchanged, None),
]
