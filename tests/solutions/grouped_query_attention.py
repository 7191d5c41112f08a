"""Causal attention whose query heads share keys and values."""

import math

import torch
import torch.nn.functional as F


def share_by_loops(queries, keys, values):
    B, H, T, D = queries.shape
    size = H // keys.shape[1]
    context = torch.zeros(B, H, T, D)
    for b in range(B):
        for h in range(H):
            key, value = keys[b, h // size], values[b, h // size]
            for t in range(T):
                scores = key[: t + 1] @ queries[b, h, t] / math.sqrt(D)
                context[b, h, t] = scores.softmax(dim=0) @ value[: t + 1]
    return context


def share_by_copies(queries, keys, values):
    size = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(size, dim=1)
    values = values.repeat_interleave(size, dim=1)
    T, D = queries.shape[2:]
    scores = torch.einsum("bhtd,bhsd->bhts", queries, keys) / D**0.5
    scores = scores + torch.full((T, T), -math.inf).triu(1)
    return F.softmax(scores, dim=-1) @ values


def share_by_pytorch(queries, keys, values):
    return F.scaled_dot_product_attention(
        queries, keys, values, is_causal=True, enable_gqa=True
    )


def share_by_an_axis(queries, keys, values):
    B, H, T, D = queries.shape
    queries = queries.view(B, keys.shape[1], -1, T, D) / math.sqrt(D)
    scores = torch.einsum("bgntd,bgsd->bgnts", queries, keys)
    allowed = torch.ones(T, T).tril().bool()
    weights = torch.where(allowed, scores, -math.inf).softmax(-1)
    return torch.einsum("bgnts,bgsd->bgntd", weights, values).reshape(B, H, T, D)


def share_by_expand(queries, keys, values):
    B, H, T, D = queries.shape
    groups = keys.shape[1]

    def copy(heads):
        wide = heads[:, :, None].expand(B, groups, H // groups, T, D)
        return wide.reshape(B, H, T, D)

    return F.scaled_dot_product_attention(
        queries, copy(keys), copy(values), is_causal=True
    )


def share_by_repeat(queries, keys, values):
    size = queries.shape[1] // keys.shape[1]
    keys, values = keys.repeat(1, size, 1, 1), values.repeat(1, size, 1, 1)
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=True)


def share_with_values_repeated(queries, keys, values):
    size = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(size, 1)
    values = torch.cat([values] * size, dim=1)
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=True)


def share_without_mask(queries, keys, values):
    return F.scaled_dot_product_attention(queries, keys, values, enable_gqa=True)


def share_with_groups_last(queries, keys, values):
    B, H, T, D = queries.shape
    groups = queries.view(B, -1, keys.shape[1], T, D)
    scores = groups @ keys[:, None].mT / D**0.5
    scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
    return (scores.softmax(-1) @ values[:, None]).reshape(B, H, T, D)


def share_with_zeros(queries, keys, values):
    size = queries.shape[1] // keys.shape[1]
    keys, values = (one.repeat_interleave(size, 1) for one in (keys, values))
    scores = (queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5).tril()
    return scores.softmax(-1) @ values


def share_and_zero(queries, keys, values):
    size = queries.shape[1] // keys.shape[1]
    keys, values = (one.repeat_interleave(size, 1) for one in (keys, values))
    weights = (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(-1)
    return weights.tril() @ values


RIGHT = [
    share_by_loops,
    share_by_copies,
    share_by_pytorch,
    share_by_an_axis,
    share_by_expand,
]
WRONG = [
    (share_by_repeat, "key heads that are handed out in turn"),
    (share_with_values_repeated, "values that are handed out in turn"),
    (share_without_mask, "no mask"),
    (share_with_groups_last, "key heads that are handed out in turn"),
    (share_with_zeros, "scores of 0 for the future"),
    (share_and_zero, "weights zeroed after softmax"),
]
