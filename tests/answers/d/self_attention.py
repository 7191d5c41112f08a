"""Answers to self_attention by hand d."""

import math

import torch


def right_stacked_einsum(x, W_query, W_key, W_value):
    """right: all three projections in one einsum over the stacked matrices, scores / sqrt(d_out), softmax over the keys."""
    q, k, v = torch.einsum("ti,nio->nto", x, torch.stack((W_query, W_key, W_value)))
    w = torch.softmax(torch.einsum("to,so->ts", q, k) / W_query.shape[1] ** 0.5, -1)
    return torch.einsum("ts,so->to", w, v), w


def right_bilinear_double(x, W_query, W_key, W_value):
    """right: folds W_query W_key^T / sqrt(d_out) into one (d_in, d_in) form and mixes the words before W_value, all in float64, cast back at the end."""
    X, Q, K, V = (a.double() for a in (x, W_query, W_key, W_value))
    w = (X @ (Q @ K.T / math.sqrt(Q.shape[-1])) @ X.T).softmax(-1)
    return (w @ X @ V).to(x.dtype), w.to(x.dtype)


def right_one_query_at_a_time(x, W_query, W_key, W_value):
    """right: a loop over the queries, each with its own softmax by hand, the row's maximum subtracted."""
    T, d = x.shape[0], W_query.shape[1]
    k, v = x @ W_key, x @ W_value
    context, weights = x.new_zeros(T, W_value.shape[1]), x.new_zeros(T, T)
    for t in range(T):
        row = k @ (x[t] @ W_query) / math.sqrt(d)
        e = (row - row.max()).exp()
        w = e / e.sum()
        weights[t], context[t] = w, w @ v
    return context, weights


def weights_first(x, W_query, W_key, W_value):
    """wrong: returns the weights first and the context second."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    w = torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1)
    return w, w @ v


def columns_sum_to_one(x, W_query, W_key, W_value):
    """wrong: softmax over dim 0, the queries, so the columns sum to 1 in place of the rows."""
    q, k, v = (x @ W for W in (W_query, W_key, W_value))
    w = torch.softmax(q @ k.mT / math.sqrt(k.size(-1)), 0)
    return w @ v, w


def root_of_input_width(x, W_query, W_key, W_value):
    """wrong: divides by sqrt(d_in), not sqrt(d_out); right where the widths are the same."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    w = (q @ k.T / x.shape[-1] ** 0.5).softmax(-1)
    return w @ v, w


def keys_reshaped(x, W_query, W_key, W_value):
    """wrong: reshapes the keys to (d_out, T) where they should be transposed; right for T = 1 or d_out = 1."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    T, d = k.shape
    w = torch.softmax(q @ k.reshape(d, T) / math.sqrt(d), dim=-1)
    return w @ v, w


def integer_root(x, W_query, W_key, W_value):
    """wrong: divides by the whole-number root isqrt(d_out); right only where d_out is a square number."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    w = torch.softmax(torch.einsum("to,so->ts", q, k) / math.isqrt(q.shape[1]), -1)
    return w @ v, w


def swapped_einsum_letters(x, W_query, W_key, W_value):
    """wrong: the scores are transposed before softmax (keys in the rows, queries in the columns); right where W_query and W_key are the same."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    w = torch.softmax(torch.einsum("to,so->st", q, k) * q.shape[-1] ** -0.5, -1)
    return w @ v, w


def one_max_for_all(x, W_query, W_key, W_value):
    """wrong: softmax by hand subtracts one maximum of the whole matrix, not each row's; a row that lies far below it underflows to 0 / 0 = nan. Right where the rows' scores are near each other."""
    s = (x @ W_query) @ (x @ W_key).T / math.sqrt(W_key.shape[1])
    e = torch.exp(s - s.max())
    w = e / e.sum(-1, keepdim=True)
    return w @ (x @ W_value), w


def quarter_power_everywhere(x, W_query, W_key, W_value):
    """wrong: scales x by d_out ** -1/4 so that queries and keys share the scale, but takes the values from the scaled x too: the weights are right, the context is too small by d_out ** 1/4."""
    x = x * W_query.shape[1] ** -0.25
    w = torch.softmax((x @ W_query) @ (x @ W_key).T, dim=-1)
    return w @ (x @ W_value), w


def unscaled_and_keys_as_values(x, W_query, W_key, W_value):
    """wrong: two mistakes, the scores are not scaled, and the context is the mean of the keys, not of the values (W_value is not used)."""
    q, k = x @ W_query, x @ W_key
    w = (q @ k.T).softmax(-1)
    return w @ k, w


ANSWERS = [
    right_stacked_einsum, right_bilinear_double, right_one_query_at_a_time,
    weights_first, columns_sum_to_one, root_of_input_width, keys_reshaped,
    integer_root, swapped_einsum_letters, one_max_for_all,
    quarter_power_everywhere, unscaled_and_keys_as_values,
]
