"""Answers to grouped_query_attention by hand j."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def right_sdpa(queries, keys, values):
    """right: PyTorch's scaled_dot_product_attention with is_causal and enable_gqa."""
    return F.scaled_dot_product_attention(
        queries, keys, values, is_causal=True, enable_gqa=True
    )


def right_five_axes(queries, keys, values):
    """right: views the queries as (B, H_kv, group, T, D) and contracts with einsum, the
    keys and values aren't copied."""
    D = queries.shape[-1]
    T = queries.shape[-2]
    grouped = queries.unflatten(1, (keys.shape[1], -1))
    scores = torch.einsum("bkgtd,bksd->bkgts", grouped, keys) / math.sqrt(D)
    future = torch.arange(T)[None, :] > torch.arange(T)[:, None]
    weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
    return torch.einsum("bkgts,bksd->bkgtd", weights, values).flatten(1, 2)


def right_loops(queries, keys, values):
    """right: loops over heads and positions; each query sees only the prefix of keys up
    to its own, so that no mask is needed."""
    B, H, T, D = queries.shape
    group = H // keys.shape[1]
    out = torch.empty_like(queries)
    for h in range(H):
        k, v = keys[:, h // group], values[:, h // group]
        for t in range(T):
            scores = (k[:, : t + 1] * queries[:, h, t, None]).sum(-1) / D**0.5
            weights = scores.softmax(dim=-1)
            out[:, h, t] = (weights[..., None] * v[:, : t + 1]).sum(dim=1)
    return out


def right_numpy_double(queries, keys, values):
    """right: in NumPy with float64; picks the key head of each query head by an array
    of indices, and adds a mask of -inf."""
    q, k, v = (a.detach().double().numpy() for a in (queries, keys, values))
    H, T, D = q.shape[1:]
    head = np.arange(H) * k.shape[1] // H
    scores = q @ k[:, head].swapaxes(-1, -2) / np.sqrt(D)
    scores = scores + np.triu(np.full((T, T), -np.inf), 1)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    out = e / e.sum(-1, keepdims=True) @ v[:, head]
    return torch.from_numpy(out).to(queries.dtype)


def right_longer_time(queries, keys, values):
    """right: lays the query heads of a group one after the other along the time axis,
    (B, H_kv, group * T, D), with the mask repeated for each of them."""
    B, H, T, D = queries.shape
    H_kv = keys.shape[1]
    long = queries.reshape(B, H_kv, H // H_kv * T, D)
    mask = torch.ones(T, T, dtype=torch.bool).tril().repeat(H // H_kv, 1)
    scores = (long @ keys.mT) * D**-0.5
    weights = torch.where(mask, scores, float("-inf")).softmax(-1)
    return (weights @ values).reshape(B, H, T, D)


def right_streaming(queries, keys, values):
    """right: goes through the keys one by one and keeps a running maximum, sum and
    context for each query; key j updates only the queries from j on."""
    B, H, T, D = queries.shape
    H_kv = keys.shape[1]
    q = queries.reshape(B, H_kv, H // H_kv, T, D) / math.sqrt(D)
    top = q.new_full((*q.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(top)
    context = torch.zeros_like(q)
    for j in range(T):
        k = keys[:, :, None, j : j + 1]
        v = values[:, :, None, j : j + 1]
        score = (q[..., j:, :] * k).sum(dim=-1, keepdim=True)
        new_top = torch.maximum(top[..., j:, :], score)
        shrink = (top[..., j:, :] - new_top).exp()
        e = (score - new_top).exp()
        total[..., j:, :] = total[..., j:, :] * shrink + e
        context[..., j:, :] = context[..., j:, :] * shrink + e * v
        top[..., j:, :] = new_top
    return (context / total).reshape(B, H, T, D)


def wrong_repeat(queries, keys, values):
    """wrong: copies the key heads with repeat, in the order 0, 1, 0, 1, instead of
    repeat_interleave; right for H_kv = 1 and H_kv = H."""
    group = queries.shape[1] // keys.shape[1]
    keys = keys.repeat(1, group, 1, 1)
    values = values.repeat(1, group, 1, 1)
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=True)


def wrong_single_position(queries, keys, values):
    """wrong: a special case for T = 1 returns the values as they are, with H_kv heads
    instead of H; right for all other T, and for H_kv = H."""
    T = queries.shape[2]
    if T == 1:
        return values.clone()
    group = queries.shape[1] // keys.shape[1]
    k = keys.repeat_interleave(group, dim=1)
    v = values.repeat_interleave(group, dim=1)
    scores = queries @ k.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf"))
    return scores.softmax(dim=-1) @ v


def wrong_root_of_time(queries, keys, values):
    """wrong: takes the wrong axis of the keys for the scale and divides the scores by
    the root of T instead of D; right where T = D, and for T = 1."""
    scale = keys.shape[-2] ** -0.5
    return F.scaled_dot_product_attention(
        queries, keys, values, is_causal=True, scale=scale, enable_gqa=True
    )


def wrong_sees_next(queries, keys, values):
    """wrong: the mask begins one diagonal too late, so that each query sees the next
    position as well; right for T = 1 only."""
    B, H, T, D = queries.shape
    q = queries.reshape(B, keys.shape[1], -1, T, D)
    scores = q @ keys.unsqueeze(2).mT / math.sqrt(D)
    mask = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=2)
    weights = scores.masked_fill(mask, float("-inf")).softmax(dim=-1)
    return (weights @ values.unsqueeze(2)).reshape(B, H, T, D)


def wrong_mask_by_zero(queries, keys, values):
    """wrong: sets the future to 0 with tril and then masks all scores that equal 0,
    also those of the past that happen to be 0; a query of zeros gives NaN."""
    group = queries.shape[1] // keys.shape[1]
    k = torch.repeat_interleave(keys, group, dim=1)
    v = torch.repeat_interleave(values, group, dim=1)
    scores = torch.tril(queries @ k.mT) / queries.shape[-1] ** 0.5
    scores = scores.masked_fill(scores == 0, float("-inf"))
    return F.softmax(scores, dim=-1) @ v


def wrong_mask_after_softmax(queries, keys, values):
    """wrong: sets the weights of the future to 0 after the softmax and doesn't divide
    by the new sums, so that only the last query's weights sum to 1."""
    B, H, T, D = queries.shape
    q = queries.view(B, keys.shape[1], H // keys.shape[1], T, D)
    weights = torch.einsum("bkgtd,bksd->bkgts", q, keys).div(D**0.5).softmax(-1)
    return torch.einsum("bkgts,bksd->bkgtd", weights.tril(), values).flatten(1, 2)


def wrong_softmax_over_queries(queries, keys, values):
    """wrong: takes the softmax over the queries (axis -2) instead of the keys, so that
    each key's weights sum to 1 instead of each query's."""
    T, D = queries.shape[-2:]
    group = queries.shape[1] // keys.shape[1]
    k = keys.repeat_interleave(group, 1)
    v = values.repeat_interleave(group, 1)
    scores = queries @ k.transpose(2, 3) / math.sqrt(D)
    scores = scores + torch.full((T, T), float("-inf")).triu(1)
    return torch.softmax(scores, dim=-2) @ v


def wrong_heads_shuffled(queries, keys, values):
    """wrong: the groups are right, but on the way back the axes (group, H_kv) are
    merged in this order, so that the contexts' heads are in another order than the
    queries'."""
    q = queries.unflatten(1, (keys.shape[1], -1))  # (B, H_kv, group, T, D)
    contexts = []
    for g in range(q.shape[2]):
        contexts.append(
            F.scaled_dot_product_attention(q[:, :, g], keys, values, is_causal=True)
        )
    return torch.cat(contexts, dim=1)


def wrong_values_repeat(queries, keys, values):
    """wrong: copies the keys with repeat_interleave, as it should, but the values with
    repeat, so that some heads weight the values of another head."""
    T, D = queries.shape[-2:]
    group = queries.shape[1] // keys.shape[1]
    scores = queries @ keys.repeat_interleave(group, dim=1).mT / math.sqrt(D)
    past = torch.ones(T, T).tril().bool()
    weights = scores.masked_fill(~past, float("-inf")).softmax(dim=-1)
    return weights @ values.repeat(1, group, 1, 1)


def wrong_mask_of_longer_time(queries, keys, values):
    """wrong: lays the heads of a group along the time axis and takes one triangle of
    group * T rows as mask, so that all but the first head of a group see the future."""
    B, H, T, D = queries.shape
    long = queries.reshape(B, keys.shape[1], -1, D)
    mask = torch.ones(long.shape[2], T, dtype=torch.bool).tril()
    out = F.scaled_dot_product_attention(long, keys, values, attn_mask=mask)
    return out.reshape(B, H, T, D)


def wrong_divided_by_key_heads(queries, keys, values):
    """wrong: query head h takes key head h // H_kv instead of h // (H / H_kv): right
    for H = H_kv * H_kv, else another head, or an error where there is none."""
    H_kv = keys.shape[1]
    contexts = []
    for h in range(queries.shape[1]):
        contexts.append(
            F.scaled_dot_product_attention(
                queries[:, h], keys[:, h // H_kv], values[:, h // H_kv], is_causal=True
            )
        )
    return torch.stack(contexts, dim=1)


def wrong_scales_in_place(queries, keys, values):
    """wrong: the contexts are right, but it divides the caller's queries by the root of
    D in place."""
    B, H, T, D = queries.shape
    queries /= math.sqrt(D)
    q = queries.reshape(B, keys.shape[1], -1, T, D)
    scores = q @ keys[:, :, None].transpose(-1, -2)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, float("-inf")).softmax(-1)
    return (weights @ values[:, :, None]).reshape(B, H, T, D)


def wrong_groups_first_no_mask(queries, keys, values):
    """wrong: two mistakes: views the query heads as (group, H_kv) instead of (H_kv,
    group), so that neighbours don't share a key head, and forgets the causal mask."""
    B, H, T, D = queries.shape
    q = queries.reshape(B, -1, keys.shape[1], T, D)
    scores = q @ keys.unsqueeze(1).mT / math.sqrt(D)
    return (scores.softmax(dim=-1) @ values.unsqueeze(1)).reshape(B, H, T, D)


ANSWERS = [
    right_sdpa,
    right_five_axes,
    right_loops,
    right_numpy_double,
    right_longer_time,
    right_streaming,
    wrong_repeat,
    wrong_single_position,
    wrong_root_of_time,
    wrong_sees_next,
    wrong_mask_by_zero,
    wrong_mask_after_softmax,
    wrong_softmax_over_queries,
    wrong_heads_shuffled,
    wrong_values_repeat,
    wrong_mask_of_longer_time,
    wrong_divided_by_key_heads,
    wrong_scales_in_place,
    wrong_groups_first_no_mask,
]
