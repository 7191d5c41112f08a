"""Answers to cross attention."""

import math

import torch
import torch.nn.functional as F


def right_no_matrix_product_for_scores(x, memory, W_query, W_key, W_value):
    """right: multiplies every query with every key by broadcasting and adds up the features."""
    queries = x @ W_query
    keys = memory @ W_key
    scores = (queries.unsqueeze(2) * keys.unsqueeze(1)).sum(-1)
    weights = torch.softmax(scores / math.sqrt(W_key.shape[1]), dim=2)
    return weights @ (memory @ W_value), weights


def right_values_last(x, memory, W_query, W_key, W_value):
    """right: folds the scale and both matrices of the scores into one, averages the memory first and makes values of the average; in float64, cast back."""
    x64, m64, q64, k64, v64 = (a.double() for a in (x, memory, W_query, W_key, W_value))
    form = q64 @ k64.T * q64.shape[1] ** -0.5
    weights = torch.einsum("btq,qm,bsm->bts", x64, form, m64).softmax(-1)
    context = torch.einsum("bts,bsm->btm", weights, m64) @ v64
    return context.to(x.dtype), weights.to(x.dtype)


def right_row_by_row(x, memory, W_query, W_key, W_value):
    """right: loops over sequences and tokens; each row of scores is softmaxed on its own."""
    B, T, _ = x.shape
    S = memory.shape[1]
    D, D_v = W_query.shape[1], W_value.shape[1]
    context, weights = x.new_zeros(B, T, D_v), x.new_zeros(B, T, S)
    for b in range(B):
        keys, values = memory[b] @ W_key, memory[b] @ W_value
        for t in range(T):
            row = keys @ (x[b, t] @ W_query) / D ** 0.5
            row = torch.exp(row - row.max())
            weights[b, t] = row / row.sum()
            context[b, t] = weights[b, t] @ values
    return context, weights


def wrong_unscaled(x, memory, W_query, W_key, W_value):
    """wrong: doesn't scale the scores at all."""
    weights = F.softmax((x @ W_query) @ (memory @ W_key).transpose(1, 2), dim=-1)
    return weights @ (memory @ W_value), weights


def wrong_divides_by_width(x, memory, W_query, W_key, W_value):
    """wrong: divides the scores by D, not by its root."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    scores = torch.bmm(q, k.transpose(1, 2)) / q.shape[-1]
    weights = scores.softmax(dim=-1)
    return torch.bmm(weights, v), weights


def wrong_softmax_over_queries(x, memory, W_query, W_key, W_value):
    """wrong: softmax over the queries (axis 1, T), not over the memory (axis 2, S)."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=1)
    return weights @ v, weights


def wrong_weights_come_first(x, memory, W_query, W_key, W_value):
    """wrong: returns the weights first, then the context."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    a = (torch.einsum("btd,bsd->bts", q, k) / math.sqrt(k.size(-1))).softmax(-1)
    return a, torch.einsum("bts,bsd->btd", a, v)


def wrong_root_of_token_width(x, memory, W_query, W_key, W_value):
    """wrong: divides the scores by the root of d_query, the width of x, instead of D; right where the two are equal."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1]), -1)
    return weights @ v, weights


def wrong_keys_reshaped(x, memory, W_query, W_key, W_value):
    """wrong: reshapes the keys to (B, D, S) where it should transpose them; right for S = 1 or D = 1."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    B, S, D = k.shape
    weights = F.softmax(q @ k.reshape(B, D, S) / D ** 0.5, dim=-1)
    return weights @ v, weights


def wrong_first_memory_for_all(x, memory, W_query, W_key, W_value):
    """wrong: all sequences of the batch take their values from memory[0], though their keys come from their own memory; right for B = 1, and the weights are always right."""
    q, k = x @ W_query, memory @ W_key
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(W_query.shape[1]), dim=-1)
    return weights @ (memory[0] @ W_value), weights


def wrong_mask_if_equal_lengths(x, memory, W_query, W_key, W_value):
    """wrong: puts a causal mask on the scores where T = S; right for other lengths."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[2])
    T, S = scores.shape[1:]
    if T == S:
        scores = scores + torch.full((T, S), float("-inf")).triu(1)
    weights = scores.softmax(dim=2)
    return weights @ v, weights


def wrong_scale_after_softmax_and_swapped(x, memory, W_query, W_key, W_value):
    """wrong: two mistakes: divides by the root of D after softmax instead of before it, and returns the weights first."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    weights = torch.softmax(q @ k.transpose(1, 2), dim=-1) / math.sqrt(k.shape[2])
    return weights, weights @ v


ANSWERS = [
    right_no_matrix_product_for_scores, right_values_last, right_row_by_row,
    wrong_unscaled, wrong_divides_by_width, wrong_softmax_over_queries,
    wrong_weights_come_first, wrong_root_of_token_width, wrong_keys_reshaped,
    wrong_first_memory_for_all, wrong_mask_if_equal_lengths,
    wrong_scale_after_softmax_and_swapped,
]
