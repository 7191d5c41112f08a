"""Answers to self_attention by hand g."""

import math

import torch
import torch.nn.functional as F


def right_einsum_double(x, W_query, W_key, W_value):
    """right: einsum in float64, cast back at the end."""
    xd = x.double()
    q = torch.einsum("ti,io->to", xd, W_query.double())
    k = torch.einsum("ti,io->to", xd, W_key.double())
    v = torch.einsum("ti,io->to", xd, W_value.double())
    s = torch.einsum("to,so->ts", q, k) * q.size(1) ** -0.5
    w = s.softmax(dim=1)
    return torch.einsum("ts,so->to", w, v).to(x.dtype), w.to(x.dtype)


def right_word_by_word(x, W_query, W_key, W_value):
    """right: loops over the words, and averages W_value after the words themselves."""
    scale = math.sqrt(W_query.shape[1])
    keys = x @ W_key
    weights, context = [], []
    for word in x:
        query = word @ W_query
        scores = torch.stack([torch.dot(query, key) / scale for key in keys])
        row = torch.softmax(scores, dim=0)
        weights.append(row)
        context.append((row @ x) @ W_value)
    return torch.stack(context), torch.stack(weights)


def right_one_big_projection(x, W_query, W_key, W_value):
    """right: one projection with the three matrices side by side; scaling is split
    between queries and keys, each by the fourth root of d_out."""
    q, k, v = (x @ torch.cat([W_query, W_key, W_value], dim=1)).chunk(3, dim=1)
    root = q.shape[1] ** 0.25
    weights = F.softmax(torch.mm(q / root, (k / root).t()), dim=-1)
    return torch.mm(weights, v), weights


def wrong_not_scaled(x, W_query, W_key, W_value):
    """wrong: doesn't scale the scores at all."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    weights = torch.softmax(q @ k.T, dim=-1)
    return weights @ v, weights


def wrong_width_of_words(x, W_query, W_key, W_value):
    """wrong: divides by the root of d_in, the width of the words, instead of d_out;
    right only where both are equal."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    weights = torch.softmax(q @ k.T / math.sqrt(x.shape[-1]), dim=-1)
    return weights @ v, weights


def wrong_softmax_over_queries(x, W_query, W_key, W_value):
    """wrong: softmax along axis 0, so that the columns of the weights sum to 1."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    scores = q @ k.T / math.sqrt(k.shape[-1])
    weights = torch.softmax(scores, dim=0)
    return weights @ v, weights


def wrong_keys_ask(x, W_query, W_key, W_value):
    """wrong: the scores are keys times queries transposed, so queries and keys have
    swapped their roles."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    scores = k @ q.T / math.sqrt(k.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


def wrong_averages_keys(x, W_query, W_key, W_value):
    """wrong: averages the keys instead of the values; W_value isn't used."""
    q, k = x @ W_query, x @ W_key
    weights = torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1)
    return weights @ k, weights


def wrong_root_of_T(x, W_query, W_key, W_value):
    """wrong: divides the scores by the root of T, the number of words, instead of the
    root of d_out; right where both numbers are equal."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    scores = q @ k.T
    weights = torch.softmax(scores / scores.shape[-1] ** 0.5, dim=-1)
    return weights @ v, weights


def wrong_scaled_twice(x, W_query, W_key, W_value):
    """wrong: divides by the root of d_out twice, once the queries and once the scores,
    so that in effect the scores are divided by d_out."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    q = q / math.sqrt(q.shape[-1])
    weights = torch.softmax((q @ k.T).div(math.sqrt(k.shape[-1])), dim=-1)
    return weights @ v, weights


def wrong_scaled_after_softmax(x, W_query, W_key, W_value):
    """wrong: divides by the root of d_out after softmax instead of before, so that the
    rows of the weights don't sum to 1."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    weights = torch.softmax(q @ k.T, dim=-1) / math.sqrt(k.shape[-1])
    return weights @ v, weights


def wrong_transposed_average_and_width(x, W_query, W_key, W_value):
    """wrong: two mistakes: the context is made with the weights transposed (each word
    averages by its column), and the scores are divided by d_out, not by its root."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    w = F.softmax(torch.einsum("id,jd->ij", q, k) / q.shape[1], dim=1)
    return torch.einsum("ij,id->jd", w, v), w


def wrong_causal_and_swapped_return(x, W_query, W_key, W_value):
    """wrong: two mistakes: hides later words with a causal mask that nobody asked for,
    and returns weights and context in the wrong order."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    scores = q @ k.T / math.sqrt(k.shape[-1])
    T = x.shape[0]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)
    return weights, weights @ v


ANSWERS = [
    right_einsum_double,
    right_word_by_word,
    right_one_big_projection,
    wrong_not_scaled,
    wrong_width_of_words,
    wrong_softmax_over_queries,
    wrong_keys_ask,
    wrong_averages_keys,
    wrong_root_of_T,
    wrong_scaled_twice,
    wrong_scaled_after_softmax,
    wrong_transposed_average_and_width,
    wrong_causal_and_swapped_return,
]
