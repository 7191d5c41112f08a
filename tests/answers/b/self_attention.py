"""Answers to self_attention by hand b."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def right_step_by_step(x, W_query, W_key, W_value):
    """right: projections, scores over the root of d_out, softmax, context."""
    queries = x @ W_query
    keys = x @ W_key
    values = x @ W_value
    scores = queries @ keys.T / keys.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def right_numpy_loop(x, W_query, W_key, W_value):
    """right: word by word in NumPy, float64 inside, with a softmax that subtracts the row's maximum."""
    X, A, B, C = (m.detach().cpu().double().numpy() for m in (x, W_query, W_key, W_value))
    K, V = np.dot(X, B), np.dot(X, C)
    weights = np.zeros((X.shape[0], X.shape[0]))
    context = np.zeros((X.shape[0], V.shape[1]))
    for i in range(X.shape[0]):
        s = K.dot(X[i].dot(A)) / np.sqrt(K.shape[1])
        e = np.exp(s - s.max())
        weights[i] = e / e.sum()
        context[i] = weights[i].dot(V)
    return torch.from_numpy(context).to(x), torch.from_numpy(weights).to(x)


def right_other_brackets(x, W_query, W_key, W_value):
    """right: other brackets, in float64: x (W_q W_k^T) x^T for the scores, (weights x) W_v for the context; cast back."""
    d_out = W_key.size(1)
    y = x.double()
    core = W_query.double() @ W_key.double().t() / math.sqrt(d_out)
    weights = F.softmax(torch.einsum("ti,ij,sj->ts", y, core, y), dim=1)
    context = (weights @ y) @ W_value.double()
    return context.to(x.dtype), weights.to(x.dtype)


def wrong_not_scaled(x, W_query, W_key, W_value):
    """wrong: forgets to divide the scores by the root of d_out."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    w = torch.softmax(q @ k.T, dim=-1)
    return w @ v, w


def wrong_hands_over_keys(x, W_query, W_key, W_value):
    """wrong: mixes the keys in place of the values: W_value is never used."""
    queries = torch.matmul(x, W_query)
    keys = torch.matmul(x, W_key)
    weights = torch.softmax(queries @ keys.T / math.sqrt(keys.shape[1]), dim=-1)
    return weights @ keys, weights


def wrong_axis(x, W_query, W_key, W_value):
    """wrong: softmax along the first axis, so the columns sum to 1, not the rows."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    w = F.softmax(q @ k.T / math.sqrt(k.shape[1]), dim=0)
    return w @ v, w


def wrong_no_root(x, W_query, W_key, W_value):
    """wrong: divides the scores by d_out, not by its root."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    w = torch.softmax(q @ k.T / k.shape[1], dim=-1)
    return w @ v, w


def wrong_width_of_input(x, W_query, W_key, W_value):
    """wrong: divides the scores by the root of d_in, the words' width, not of d_out: right only where the two are equal."""
    T, d = x.shape
    w = torch.softmax((x @ W_query) @ (x @ W_key).T / math.sqrt(d), dim=-1)
    return w @ (x @ W_value), w


def wrong_reshape_for_transpose(x, W_query, W_key, W_value):
    """wrong: reshapes the keys to (d_out, T) in place of transposing them: right only for one word or d_out = 1."""
    queries, keys, values = x @ W_query, x @ W_key, x @ W_value
    T, d_out = keys.shape
    scores = queries @ keys.reshape(d_out, T) / d_out**0.5
    weights = scores.softmax(dim=-1)
    return weights @ values, weights


def wrong_squeezes(x, W_query, W_key, W_value):
    """wrong: squeezes both results, so an axis of size 1 (one word, or d_out = 1) is lost."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    w = torch.softmax(q @ k.T / math.sqrt(q.shape[1]), dim=-1)
    return (w @ v).squeeze(), w.squeeze()


def wrong_overflow(x, W_query, W_key, W_value):
    """wrong: its own softmax has plain exp without subtracting the maximum: large scores overflow to nan."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    e = torch.exp(q @ k.T / math.sqrt(k.shape[1]))
    w = e / e.sum(dim=1, keepdim=True)
    return w @ v, w


def wrong_keys_ask_and_order(x, W_query, W_key, W_value):
    """wrong: two mistakes: scores are keys times queries (the matrix is transposed), and the results are in the order weights, context."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    weights = torch.softmax(k @ q.T / math.sqrt(k.shape[1]), dim=-1)
    return weights, weights @ v


ANSWERS = [
    right_step_by_step,
    right_numpy_loop,
    right_other_brackets,
    wrong_not_scaled,
    wrong_hands_over_keys,
    wrong_axis,
    wrong_no_root,
    wrong_width_of_input,
    wrong_reshape_for_transpose,
    wrong_squeezes,
    wrong_overflow,
    wrong_keys_ask_and_order,
]
