"""Answers to cross attention by hand c."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def right_plain(x, memory, W_query, W_key, W_value):
    """right: three products, scaled scores, softmax over the keys, context and weights."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    w = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)
    return w @ v, w


def right_sdpa_twice(x, memory, W_query, W_key, W_value):
    """right: F.scaled_dot_product_attention for the context, and again with the unit matrix as values for the weights."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    B, S = memory.shape[:2]
    unit = torch.eye(S, dtype=v.dtype, device=v.device).expand(B, S, S)
    return (
        F.scaled_dot_product_attention(q, k, v),
        F.scaled_dot_product_attention(q, k, unit),
    )


def right_numpy_loop(x, memory, W_query, W_key, W_value):
    """right: NumPy in float64, one batch row at a time, own softmax minus the maximum, cast back."""
    xs, ms, wq, wk, wv = (
        t.detach().double().cpu().numpy() for t in (x, memory, W_query, W_key, W_value)
    )
    ctx, ws = [], []
    for a, m in zip(xs, ms):
        s = (a @ wq) @ (m @ wk).T / np.sqrt(wq.shape[1])
        e = np.exp(s - s.max(axis=1, keepdims=True))
        w = e / e.sum(axis=1, keepdims=True)
        ws.append(w)
        ctx.append(w @ (m @ wv))
    return torch.tensor(np.stack(ctx)).to(x), torch.tensor(np.stack(ws)).to(x)


def wrong_softmax_over_queries(x, memory, W_query, W_key, W_value):
    """wrong: softmax over the queries (dim 1), not over the keys."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    w = torch.softmax(q @ k.transpose(1, 2) / W_query.shape[1] ** 0.5, dim=1)
    return w @ v, w


def wrong_order(x, memory, W_query, W_key, W_value):
    """wrong: returns the weights first and the context second."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    w = F.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, dim=-1)
    return w, w @ v


def wrong_unscaled(x, memory, W_query, W_key, W_value):
    """wrong: doesn't scale the scores."""
    w = (x @ W_query @ (memory @ W_key).mT).softmax(-1)
    return w @ (memory @ W_value), w


def wrong_reshaped_keys(x, memory, W_query, W_key, W_value):
    """wrong: reshapes the keys (B, S, D) to (B, D, S) in place of transposing them."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    B, S, D = k.shape
    w = (q @ k.reshape(B, D, S) / math.sqrt(D)).softmax(-1)
    return torch.bmm(w, v), w


def wrong_root_of_d_query(x, memory, W_query, W_key, W_value):
    """wrong: scales by the root of d_query (W_query.shape[0]) in place of D; right where W_query is square."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    w = (q @ k.mT / W_query.shape[0] ** 0.5).softmax(-1)
    return w @ v, w


def wrong_root_of_d_v(x, memory, W_query, W_key, W_value):
    """wrong: scales by the root of D_v, the width of the values, in place of D; right where both are equal."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    w = torch.einsum("btd,bsd->bts", q, k).div(v.size(-1) ** 0.5).softmax(dim=-1)
    return torch.einsum("bts,bsv->btv", w, v), w


def wrong_first_memory(x, memory, W_query, W_key, W_value):
    """wrong: lets every row of the batch attend to memory[0]; right for the first only."""
    k, v = memory[0] @ W_key, memory[0] @ W_value
    w = (x @ W_query @ k.T / math.sqrt(k.shape[-1])).softmax(-1)
    return w @ v, w


def wrong_causal_when_square(x, memory, W_query, W_key, W_value):
    """wrong: adds a causal mask where T equals S, so that a query doesn't see later rows of the memory; right where T and S differ."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if s.shape[1] == s.shape[2]:
        s = s.masked_fill(torch.ones_like(s[0], dtype=torch.bool).triu(1), -torch.inf)
    w = s.softmax(-1)
    return w @ v, w


def wrong_over_d_and_raw_scores(x, memory, W_query, W_key, W_value):
    """wrong: two mistakes: divides the scores by D and not by its root, and returns the scores before softmax as the weights."""
    q, k, v = x @ W_query, memory @ W_key, memory @ W_value
    s = q @ k.mT / q.shape[-1]
    return s.softmax(-1) @ v, s


ANSWERS = [
    right_plain, right_sdpa_twice, right_numpy_loop,
    wrong_softmax_over_queries, wrong_order, wrong_unscaled,
    wrong_reshaped_keys, wrong_root_of_d_query, wrong_root_of_d_v,
    wrong_first_memory, wrong_causal_when_square, wrong_over_d_and_raw_scores,
]
