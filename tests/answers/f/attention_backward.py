"""Answers to back through attention: attention_backward."""

import math

import numpy as np
import torch


def right_step_by_step(queries, keys, values, grad_context):
    """right: matrix products back through the values, softmax row by row, the division, the dot products."""
    root = math.sqrt(queries.shape[-1])
    weights = torch.softmax(queries @ keys.T / root, dim=-1)
    grad_values = weights.T @ grad_context
    grad_weights = grad_context @ values.T
    inner = (grad_weights * weights).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_weights - inner) / root
    return grad_scores @ keys, grad_scores.T @ queries, grad_values


def right_jacobians(queries, keys, values, grad_context):
    """right: a loop over queries with the whole Jacobian of softmax, diag(w) - w w^T, in float64."""
    q, k, v, g = (t.double() for t in (queries, keys, values, grad_context))
    gq, gk, gv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    s = q.shape[1] ** -0.5
    for t in range(q.shape[0]):
        w = torch.softmax((k @ q[t]) * s, dim=0)
        J = torch.diag(w) - torch.outer(w, w)
        d = J @ (v @ g[t]) * s
        gq[t] = d @ k
        gk += torch.outer(d, q[t])
        gv += torch.outer(w, g[t])
    return gq.to(queries.dtype), gk.to(keys.dtype), gv.to(values.dtype)


def right_numpy_einsum(queries, keys, values, grad_context):
    """right: NumPy in float64 with einsum; uses that the inner sum is the context times its gradient; cast back at the end."""
    Q, K, V, G = [t.detach().cpu().double().numpy() for t in (queries, keys, values, grad_context)]
    scale = 1.0 / np.sqrt(Q.shape[1])
    S = np.einsum("td,sd->ts", Q, K) * scale
    S -= S.max(axis=1, keepdims=True)
    P = np.exp(S)
    P /= P.sum(axis=1, keepdims=True)
    C = P @ V
    dS = P * (np.einsum("te,se->ts", G, V) - np.einsum("te,te->t", G, C)[:, None]) * scale
    grads = [np.einsum("ts,sd->td", dS, K), np.einsum("ts,td->sd", dS, Q), np.einsum("ts,te->se", P, G)]
    return tuple(
        torch.from_numpy(a).to(device=t.device, dtype=t.dtype)
        for a, t in zip(grads, (queries, keys, values))
    )


def wrong_keys_first(queries, keys, values, grad_context):
    """wrong: returns the gradients in the order keys, queries, values."""
    d = queries.shape[1] ** 0.5
    w = torch.softmax(queries @ keys.T / d, 1)
    dv = w.T @ grad_context
    dw = grad_context @ values.T
    ds = w * (dw - (dw * w).sum(1, keepdim=True)) / d
    dq = ds @ keys
    dk = ds.T @ queries
    return dk, dq, dv


def wrong_root_forgotten_on_the_way_back(queries, keys, values, grad_context):
    """wrong: divides by sqrt(D) forwards but not on the way back, so the gradients of queries and keys are sqrt(D) times too large."""
    weights = (queries @ keys.T / math.sqrt(queries.size(1))).softmax(-1)
    g_values = weights.transpose(0, 1) @ grad_context
    g_weights = grad_context @ values.transpose(0, 1)
    g_scores = weights * (g_weights - (weights * g_weights).sum(-1, keepdim=True))
    return g_scores @ keys, g_scores.transpose(0, 1) @ queries, g_values


def wrong_no_inner_sum(queries, keys, values, grad_context):
    """wrong: takes weights times their gradient as the gradient of the scores, without subtracting the row's weighted sum."""
    D = queries.shape[-1]
    A = torch.softmax(queries @ keys.T / D**0.5, dim=-1)
    dA = grad_context @ values.T
    dS = A * dA / D**0.5
    return dS @ keys, dS.T @ queries, A.T @ grad_context


def wrong_diagonal_only(queries, keys, values, grad_context):
    """wrong: takes softmax as if each weight depended on its own score alone, w (1 - w), the diagonal of the Jacobian."""
    c = 1 / math.sqrt(keys.shape[1])
    scores = torch.einsum("td,sd->ts", queries, keys) * c
    w = scores.softmax(dim=-1)
    up = torch.einsum("tv,sv->ts", grad_context, values)
    back = up * w * (1 - w) * c
    return (
        torch.einsum("ts,sd->td", back, keys),
        torch.einsum("ts,td->sd", back, queries),
        torch.einsum("ts,tv->sv", w, grad_context),
    )


def wrong_width_of_values(queries, keys, values, grad_context):
    """wrong: divides by sqrt(D_v), the width of the values, forwards and back; right where D_v equals D."""
    root = math.sqrt(values.shape[-1])
    P = torch.softmax(queries @ keys.T / root, dim=-1)
    dP = grad_context @ values.T
    dS = P * (dP - (dP * P).sum(-1, keepdim=True)) / root
    return dS @ keys, dS.T @ queries, P.T @ grad_context


def wrong_reshape_for_keys(queries, keys, values, grad_context):
    """wrong: reshapes the gradient of the scores to (S, T) in place of transposing it, so the keys' gradient is wrong; right where S or T is 1."""
    T, D = queries.shape
    S = keys.shape[0]
    w = torch.softmax(queries @ keys.t() / math.sqrt(D), dim=1)
    gv = w.t() @ grad_context
    gw = grad_context @ values.t()
    gs = w * (gw - (gw * w).sum(dim=1).reshape(T, 1)) / math.sqrt(D)
    return gs @ keys, gs.reshape(S, T) @ queries, gv


def wrong_root_twice_for_keys(queries, keys, values, grad_context):
    """wrong: scales the queries by 1/sqrt(D) first and uses the scaled ones, with scores divided again, for the keys' gradient, which is so divided by sqrt(D) twice."""
    factor = queries.shape[1] ** -0.5
    q = queries * factor
    weights = torch.softmax(q @ keys.T, -1)
    d_weights = grad_context @ values.T
    d_scores = weights * (d_weights - torch.sum(d_weights * weights, -1, keepdim=True))
    d_scores = d_scores * factor
    return d_scores @ keys, d_scores.T @ q, weights.T @ grad_context


def wrong_clamped_scores(queries, keys, values, grad_context):
    """wrong: clamps the scores to -30..30 so that exp doesn't overflow, which gives wrong weights where scores are larger than that."""
    D = queries.shape[1]
    s = (queries @ keys.T / math.sqrt(D)).clamp(-30, 30)
    e = s.exp()
    w = e / e.sum(1, keepdim=True)
    gw = grad_context @ values.T
    gs = w * (gw - (gw * w).sum(1, keepdim=True)) / math.sqrt(D)
    return gs @ keys, gs.T @ queries, w.T @ grad_context


def wrong_columns_and_undivided(queries, keys, values, grad_context):
    """wrong: two mistakes: the sum that is subtracted in the softmax rule runs over the queries (axis 0), and the weights come from scores not divided by sqrt(D), though the gradient is."""
    weights = torch.softmax(queries @ keys.T, dim=-1)
    gw = grad_context @ values.T
    gs = weights * (gw - (gw * weights).sum(dim=0, keepdim=True))
    gs = gs / math.sqrt(queries.shape[-1])
    return gs @ keys, gs.T @ queries, weights.T @ grad_context


ANSWERS = [
    right_step_by_step,
    right_jacobians,
    right_numpy_einsum,
    wrong_keys_first,
    wrong_root_forgotten_on_the_way_back,
    wrong_no_inner_sum,
    wrong_diagonal_only,
    wrong_width_of_values,
    wrong_reshape_for_keys,
    wrong_root_twice_for_keys,
    wrong_clamped_scores,
    wrong_columns_and_undivided,
]
