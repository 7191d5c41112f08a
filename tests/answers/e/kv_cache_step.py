"""Answers to KV cache step."""

import math

import torch
import torch.nn.functional as F


def right_one_key_at_a_time(queries, keys, values, cached_keys, cached_values):
    """right: goes through the keys once, with a running maximum, total and sum for each query."""
    all_keys = torch.cat((cached_keys, keys), dim=2)
    all_values = torch.cat((cached_values, values), dim=2)
    B, H, T, D = queries.shape
    past = cached_keys.shape[2]
    top = queries.new_full((B, H, T, 1), -math.inf)
    total = queries.new_zeros(B, H, T, 1)
    out = torch.zeros_like(queries)
    for s in range(past + T):
        t = max(0, s - past)
        score = (queries[:, :, t:] * all_keys[:, :, s:s + 1]).sum(-1, keepdim=True) / math.sqrt(D)
        new_top = torch.maximum(top[:, :, t:], score)
        shrink = torch.exp(top[:, :, t:] - new_top)
        power = torch.exp(score - new_top)
        total[:, :, t:] = total[:, :, t:] * shrink + power
        out[:, :, t:] = out[:, :, t:] * shrink + power * all_values[:, :, s:s + 1]
        top[:, :, t:] = new_top
    return out / total, all_keys, all_values


def right_smallest_number_as_mask(queries, keys, values, cached_keys, cached_values):
    """right: float64 inside, and forbidden scores are set to the smallest number there is, which exp turns into an exact 0 in every row, as no row is all forbidden."""
    all_keys = torch.cat([cached_keys, keys], dim=-2)
    all_values = torch.cat([cached_values, values], dim=-2)
    T, S = queries.shape[-2], all_keys.shape[-2]
    scores = torch.einsum("bhtd,bhsd->bhts", queries.double(), all_keys.double())
    scores = scores * queries.shape[-1] ** -0.5
    position = torch.arange(S - T, S, device=queries.device)
    later = torch.arange(S, device=queries.device) > position[:, None]
    scores = scores.masked_fill(later, torch.finfo(scores.dtype).min)
    context = torch.softmax(scores, -1) @ all_values.double()
    return context.to(queries.dtype), all_keys, all_values


def right_token_after_token(queries, keys, values, cached_keys, cached_values):
    """right: reads one new token at a time from a buffer of S places; each sees the part that is filled."""
    B, H, T, D = queries.shape
    past = cached_keys.size(2)
    big_k = keys.new_empty(B, H, past + T, D)
    big_v = values.new_empty(B, H, past + T, D)
    big_k[:, :, :past] = cached_keys
    big_v[:, :, :past] = cached_values
    context = torch.empty_like(queries)
    for t in range(T):
        end = past + t + 1
        big_k[:, :, end - 1] = keys[:, :, t]
        big_v[:, :, end - 1] = values[:, :, t]
        row = queries[:, :, t:t + 1] / math.sqrt(D) @ big_k[:, :, :end].transpose(2, 3)
        context[:, :, t:t + 1] = row.softmax(dim=-1) @ big_v[:, :, :end]
    return context, big_k, big_v


def wrong_no_mask(queries, keys, values, cached_keys, cached_values):
    """wrong: no mask: a new character also sees the new ones after it; right for T = 1."""
    keys = torch.cat((cached_keys, keys), dim=2)
    values = torch.cat((cached_values, values), dim=2)
    scores = queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[-1])
    return scores.softmax(-1) @ values, keys, values


def wrong_mask_starts_at_zero(queries, keys, values, cached_keys, cached_values):
    """wrong: the causal mask doesn't count the cache: new character i sees only the first i + 1 of all S (tril with diagonal 0); right with an empty cache."""
    keys = torch.cat((cached_keys, keys), dim=2)
    values = torch.cat((cached_values, values), dim=2)
    T, S = queries.shape[2], keys.shape[2]
    allowed = torch.ones(T, S, dtype=torch.bool).tril()
    scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
    weights = torch.softmax(scores.masked_fill(~allowed, float("-inf")), dim=-1)
    return weights @ values, keys, values


def wrong_no_scale(queries, keys, values, cached_keys, cached_values):
    """wrong: the scores are not divided by the root of D."""
    k = torch.cat((cached_keys, keys), dim=2)
    v = torch.cat((cached_values, values), dim=2)
    T, S = queries.shape[2], k.shape[2]
    later = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
    weights = (queries @ k.mT).masked_fill(later, -math.inf).softmax(-1)
    return weights @ v, k, v


def wrong_values_before_keys(queries, keys, values, cached_keys, cached_values):
    """wrong: returns all values before all keys: context, values, keys."""
    k = torch.cat((cached_keys, keys), dim=2)
    v = torch.cat((cached_values, values), dim=2)
    T, S = queries.shape[2], k.shape[2]
    allowed = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    context = F.softmax((queries @ k.mT / queries.size(-1) ** 0.5).masked_fill(~allowed, -math.inf), -1) @ v
    return context, v, k


def wrong_returns_scaled_keys(queries, keys, values, cached_keys, cached_values):
    """wrong: the returned keys hold the new keys divided by the fourth root of D (its share of the scale), not as they came; the context and the cached part of the keys are right."""
    D = queries.shape[-1]
    root = D ** 0.25
    keys = keys / root
    k = torch.cat((cached_keys / root, keys), dim=2)
    v = torch.cat((cached_values, values), dim=2)
    T, S = queries.shape[2], k.shape[2]
    later = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
    weights = (queries / root @ k.mT).masked_fill(later, -math.inf).softmax(-1)
    return weights @ v, torch.cat((cached_keys, keys), dim=2), v


def wrong_mask_only_for_the_prompt(queries, keys, values, cached_keys, cached_values):
    """wrong: masks only while the cache is empty; with a cache, new characters also see the new ones after them; right for T = 1 and for an empty cache."""
    k = torch.cat((cached_keys, keys), dim=2)
    v = torch.cat((cached_values, values), dim=2)
    scores = queries @ k.transpose(-1, -2) / math.sqrt(k.shape[-1])
    if cached_keys.shape[2] == 0:
        T = queries.shape[2]
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -math.inf)
    return torch.softmax(scores, dim=-1) @ v, k, v


def wrong_mask_after_softmax(queries, keys, values, cached_keys, cached_values):
    """wrong: masks the weights after softmax and divides each row by what is left; where a forbidden score lies a hundred and more above the allowed ones, this is 0 / 0."""
    k = torch.cat((cached_keys, keys), dim=2)
    v = torch.cat((cached_values, values), dim=2)
    T, S = queries.shape[2], k.shape[2]
    weights = torch.softmax(queries @ k.mT / math.sqrt(k.shape[-1]), dim=-1)
    weights = weights.tril(S - T)
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ v, k, v


def wrong_minus_thousand(queries, keys, values, cached_keys, cached_values):
    """wrong: sets forbidden scores to -1000 and not to minus infinity; where all allowed scores of a row are lower than that, the forbidden ones win."""
    k = torch.cat((cached_keys, keys), dim=2)
    v = torch.cat((cached_values, values), dim=2)
    T, S = queries.shape[2], k.shape[2]
    scores = torch.einsum("bhtd,bhsd->bhts", queries, k) / math.sqrt(k.shape[-1])
    for t in range(T):
        scores[:, :, t, S - T + t + 1:] = -1000.0
    return F.softmax(scores, dim=-1) @ v, k, v


def wrong_new_first_and_divisor(queries, keys, values, cached_keys, cached_values):
    """wrong: two mistakes: puts the new keys and values before the cached ones, also in what it returns, with a mask for the order cache, then new; and divides the scores by D instead of its root."""
    k = torch.cat((keys, cached_keys), dim=2)
    v = torch.cat((values, cached_values), dim=2)
    T, S = queries.shape[2], k.shape[2]
    scores = queries @ k.mT / queries.shape[-1]
    later = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
    return scores.masked_fill(later, -math.inf).softmax(-1) @ v, k, v


ANSWERS = [
    right_one_key_at_a_time, right_smallest_number_as_mask,
    right_token_after_token, wrong_no_mask, wrong_mask_starts_at_zero,
    wrong_no_scale, wrong_values_before_keys, wrong_returns_scaled_keys,
    wrong_mask_only_for_the_prompt, wrong_mask_after_softmax,
    wrong_minus_thousand, wrong_new_first_and_divisor,
]
