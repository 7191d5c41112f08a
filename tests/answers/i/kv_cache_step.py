"""Answers to kv_cache_step by hand i."""

import math

import torch
import torch.nn.functional as F


def right_position_comparison(queries, keys, values, cached_keys, cached_values):
    """right: absolute positions of new tokens are compared with those of all keys."""
    all_keys = torch.cat([cached_keys, keys], dim=2)
    all_values = torch.cat([cached_values, values], dim=2)
    T, S = queries.shape[2], all_keys.shape[2]
    past = torch.arange(S) <= torch.arange(S - T, S)[:, None]
    scores = (queries / math.sqrt(queries.shape[-1])) @ all_keys.mT
    weights = scores.masked_fill(~past, -torch.inf).softmax(-1)
    return weights @ all_values, all_keys, all_values


def right_token_by_token(queries, keys, values, cached_keys, cached_values):
    """right: no mask: one new token after another is appended to the cache and attends to all that is there, in float64."""
    contexts = []
    for t in range(queries.shape[2]):
        cached_keys = torch.cat([cached_keys, keys[:, :, t : t + 1]], dim=2)
        cached_values = torch.cat([cached_values, values[:, :, t : t + 1]], dim=2)
        scores = torch.einsum("bhd,bhsd->bhs", queries[:, :, t].double(), cached_keys.double())
        weights = torch.softmax(scores / queries.shape[-1] ** 0.5, dim=-1)
        contexts.append(torch.einsum("bhs,bhsd->bhd", weights, cached_values.double()))
    return torch.stack(contexts, dim=2).to(queries.dtype), cached_keys, cached_values


def right_fused(queries, keys, values, cached_keys, cached_values):
    """right: library attention with a boolean mask made by tril with the cache's length as diagonal."""
    k = torch.cat((cached_keys, keys), dim=-2)
    v = torch.cat((cached_values, values), dim=-2)
    mask = torch.ones(queries.shape[-2], k.shape[-2], dtype=torch.bool)
    mask = mask.tril(diagonal=cached_keys.shape[-2])
    return F.scaled_dot_product_attention(queries, k, v, attn_mask=mask), k, v


def _extend(keys, values, cached_keys, cached_values):
    return torch.cat([cached_keys, keys], dim=2), torch.cat([cached_values, values], dim=2)


def _attend(queries, keys, values, allowed):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    return scores.masked_fill(~allowed, -torch.inf).softmax(-1) @ values


def wrong_no_mask(queries, keys, values, cached_keys, cached_values):
    """wrong: no causal mask: a new token sees the new tokens after it too; right for one token at a time."""
    keys, values = _extend(keys, values, cached_keys, cached_values)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    return torch.softmax(scores, dim=-1) @ values, keys, values


def wrong_is_causal_flag(queries, keys, values, cached_keys, cached_values):
    """wrong: is_causal=True of the library lines the mask up at the top left, so new token t sees only the first t + 1 positions of all; right only with an empty cache."""
    keys, values = _extend(keys, values, cached_keys, cached_values)
    context = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    return context, keys, values


def wrong_new_ones_in_front(queries, keys, values, cached_keys, cached_values):
    """wrong: the returned keys and values have the new tokens in front of the cached ones; the context is right."""
    T, n = queries.shape[2], cached_keys.shape[2]
    all_keys = torch.cat([keys, cached_keys], dim=2)
    all_values = torch.cat([values, cached_values], dim=2)
    new = torch.ones(T, T, dtype=torch.bool).tril()
    allowed = torch.cat([new, torch.ones(T, n, dtype=torch.bool)], dim=1)
    return _attend(queries, all_keys, all_values, allowed), all_keys, all_values


def wrong_not_extended(queries, keys, values, cached_keys, cached_values):
    """wrong: the context is right, but the new keys and values alone are returned, (B, H, T, D), instead of all S."""
    all_keys, all_values = _extend(keys, values, cached_keys, cached_values)
    T, S = queries.shape[2], all_keys.shape[2]
    allowed = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    return _attend(queries, all_keys, all_values, allowed), keys, values


def wrong_unscaled(queries, keys, values, cached_keys, cached_values):
    """wrong: the scores are not divided by sqrt(D)."""
    all_keys, all_values = _extend(keys, values, cached_keys, cached_values)
    T, S = queries.shape[2], all_keys.shape[2]
    future = torch.ones(T, S).triu(S - T + 1).bool()
    scores = torch.einsum("bhtd,bhsd->bhts", queries, all_keys)
    weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
    return weights @ all_values, all_keys, all_values


def wrong_one_token_ahead(queries, keys, values, cached_keys, cached_values):
    """wrong: the mask's diagonal is one too far (S - T + 1 with tril), so each new token sees the one after it too; right for T = 1."""
    all_keys, all_values = _extend(keys, values, cached_keys, cached_values)
    T, S = queries.shape[2], all_keys.shape[2]
    allowed = torch.tril(torch.ones(T, S), diagonal=S - T + 1) > 0
    return _attend(queries, all_keys, all_values, allowed), all_keys, all_values


def wrong_mask_only_for_empty_cache(queries, keys, values, cached_keys, cached_values):
    """wrong: the causal mask is used only while the cache is empty; with a cache it takes the new tokens for one and masks nothing, so several new tokens see each other's future."""
    all_keys, all_values = _extend(keys, values, cached_keys, cached_values)
    first = cached_keys.shape[2] == 0
    context = F.scaled_dot_product_attention(queries, all_keys, all_values, is_causal=first)
    return context, all_keys, all_values


def wrong_mask_value_too_small(queries, keys, values, cached_keys, cached_values):
    """wrong: masked scores are set to -10000 instead of -inf, so a new token sees its future where its own scores are near or below -10000."""
    k, v = _extend(keys, values, cached_keys, cached_values)
    T, S = queries.shape[2], k.shape[2]
    scores = queries @ k.transpose(2, 3) * queries.shape[-1] ** -0.5
    future = torch.arange(S)[None] > torch.arange(T)[:, None] + S - T
    weights = scores.masked_fill(future, -1e4).softmax(dim=-1)
    return weights @ v, k, v


def wrong_scaled_keys_cached(queries, keys, values, cached_keys, cached_values):
    """wrong: the keys are divided by sqrt(D) for the scores and it is these scaled keys (all S of them) that are returned as the next cache; context and values are right."""
    all_keys, all_values = _extend(keys, values, cached_keys, cached_values)
    all_keys = all_keys / math.sqrt(keys.shape[-1])
    T, S = queries.shape[2], all_keys.shape[2]
    scores = queries @ all_keys.mT
    future = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
    weights = scores.masked_fill(future, -torch.inf).softmax(-1)
    return weights @ all_values, all_keys, all_values


def wrong_values_and_keys_swapped_unmasked(queries, keys, values, cached_keys, cached_values):
    """wrong: two mistakes: there is no causal mask among the new tokens, and values and keys are returned in swapped order (context, values, keys)."""
    all_keys, all_values = _extend(keys, values, cached_keys, cached_values)
    scores = queries @ all_keys.transpose(-1, -2) / keys.shape[-1] ** 0.5
    return scores.softmax(-1) @ all_values, all_values, all_keys


def wrong_cache_not_attended(queries, keys, values, cached_keys, cached_values):
    """wrong: the new tokens attend (causally) to the new tokens alone, the cache is only extended; right with an empty cache."""
    context = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    return context, *_extend(keys, values, cached_keys, cached_values)


def wrong_cache_of_fixed_size(queries, keys, values, cached_keys, cached_values):
    """wrong: the context is right, but if there is a cache, the returned one keeps its old length S - T, or T if that is more: the oldest tokens are dropped from it."""
    all_keys, all_values = _extend(keys, values, cached_keys, cached_values)
    T, S = queries.shape[2], all_keys.shape[2]
    allowed = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    context = _attend(queries, all_keys, all_values, allowed)
    size = max(S - T, T)
    return context, all_keys[:, :, -size:], all_values[:, :, -size:]


def wrong_masked_after_softmax_and_no_max(queries, keys, values, cached_keys, cached_values):
    """wrong: two mistakes: exp is taken without subtracting the max (overflow or 0/0, NaN, for large scores), and the mask is applied after dividing by the sum over all S, without normalising again."""
    all_keys, all_values = _extend(keys, values, cached_keys, cached_values)
    T, S = queries.shape[2], all_keys.shape[2]
    powers = torch.exp(queries @ all_keys.mT / math.sqrt(queries.shape[-1]))
    weights = powers / powers.sum(dim=-1, keepdim=True)
    weights = weights * torch.ones(T, S).tril(S - T)
    return weights @ all_values, all_keys, all_values


ANSWERS = [
    right_position_comparison,
    right_token_by_token,
    right_fused,
    wrong_no_mask,
    wrong_is_causal_flag,
    wrong_new_ones_in_front,
    wrong_not_extended,
    wrong_unscaled,
    wrong_one_token_ahead,
    wrong_mask_only_for_empty_cache,
    wrong_mask_value_too_small,
    wrong_scaled_keys_cached,
    wrong_values_and_keys_swapped_unmasked,
    wrong_cache_not_attended,
    wrong_cache_of_fixed_size,
    wrong_masked_after_softmax_and_no_max,
]
