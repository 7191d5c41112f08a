"""Attention from three matrices."""

import math

import torch
import torch.nn.functional as F

from helpers.attention import SelfAttentionV1


def attention_by_matmul(x, W_query, W_key, W_value):
    queries, keys, values = x @ W_query, x @ W_key, x @ W_value
    weights = torch.softmax(queries @ keys.T / keys.shape[-1] ** 0.5, dim=-1)
    return weights @ values, weights


def attention_by_pytorch(x, W_query, W_key, W_value):
    queries, keys, values = (x @ W for W in (W_query, W_key, W_value))
    weights = F.scaled_dot_product_attention(queries, keys, torch.eye(len(x)))
    return F.scaled_dot_product_attention(queries, keys, values), weights


def attention_by_helpers(x, W_query, W_key, W_value):
    layer = SelfAttentionV1(*W_query.shape)
    with torch.no_grad():
        layer.W_query.copy_(W_query)
        layer.W_key.copy_(W_key)
        layer.W_value.copy_(W_value)
    return layer(x, return_weights=True)


def attention_word_by_word(x, W_query, W_key, W_value):
    weights, context = [], []
    for word in x:
        scores = torch.stack([(word @ W_query) @ (other @ W_key) for other in x])
        row = F.softmax(scores / math.sqrt(W_key.shape[1]), dim=0)
        weights.append(row)
        parts = zip(row, x, strict=True)
        context.append(sum(share * (other @ W_value) for share, other in parts))
    return torch.stack(context), torch.stack(weights)


def attention_by_one_matrix(x, W_query, W_key, W_value):
    x, W_query, W_key, W_value = (t.double() for t in (x, W_query, W_key, W_value))
    scores = torch.einsum("ti,io,jo,sj->ts", x, W_query, W_key, x)
    weights = (scores / W_query.size(-1) ** 0.5).softmax(-1)
    return torch.einsum("ts,si,io->to", weights, x, W_value), weights


def attention_exchanged(x, W_query, W_key, W_value):
    keys, queries, values = x @ W_query, x @ W_key, x @ W_value
    weights = torch.softmax(queries @ keys.T / W_query.shape[1] ** 0.5, dim=-1)
    return weights @ values, weights


def attention_transposed_scores(x, W_query, W_key, W_value):
    queries, keys, values = x @ W_query, x @ W_key, x @ W_value
    weights = torch.softmax(keys @ queries.T / W_query.shape[1] ** 0.5, dim=-1)
    return weights @ values, weights


def attention_of_keys(x, W_query, W_key, W_value):
    _, weights = attention_by_matmul(x, W_query, W_key, W_value)
    return weights @ (x @ W_key), weights


def attention_unscaled(x, W_query, W_key, W_value):
    scores = (x @ W_query) @ (x @ W_key).T
    weights = scores.softmax(-1)
    return weights @ x @ W_value, weights


def attention_scaled_by_input(x, W_query, W_key, W_value):
    scores = (x @ W_query) @ (x @ W_key).T / math.sqrt(x.shape[-1])
    weights = scores.softmax(-1)
    return weights @ x @ W_value, weights


def attention_scaled_by_width(x, W_query, W_key, W_value):
    scores = (x @ W_query) @ (x @ W_key).T / W_key.shape[-1]
    weights = scores.softmax(-1)
    return weights @ x @ W_value, weights


def attention_scaled_late(x, W_query, W_key, W_value):
    scores = (x @ W_query) @ (x @ W_key).T
    weights = scores.softmax(-1) / W_key.shape[-1] ** 0.5
    return weights @ x @ W_value, weights


def attention_over_columns(x, W_query, W_key, W_value):
    scores = (x @ W_query) @ (x @ W_key).T / W_key.shape[-1] ** 0.5
    weights = F.softmax(scores, dim=-2)
    return weights @ (x @ W_value), weights


def attention_weights_first(x, W_query, W_key, W_value):
    context, weights = attention_by_matmul(x, W_query, W_key, W_value)
    return weights, context


def attention_multiplied(x, W_query, W_key, W_value):
    scores = (x @ W_query) @ (x @ W_key).T * W_key.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    return weights @ x @ W_value, weights


RIGHT = [
    attention_by_matmul,
    attention_by_pytorch,
    attention_by_helpers,
    attention_word_by_word,
    attention_by_one_matrix,
]
WRONG = [
    (attention_exchanged, "queries and keys exchanged"),
    (attention_transposed_scores, "queries and keys exchanged"),
    (attention_of_keys, "an average of the keys"),
    (attention_unscaled, "attention without scaling"),
    (attention_scaled_by_input, "scores divided by the square root of d_in"),
    (attention_scaled_by_width, "scores divided by d_out itself"),
    (
        attention_scaled_late,
        "weights divided by the square root of d_out after softmax",
    ),
    (attention_over_columns, "softmax over the queries"),
    (attention_weights_first, "attention with its two results exchanged"),
    (attention_multiplied, None),
]
