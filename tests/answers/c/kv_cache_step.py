"""Answers to kv cache step by hand c."""

import math

import torch
import torch.nn.functional as F


def _extend(keys, values, cached_keys, cached_values):
    return torch.cat((cached_keys, keys), dim=2), torch.cat((cached_values, values), dim=2)


def right_tril_offset(queries, keys, values, cached_keys, cached_values):
    """right: cat, a mask whose diagonal is moved by S - T, -inf, softmax."""
    k, v = _extend(keys, values, cached_keys, cached_values)
    T, S = queries.shape[2], k.shape[2]
    s = queries @ k.mT / math.sqrt(queries.shape[-1])
    future = torch.ones(T, S, dtype=torch.bool, device=s.device).triu(S - T + 1)
    w = s.masked_fill(future, -torch.inf).softmax(-1)
    return w @ v, k, v


def right_sdpa_mask(queries, keys, values, cached_keys, cached_values):
    """right: F.scaled_dot_product_attention with a boolean mask: key position <= past + query position."""
    past = cached_keys.size(-2)
    k, v = _extend(keys, values, cached_keys, cached_values)
    at = torch.arange(k.size(-2), device=k.device)
    ok = at[None, :] <= at[past:, None]
    return F.scaled_dot_product_attention(queries, k, v, attn_mask=ok), k, v


def right_one_by_one(queries, keys, values, cached_keys, cached_values):
    """right: preallocated buffers, the characters one after the other, each attends to the prefix of the cache up to itself, no mask."""
    B, H, T, D = queries.shape
    past = cached_keys.shape[2]
    k = keys.new_empty(B, H, past + T, D)
    v = values.new_empty(B, H, past + T, D)
    k[:, :, :past], k[:, :, past:] = cached_keys, keys
    v[:, :, :past], v[:, :, past:] = cached_values, values
    context = torch.empty_like(queries)
    for t in range(T):
        n = past + t + 1
        w = torch.einsum("bhd,bhsd->bhs", queries[:, :, t], k[:, :, :n]).div(D ** 0.5).softmax(-1)
        context[:, :, t] = torch.einsum("bhs,bhsd->bhd", w, v[:, :, :n])
    return context, k, v


def wrong_top_left(queries, keys, values, cached_keys, cached_values):
    """wrong: tril from the upper left corner, not moved by S - T: new character t sees only the positions 0 to t of all S; right with an empty cache."""
    k, v = _extend(keys, values, cached_keys, cached_values)
    return F.scaled_dot_product_attention(queries, k, v, attn_mask=torch.ones(queries.shape[2], k.shape[2], dtype=torch.bool).tril()), k, v


def wrong_no_mask(queries, keys, values, cached_keys, cached_values):
    """wrong: no mask at all, the new characters see later ones among the new; right for T = 1."""
    k, v = _extend(keys, values, cached_keys, cached_values)
    w = (queries @ k.mT * queries.size(-1) ** -0.5).softmax(-1)
    return w @ v, k, v


def wrong_new_before_cache(queries, keys, values, cached_keys, cached_values):
    """wrong: puts the new keys and values before the cached ones, in the mask's order and in what it returns."""
    k = torch.cat([keys, cached_keys], dim=2)
    v = torch.cat([values, cached_values], dim=2)
    T, S = queries.shape[2], k.shape[2]
    s = queries @ k.transpose(-1, -2) / math.sqrt(k.shape[-1])
    s = s.masked_fill(~torch.ones(T, S, dtype=torch.bool).tril(S - T), -torch.inf)
    return s.softmax(-1) @ v, k, v


def wrong_sees_next(queries, keys, values, cached_keys, cached_values):
    """wrong: diagonal off by one (S - T + 1 in tril): each new character also sees the next one."""
    k, v = _extend(keys, values, cached_keys, cached_values)
    T, S = queries.shape[2], k.shape[2]
    ok = torch.ones(T, S, dtype=torch.bool, device=k.device).tril(S - T + 1)
    s = queries @ k.mT / math.sqrt(k.shape[-1])
    return torch.where(ok, s, torch.full_like(s, -torch.inf)).softmax(-1) @ v, k, v


def wrong_exp_by_hand(queries, keys, values, cached_keys, cached_values):
    """wrong: own softmax by exp without subtracting the maximum: NaN for scores in the thousands."""
    k, v = _extend(keys, values, cached_keys, cached_values)
    T, S = queries.shape[2], k.shape[2]
    e = (queries @ k.mT / math.sqrt(k.shape[-1])).exp().tril(S - T)
    return (e / e.sum(-1, keepdim=True)) @ v, k, v


def wrong_scaled_keys_cached(queries, keys, values, cached_keys, cached_values):
    """wrong: divides the new keys by the root of D before they enter the cache and takes the cached ones for scaled already: the returned keys are changed, and scores with cached keys are unscaled."""
    # scale once on write, not on each read
    k, v = _extend(keys / math.sqrt(keys.shape[-1]), values, cached_keys, cached_values)
    T, S = queries.shape[2], k.shape[2]
    ok = torch.ones(T, S, dtype=torch.bool, device=k.device).tril(S - T)
    w = (queries @ k.mT).masked_fill(~ok, -torch.inf).softmax(-1)
    return w @ v, k, v


_OFFSETS = {}


def wrong_stale_offset(queries, keys, values, cached_keys, cached_values):
    """wrong: remembers the mask's offset S - T of the first call for each T and uses it in later calls with a cache of another length."""
    k, v = _extend(keys, values, cached_keys, cached_values)
    T, S = queries.shape[2], k.shape[2]
    offset = _OFFSETS.setdefault(T, S - T)
    ok = torch.ones(T, S, dtype=torch.bool, device=k.device).tril(offset)
    return F.scaled_dot_product_attention(queries, k, v, attn_mask=ok), k, v


def wrong_mask_only_for_prompt(queries, keys, values, cached_keys, cached_values):
    """wrong: is_causal only where the cache is empty; with a cache it masks nothing, so several new characters see each other's future."""
    k, v = _extend(keys, values, cached_keys, cached_values)
    prompt = cached_keys.shape[2] == 0
    return F.scaled_dot_product_attention(queries, k, v, is_causal=prompt), k, v


def wrong_unscaled_and_values_first(queries, keys, values, cached_keys, cached_values):
    """wrong: two mistakes: the scores are not scaled, and the values are returned before the keys."""
    k, v = _extend(keys, values, cached_keys, cached_values)
    T, S = queries.shape[2], k.shape[2]
    ok = torch.ones(T, S, dtype=torch.bool, device=k.device).tril(S - T)
    w = (queries @ k.mT).masked_fill(~ok, -torch.inf).softmax(-1)
    return w @ v, v, k


ANSWERS = [
    right_tril_offset, right_sdpa_mask, right_one_by_one,
    wrong_top_left, wrong_no_mask, wrong_new_before_cache, wrong_sees_next,
    wrong_exp_by_hand, wrong_scaled_keys_cached, wrong_stale_offset,
    wrong_mask_only_for_prompt, wrong_unscaled_and_values_first,
]
