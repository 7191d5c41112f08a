"""Answers to cross_attention by hand h."""

import math

import torch
import torch.nn.functional as F


def right_einsum_float64(x, memory, W_query, W_key, W_value):
    """right: einsum in float64, back to the type of x at the end."""
    x64, m64 = x.double(), memory.double()
    q = torch.einsum("btq,qd->btd", x64, W_query.double())
    k = torch.einsum("bsm,md->bsd", m64, W_key.double())
    v = torch.einsum("bsm,mv->bsv", m64, W_value.double())
    weights = torch.einsum("btd,bsd->bts", q, k).mul(W_query.shape[1] ** -0.5).softmax(-1)
    return torch.einsum("bts,bsv->btv", weights, v).to(x.dtype), weights.to(x.dtype)


def right_loops_average_first(x, memory, W_query, W_key, W_value):
    """right: loops over texts and queries, pulls W_key over to the query, and averages the memory before W_value."""
    contexts, all_weights = [], []
    for tokens, answers in zip(x, memory):
        rows, weights = [], []
        for token in tokens:
            asked = W_key @ (token @ W_query) / math.sqrt(W_key.size(-1))
            scores = answers @ asked
            w = torch.exp(scores - torch.logsumexp(scores, 0))
            weights.append(w)
            rows.append((w @ answers) @ W_value)
        contexts.append(torch.stack(rows))
        all_weights.append(torch.stack(weights))
    return torch.stack(contexts), torch.stack(all_weights)


def right_library(x, memory, W_query, W_key, W_value):
    """right: F.linear and the fused attention, called a second time with the identity for the weights."""
    q, k, v = F.linear(x, W_query.T), F.linear(memory, W_key.T), F.linear(memory, W_value.T)
    eye = torch.eye(k.shape[1], dtype=x.dtype, device=x.device).expand(k.shape[0], -1, -1)
    return F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, eye)


def wrong_not_scaled(x, memory, W_query, W_key, W_value):
    """wrong: the scores aren't divided by the root of D."""
    weights = torch.softmax((x @ W_query) @ (memory @ W_key).transpose(1, 2), dim=-1)
    return weights @ (memory @ W_value), weights


def wrong_root_of_token_width(x, memory, W_query, W_key, W_value):
    """wrong: the scores are divided by the root of d_query, the width of x's tokens, instead of D."""
    queries, keys, values = x @ W_query, memory @ W_key, memory @ W_value
    scores = queries @ keys.mT / x.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    return weights @ values, weights


def wrong_softmax_over_queries(x, memory, W_query, W_key, W_value):
    """wrong: the softmax goes over the queries (dim 1), so each key's column sums to 1 and not each query's row."""
    queries, keys, values = x @ W_query, memory @ W_key, memory @ W_value
    scores = torch.bmm(queries, keys.permute(0, 2, 1)) / math.sqrt(queries.shape[2])
    weights = F.softmax(scores, dim=1)
    return torch.bmm(weights, values), weights


def wrong_self_attention(x, memory, W_query, W_key, W_value):
    """wrong: keys and values are made from x: this is self-attention, and the memory is never used (it crashes where d_query and d_memory differ)."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    w = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1]), -1)
    return w @ v, w


def wrong_keys_averaged(x, memory, W_query, W_key, W_value):
    """wrong: the weights average the keys and not the values; W_value is never used, and the context is (B, T, D)."""
    queries, keys = x @ W_query, memory @ W_key
    weights = (queries @ keys.mT * queries.shape[-1] ** -0.5).softmax(-1)
    return weights @ keys, weights


def wrong_causal(x, memory, W_query, W_key, W_value):
    """wrong: a causal mask is put on: query t sees only the first t + 1 tokens of the memory."""
    queries, keys, values = x @ W_query, memory @ W_key, memory @ W_value
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).tril()
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    return weights @ values, weights


def wrong_whole_root(x, memory, W_query, W_key, W_value):
    """wrong: the root of D is rounded down to a whole number (isqrt), so it's right only where D is a square."""
    queries, keys, values = x @ W_query, memory @ W_key, memory @ W_value
    weights = torch.softmax(queries @ keys.mT / math.isqrt(queries.size(-1)), dim=-1)
    return weights @ values, weights


def wrong_first_memory_for_all(x, memory, W_query, W_key, W_value):
    """wrong: all texts of the batch attend to the memory of the first one (to be seen for B above 1)."""
    B = x.shape[0]
    queries = x @ W_query
    keys = (memory[0] @ W_key).expand(B, -1, -1)
    values = (memory[0] @ W_value).expand(B, -1, -1)
    weights = torch.softmax(queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[2]), dim=-1)
    return weights @ values, weights


def wrong_einsum_sums_keys_of_all_texts(x, memory, W_query, W_key, W_value):
    """wrong: the einsum for the scores names the keys' batch axis by another letter (c), so it sums over it: every text is scored against the sum of all texts' keys; the values are its own."""
    queries, keys, values = x @ W_query, memory @ W_key, memory @ W_value
    scores = torch.einsum("btd,csd->bts", queries, keys) / queries.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    return torch.einsum("bts,bsv->btv", weights, values), weights


def wrong_scaled_after_softmax(x, memory, W_query, W_key, W_value):
    """wrong: the division by the root of D comes after the softmax, so the weights sum to 1 / root of D."""
    queries, keys, values = x @ W_query, memory @ W_key, memory @ W_value
    weights = torch.softmax(queries @ keys.transpose(-2, -1), dim=-1)
    weights = weights / math.sqrt(keys.shape[-1])
    return weights @ values, weights


def wrong_divided_by_D_and_memory_unprojected(x, memory, W_query, W_key, W_value):
    """wrong: two mistakes: the scores are divided by D and not by its root, and the weights average the memory itself, without W_value, so the context is (B, T, d_memory)."""
    q, k = x.matmul(W_query), memory.matmul(W_key)
    weights = torch.softmax(q.matmul(k.mT) / q.shape[-1], dim=-1)
    return weights.matmul(memory), weights


def wrong_root_of_value_width_and_order(x, memory, W_query, W_key, W_value):
    """wrong: two mistakes: the scores are divided by the root of D_v, the values' width, and the weights are returned before the context."""
    values = memory @ W_value
    scores = (x @ W_query) @ (memory @ W_key).mT / math.sqrt(values.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights, weights @ values


ANSWERS = [
    right_einsum_float64,
    right_loops_average_first,
    right_library,
    wrong_not_scaled,
    wrong_root_of_token_width,
    wrong_softmax_over_queries,
    wrong_self_attention,
    wrong_keys_averaged,
    wrong_causal,
    wrong_whole_root,
    wrong_first_memory_for_all,
    wrong_einsum_sums_keys_of_all_texts,
    wrong_scaled_after_softmax,
    wrong_divided_by_D_and_memory_unprojected,
    wrong_root_of_value_width_and_order,
]
