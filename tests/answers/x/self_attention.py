import math
import torch
import torch.nn.functional as F


def right_1(x, W_query, W_key, W_value):
    """right: einsum throughout"""
    q = torch.einsum("ti,io->to", x, W_query)
    k = torch.einsum("ti,io->to", x, W_key)
    v = torch.einsum("ti,io->to", x, W_value)
    scores = torch.einsum("to,so->ts", q, k) / math.sqrt(W_query.shape[1])
    w = torch.softmax(scores, 1)
    return torch.einsum("ts,so->to", w, v), w


def right_2(x, W_query, W_key, W_value):
    """right: loop over the words, one query at a time"""
    all_weights = []
    K = x @ W_key
    for word in x:
        q = word @ W_query
        s = torch.stack([(q * k).sum() for k in K]) * K.shape[1] ** -0.5
        all_weights.append(torch.softmax(s, dim=0))
    W = torch.stack(all_weights)
    return W @ x @ W_value, W


def wrong_1(x, W_query, W_key, W_value):
    """wrong: divides by root of d_in (third bug left in)"""
    queries, keys, values = x @ W_query, x @ W_key, x @ W_value
    scores = queries @ keys.T / x.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def wrong_2(x, W_query, W_key, W_value):
    """wrong: keys @ queries.T left as it was"""
    queries = x @ W_query
    keys = x @ W_key
    values = x @ W_value
    scores = keys @ queries.T / queries.shape[-1] ** 0.5
    weights = scores.softmax(-1)
    return weights @ values, weights


def wrong_3(x, W_query, W_key, W_value):
    """wrong: softmax over the queries (dim 0)"""
    Q = x @ W_query
    K = x @ W_key
    V = x @ W_value
    weights = F.softmax(Q @ K.T / math.sqrt(K.size(1)), dim=0)
    return weights @ V, weights


def wrong_4(x, W_query, W_key, W_value):
    """wrong: divides by the number of words T, taken for d_out: keys.shape[0]"""
    queries, keys, values = x @ W_query, x @ W_key, x @ W_value
    scores = queries @ keys.T / keys.shape[0] ** 0.5
    weights = scores.softmax(dim=-1)
    return weights @ values, weights


def wrong_5(x, W_query, W_key, W_value):
    """wrong: divides by d_out without the square root"""
    d_out = W_key.shape[-1]
    weights = ((x @ W_query) @ (x @ W_key).T / d_out).softmax(dim=-1)
    context = weights @ (x @ W_value)
    return context, weights


def wrong_6(x, W_query, W_key, W_value):
    """wrong: multiplies by the square root of d_out instead of dividing"""
    queries, keys, values = x @ W_query, x @ W_key, x @ W_value
    scale = keys.shape[-1] ** 0.5
    weights = torch.softmax(queries @ keys.T * scale, dim=-1)
    return weights @ values, weights


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
