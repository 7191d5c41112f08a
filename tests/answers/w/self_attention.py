import math

import torch

from helpers.attention import softmax


def self_attention_plain(x, W_query, W_key, W_value):
    """right: projects, scores, scales by the root of d_out, applies softmax and averages the values."""
    queries = x @ W_query
    keys = x @ W_key
    values = x @ W_value
    scores = queries @ keys.T / math.sqrt(keys.shape[-1])
    weights = softmax(scores)
    return weights @ values, weights


def self_attention_scale_query(x, W_q, W_k, W_v):
    """right: divides the queries before the product, with d_out taken from the matrix, and einsum for the products."""
    d_out = W_q.size(1)
    q = torch.mm(x, W_q) * d_out ** -0.5
    k, v = torch.mm(x, W_k), torch.mm(x, W_v)
    w = torch.softmax(torch.einsum('id,jd->ij', q, k), dim=1)
    return torch.mm(w, v), w


def self_attention_d_in(x, W_query, W_key, W_value):
    """wrong: scales by the root of d_in instead of d_out, which shows where the two widths differ."""
    q = x @ W_query
    k = x @ W_key
    v = x @ W_value
    w = softmax(q @ k.T / x.shape[-1] ** 0.5)
    return w @ v, w


def self_attention_half(x, W_query, W_key, W_value):
    """wrong: writes ** 1 / 2, which Python reads as (... ** 1) / 2, so the scores are divided by 2 d_out (shows always)."""
    queries, keys, values = x @ W_query, x @ W_key, x @ W_value
    d_k = keys.shape[1]
    scores = queries @ keys.T
    weights = softmax(scores / d_k ** 1 / 2)
    context = weights @ values
    return context, weights


def self_attention_copied_line(x, W_query, W_key, W_value):
    """wrong: the line for the keys is copied from that for the queries and still uses W_query."""
    queries = x @ W_query
    keys = x @ W_query
    values = x @ W_value
    scores = queries @ keys.T
    scores = scores / math.sqrt(keys.shape[-1])
    weights = softmax(scores, dim=-1)
    context = weights @ values
    return context, weights


def self_attention_scale_last(x, W_query, W_key, W_value):
    """wrong: a misplaced parenthesis divides the weights after softmax instead of the scores; rows don't sum to 1 unless d_out = 1."""
    Q = x @ W_query
    K = x @ W_key
    V = x @ W_value
    attn = softmax(Q @ K.T) / math.sqrt(K.shape[1])
    return attn @ V, attn


def self_attention_words_averaged(x, W_query, W_key, W_value):
    """wrong: averages the words and projects nothing: the values are x itself, so W_value has no effect and the width is d_in."""
    queries = x @ W_query
    keys = x @ W_key
    weights = softmax(queries @ keys.T / math.sqrt(W_key.shape[1]))
    context = weights @ x
    return context, weights


def self_attention_linear_style(x, W_query, W_key, W_value):
    """wrong: multiplies by the transposed matrices as nn.Linear does, an error if d_in and d_out differ and wrong numbers if not."""
    queries = torch.nn.functional.linear(x, W_query)
    keys = torch.nn.functional.linear(x, W_key)
    values = torch.nn.functional.linear(x, W_value)
    scores = torch.matmul(queries, keys.transpose(0, 1))
    weights = torch.softmax(scores / math.sqrt(queries.shape[-1]), dim=-1)
    return torch.matmul(weights, values), weights


ANSWERS = [
    self_attention_plain,
    self_attention_scale_query,
    self_attention_d_in,
    self_attention_half,
    self_attention_copied_line,
    self_attention_scale_last,
    self_attention_words_averaged,
    self_attention_linear_style,
]
