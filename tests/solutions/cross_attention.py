"""Cross-attention."""

import math

import torch
import torch.nn.functional as F


def cross_by_matrices(x, memory, W_query, W_key, W_value):
    queries = x @ W_query
    keys = memory @ W_key
    values = memory @ W_value
    scores = queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def cross_by_einsum(x, memory, W_query, W_key, W_value):
    queries = torch.einsum("btq,qd->btd", x, W_query / math.sqrt(W_query.shape[1]))
    keys = torch.einsum("bsc,cd->bsd", memory, W_key)
    weights = torch.einsum("btd,bsd->bts", queries, keys).softmax(-1)
    context = torch.einsum("bts,bsc,cv->btv", weights, memory, W_value)
    return [context, weights]


def cross_by_loops(x, memory, W_query, W_key, W_value):
    B, T, _ = x.shape
    S, D = memory.shape[1], W_key.shape[1]
    weights = torch.zeros(B, T, S)
    context = torch.zeros(B, T, W_value.shape[1])
    for b in range(B):
        for t in range(T):
            query = x[b, t] @ W_query
            scores = [query @ (memory[b, s] @ W_key) / D**0.5 for s in range(S)]
            weights[b, t] = torch.stack(scores).softmax(dim=0)
            for s in range(S):
                context[b, t] += weights[b, t, s] * (memory[b, s] @ W_value)
    return context, weights


def cross_by_pytorch(x, memory, W_query, W_key, W_value):
    queries, keys = x @ W_query, memory @ W_key
    context = F.scaled_dot_product_attention(queries, keys, memory @ W_value)
    weights = (queries @ keys.mT / math.sqrt(keys.size(-1))).softmax(-1)
    return context, weights


def cross_in_double(x, memory, W_query, W_key, W_value):
    scores = (x.double() @ W_query.double()) @ (memory.double() @ W_key.double()).mT
    weights = (scores / W_key.shape[-1] ** 0.5).softmax(-1)
    return weights @ memory.double() @ W_value.double(), weights


def from_parts(queries, keys, values, divisor=None, dim=-1):
    scores = queries @ keys.mT / (divisor or keys.shape[-1] ** 0.5)
    weights = F.softmax(scores, dim=dim)
    return weights @ values, weights


def cross_within_x(x, memory, W_query, W_key, W_value):
    return from_parts(x @ W_query, x @ W_key, x @ W_value)


def cross_with_columns_of_one(x, memory, W_query, W_key, W_value):
    return from_parts(x @ W_query, memory @ W_key, memory @ W_value, dim=1)


def cross_unscaled(x, memory, W_query, W_key, W_value):
    weights = ((x @ W_query) @ (memory @ W_key).transpose(-1, -2)).softmax(-1)
    return weights @ (memory @ W_value), weights


def cross_scaled_by_d(x, memory, W_query, W_key, W_value):
    D = W_query.shape[1]
    return from_parts(x @ W_query, memory @ W_key, memory @ W_value, D)


def cross_scaled_by_queries(x, memory, W_query, W_key, W_value):
    root = math.sqrt(W_query.shape[0])
    return from_parts(x @ W_query, memory @ W_key, memory @ W_value, root)


def cross_with_a_causal_mask(x, memory, W_query, W_key, W_value):
    keys = memory @ W_key
    scores = x @ W_query @ keys.mT / math.sqrt(keys.shape[-1])
    future = torch.ones_like(scores).triu(1).bool()
    weights = scores.masked_fill(future, -torch.inf).softmax(-1)
    return weights @ (memory @ W_value), weights


def cross_with_results_exchanged(x, memory, W_query, W_key, W_value):
    context, weights = cross_by_matrices(x, memory, W_query, W_key, W_value)
    return weights, context


RIGHT = [
    cross_by_matrices,
    cross_by_einsum,
    cross_by_loops,
    cross_by_pytorch,
    cross_in_double,
]
WRONG = [
    (cross_within_x, "self-attention of x"),
    (cross_with_columns_of_one, "softmax over the queries"),
    (cross_unscaled, "attention without scaling"),
    (cross_scaled_by_d, "scores divided by D instead of its square root"),
    (
        cross_scaled_by_queries,
        "scores divided by the square root of d_query",
    ),
    (cross_with_a_causal_mask, "cross-attention with a causal mask"),
    (cross_with_results_exchanged, None),
]
