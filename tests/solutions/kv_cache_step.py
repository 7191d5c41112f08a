"""One step of attention with a KV cache."""

import math

import torch
import torch.nn.functional as F


def by_tril(queries, keys, values, cached_keys, cached_values):
    keys = torch.cat([cached_keys, keys], dim=2)
    values = torch.cat([cached_values, values], dim=2)
    T, S = queries.shape[2], keys.shape[2]
    mask = torch.ones(T, S).tril(S - T) == 1
    scores = queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[-1])
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return weights @ values, keys, values


def by_pytorch(queries, keys, values, cached_keys, cached_values):
    keys = torch.cat([cached_keys, keys], dim=-2)
    values = torch.cat([cached_values, values], dim=-2)
    T, S = queries.shape[-2], keys.shape[-2]
    mask = torch.arange(S) <= torch.arange(S - T, S)[:, None]
    context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    return [context, keys, values]


def token_by_token(queries, keys, values, cached_keys, cached_values):
    contexts = []
    for t in range(queries.shape[2]):
        cached_keys = torch.cat([cached_keys, keys[:, :, t : t + 1]], dim=2)
        cached_values = torch.cat([cached_values, values[:, :, t : t + 1]], dim=2)
        query = queries[:, :, t] / queries.shape[-1] ** 0.5
        scores = torch.einsum("bhd,bhsd->bhs", query, cached_keys)
        weights = torch.softmax(scores, dim=-1)
        contexts.append(torch.einsum("bhs,bhsd->bhd", weights, cached_values))
    return torch.stack(contexts, dim=2), cached_keys, cached_values


def in_double(queries, keys, values, cached_keys, cached_values):
    keys = torch.cat([cached_keys, keys], dim=2).double()
    values = torch.cat([cached_values, values], dim=2).double()
    T, kept = queries.shape[2], cached_keys.shape[2]
    scores = queries.double() @ keys.mT / math.sqrt(keys.shape[-1])
    future = torch.ones(T, T).triu(1).bool()
    hidden = torch.cat([torch.zeros(T, kept).bool(), future], dim=1)
    scores[..., hidden] = -torch.inf
    return scores.softmax(-1) @ values, keys, values


def append(kept, new):
    return torch.cat([kept, new], dim=2)


def attend(queries, keys, values, mask=None):
    scores = torch.einsum("bhtd,bhsd->bhts", queries, keys)
    scores = scores / keys.shape[-1] ** 0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(-torch.inf))
    return torch.softmax(scores, dim=-1) @ values


def last_rows(T, S):
    return torch.ones(S, S).tril().bool()[S - T :]


def unmasked(queries, keys, values, cached_keys, cached_values):
    keys, values = append(cached_keys, keys), append(cached_values, values)
    return F.scaled_dot_product_attention(queries, keys, values), keys, values


def one_by_one(queries, keys, values, cached_keys, cached_values):
    keys, values = append(cached_keys, keys), append(cached_values, values)
    mask = torch.ones(1, 1).tril().bool()
    return attend(queries, keys, values, mask), keys, values


def is_causal(queries, keys, values, cached_keys, cached_values):
    keys, values = append(cached_keys, keys), append(cached_values, values)
    context = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    return context, keys, values


def is_causal_at_first(queries, keys, values, cached_keys, cached_values):
    first = cached_keys.shape[2] == 0
    keys, values = append(cached_keys, keys), append(cached_values, values)
    context = F.scaled_dot_product_attention(queries, keys, values, is_causal=first)
    return context, keys, values


def masked_late(queries, keys, values, cached_keys, cached_values):
    keys, values = append(cached_keys, keys), append(cached_values, values)
    weights = torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, dim=-1)
    weights = weights * last_rows(queries.shape[2], keys.shape[2])
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ values, keys, values


def put_in_front(queries, keys, values, cached_keys, cached_values):
    keys, values = append(keys, cached_keys), append(values, cached_values)
    mask = last_rows(queries.shape[2], keys.shape[2])
    return attend(queries, keys, values, mask), keys, values


def returns_the_new(queries, keys, values, cached_keys, cached_values):
    all_keys, all_values = append(cached_keys, keys), append(cached_values, values)
    mask = last_rows(queries.shape[2], all_keys.shape[2])
    return attend(queries, all_keys, all_values, mask), keys, values


def forgets_the_cache(queries, keys, values, cached_keys, cached_values):
    context = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    return context, append(cached_keys, keys), append(cached_values, values)


def unscaled(queries, keys, values, cached_keys, cached_values):
    keys, values = append(cached_keys, keys), append(cached_values, values)
    mask = last_rows(queries.shape[2], keys.shape[2])
    context = F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=mask, scale=1.0
    )
    return context, keys, values


def other_heads(queries, keys, values, cached_keys, cached_values):
    keys, values = append(cached_keys, keys), append(cached_values, values)
    mask = last_rows(queries.shape[2], keys.shape[2])
    context = attend(queries, keys, values, mask)
    return context.transpose(1, 2).flatten(2), keys, values


RIGHT = [by_tril, by_pytorch, token_by_token, in_double]
WRONG = [
    (unmasked, "new tokens that attend to later ones"),
    (one_by_one, "new tokens that attend to later ones"),
    (is_causal, "a mask that starts at the first key"),
    (is_causal_at_first, "a mask for an empty cache only"),
    (masked_late, "weights zeroed after softmax, then divided by their sum"),
    (put_in_front, "new keys in front of the kept ones"),
    (returns_the_new, "a cache that holds the new tokens only"),
    (forgets_the_cache, "new tokens that attend to each other only"),
    (unscaled, "attention without scaling"),
    (other_heads, None),
]
