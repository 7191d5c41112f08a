"""Answers to attention_backward by hand a."""

import math

import numpy as np
import torch


def right_jacobian_per_query(queries, keys, values, grad_context):
    """right: a loop over the queries, each with the full Jacobian diag(w) - w w^T of its softmax."""
    T, D = queries.shape
    root = math.sqrt(D)
    grad_q = torch.zeros_like(queries)
    grad_k = torch.zeros_like(keys)
    grad_v = torch.zeros_like(values)
    for t in range(T):
        w = torch.softmax(keys @ queries[t] / root, dim=0)
        g = grad_context[t]
        grad_v = grad_v + torch.outer(w, g)
        grad_w = values @ g
        jacobian = torch.diag(w) - torch.outer(w, w)
        grad_score = jacobian @ grad_w / root
        grad_q[t] = grad_score @ keys
        grad_k = grad_k + torch.outer(grad_score, queries[t])
    return grad_q, grad_k, grad_v


def right_einsum_double(queries, keys, values, grad_context):
    """right: einsum in float64 throughout, each gradient cast back to the dtype of its tensor."""
    q, k, v, g = (x.double() for x in (queries, keys, values, grad_context))
    c = q.shape[1] ** -0.5
    w = torch.einsum("td,sd->ts", q * c, k).softmax(-1)
    gw = torch.einsum("te,se->ts", g, v)
    gs = w * (gw - torch.einsum("ts,ts->t", w, gw)[:, None])
    gq = torch.einsum("ts,sd->td", gs, k) * c
    gk = torch.einsum("ts,td->sd", gs, q) * c
    gv = torch.einsum("ts,te->se", w, g)
    return gq.to(queries.dtype), gk.to(keys.dtype), gv.to(values.dtype)


def right_numpy_with_context(queries, keys, values, grad_context):
    """right: NumPy, the sum in softmax's rule taken as grad_context times context, row by row."""
    q, k, v, g = [
        x.detach().double().numpy()
        for x in (queries, keys, values, grad_context)
    ]
    root = np.sqrt(q.shape[1])
    s = q @ k.T / root
    w = np.exp(s - s.max(axis=1, keepdims=True))
    w = w / w.sum(axis=1, keepdims=True)
    context = w @ v
    delta = (g * context).sum(axis=1, keepdims=True)
    gs = w * (g @ v.T - delta) / root
    answers = (gs @ k, gs.T @ q, w.T @ g)
    return tuple(torch.from_numpy(a).to(queries.dtype) for a in answers)


def wrong_keys_first(queries, keys, values, grad_context):
    """wrong: order of the results, the gradient of keys comes first and that of queries second."""
    root = math.sqrt(queries.shape[1])
    w = torch.softmax(queries @ keys.T / root, dim=-1)
    grad_v = w.T @ grad_context
    grad_w = grad_context @ values.T
    grad_s = w * (grad_w - (w * grad_w).sum(dim=-1, keepdim=True)) / root
    return grad_s.T @ queries, grad_s @ keys, grad_v


def wrong_root_forgotten_backward(queries, keys, values, grad_context):
    """wrong: the weights are scaled, but the way back forgets the division by sqrt(D), for queries and for keys."""
    w = torch.softmax(queries @ keys.T / math.sqrt(queries.shape[1]), dim=-1)
    grad_v = w.T @ grad_context
    grad_w = grad_context @ values.T
    grad_s = w * (grad_w - (w * grad_w).sum(dim=-1, keepdim=True))
    return grad_s @ keys, grad_s.T @ queries, grad_v


def wrong_softmax_rule_half(queries, keys, values, grad_context):
    """wrong: softmax's rule without the subtracted sum, grad_scores = weights * grad_weights."""
    root = math.sqrt(queries.shape[1])
    w = torch.softmax(queries @ keys.T / root, dim=-1)
    T, S = w.shape
    grad_s = torch.zeros_like(w)
    for t in range(T):
        for s in range(S):
            grad_s[t, s] = w[t, s] * torch.dot(grad_context[t], values[s])
    grad_s = grad_s / root
    return grad_s @ keys, grad_s.T @ queries, w.T @ grad_context


def wrong_reshaped_weights(queries, keys, values, grad_context):
    """wrong: for the gradient of values the weights are reshaped to (S, T) and not transposed; the other two gradients are right."""
    root = math.sqrt(queries.shape[1])
    w = torch.softmax(queries @ keys.T / root, dim=-1)
    T, S = w.shape
    grad_v = w.reshape(S, T) @ grad_context
    grad_w = grad_context @ values.T
    grad_s = w * (grad_w - (w * grad_w).sum(dim=-1, keepdim=True)) / root
    return grad_s @ keys, grad_s.T @ queries, grad_v


def wrong_exp_without_max(queries, keys, values, grad_context):
    """wrong: softmax by exp without taking the largest score away, so scores in the thousands overflow to nan."""
    root = math.sqrt(queries.shape[1])
    e = torch.exp(queries @ keys.T / root)
    w = e / e.sum(dim=1, keepdim=True)
    grad_v = w.T @ grad_context
    grad_w = grad_context @ values.T
    inner = torch.zeros(w.shape[0], 1, dtype=w.dtype)
    for t in range(w.shape[0]):
        inner[t] = torch.dot(w[t], grad_w[t])
    grad_s = w * (grad_w - inner) / root
    return grad_s @ keys, grad_s.T @ queries, grad_v


def wrong_width_of_values(queries, keys, values, grad_context):
    """wrong: divides by the root of D_v (the width of values) in place of D, forward and backward; right when both are equal."""
    root = math.sqrt(values.shape[1])
    w = torch.softmax(queries @ keys.T / root, dim=-1)
    grad_v = w.T @ grad_context
    grad_w = grad_context @ values.T
    grad_s = w * (grad_w - (w * grad_w).sum(dim=-1, keepdim=True)) / root
    return grad_s @ keys, grad_s.T @ queries, grad_v


def wrong_sure_rows_skipped(queries, keys, values, grad_context):
    """wrong: rows with a weight above 0.9 are taken as saturated and their scores get gradient 0; right where no weight is that large."""
    root = math.sqrt(queries.shape[1])
    w = torch.softmax(queries @ keys.T / root, dim=-1)
    grad_w = grad_context @ values.T
    grad_s = torch.zeros_like(w)
    for t in range(w.shape[0]):
        if w[t].max() > 0.9:
            continue
        grad_s[t] = w[t] * (grad_w[t] - (w[t] * grad_w[t]).sum()) / root
    return grad_s @ keys, grad_s.T @ queries, w.T @ grad_context


_grads = {}


def wrong_gradients_add_up(queries, keys, values, grad_context):
    """wrong: keeps the gradients of earlier calls with the same shapes and adds to them (no zero_grad); right only at the first call."""
    root = math.sqrt(queries.shape[1])
    w = torch.softmax(queries @ keys.T / root, dim=-1)
    grad_w = grad_context @ values.T
    grad_s = w * (grad_w - (w * grad_w).sum(dim=-1, keepdim=True)) / root
    new = [grad_s @ keys, grad_s.T @ queries, w.T @ grad_context]
    name = (tuple(queries.shape), tuple(keys.shape), tuple(values.shape))
    if name in _grads:
        new = [a + b for a, b in zip(_grads[name], new)]
    _grads[name] = new
    return new[0], new[1], new[2]


def wrong_column_sum_and_keys_unscaled(queries, keys, values, grad_context):
    """wrong: two mistakes, the sum in softmax's rule runs over the queries (dim 0), not the keys, and the gradient of keys is not divided by sqrt(D)."""
    root = math.sqrt(queries.shape[1])
    w = torch.softmax(queries @ keys.T / root, dim=-1)
    grad_w = grad_context @ values.T
    grad_s = w * (grad_w - (w * grad_w).sum(dim=0, keepdim=True))
    return grad_s @ keys / root, grad_s.T @ queries, w.T @ grad_context


ANSWERS = [
    right_jacobian_per_query,
    right_einsum_double,
    right_numpy_with_context,
    wrong_keys_first,
    wrong_root_forgotten_backward,
    wrong_softmax_rule_half,
    wrong_reshaped_weights,
    wrong_exp_without_max,
    wrong_width_of_values,
    wrong_sure_rows_skipped,
    wrong_gradients_add_up,
    wrong_column_sum_and_keys_unscaled,
]
