import math

import torch
import torch.nn.functional as F

from helpers import attention


def step_tril(queries, keys, values, cached_keys, cached_values):
    """right: appends to the cache, and a mask whose diagonal is shifted by the cache's length."""
    keys = torch.cat([cached_keys, keys], dim=2)
    values = torch.cat([cached_values, values], dim=2)
    T, S = queries.shape[2], keys.shape[2]
    mask = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, dim=-1) @ values, keys, values


def step_token_by_token(queries, keys, values, cached_keys, cached_values):
    """right: takes the new tokens one after another, each with what is known by then, so that no mask is needed."""
    T = queries.size(-2)
    contexts = []
    for t in range(T):
        cached_keys = torch.cat((cached_keys, keys[:, :, t : t + 1]), dim=-2)
        cached_values = torch.cat((cached_values, values[:, :, t : t + 1]), dim=-2)
        q = queries[:, :, t : t + 1]
        w = attention.softmax(q @ cached_keys.mT / q.size(-1) ** 0.5)
        contexts.append(w @ cached_values)
    return torch.cat(contexts, dim=-2), cached_keys, cached_values


def step_is_causal(queries, keys, values, cached_keys, cached_values):
    """wrong: is_causal=True begins its diagonal at the top left, so new tokens see only the oldest of the cache (right with an empty cache)."""
    all_keys = torch.cat([cached_keys, keys], dim=-2)
    all_values = torch.cat([cached_values, values], dim=-2)
    context = F.scaled_dot_product_attention(queries, all_keys, all_values, is_causal=True)
    return context, all_keys, all_values


def step_not_low_enough(queries, keys, values, cached_keys, cached_values):
    """wrong: hides with -10000, which isn't below scores of minus tens of thousands."""
    k = torch.cat([cached_keys, keys], dim=2)
    v = torch.cat([cached_values, values], dim=2)
    past = cached_keys.shape[2]
    T = keys.shape[2]
    scores = queries @ k.transpose(2, 3) / k.shape[-1] ** 0.5
    for t in range(T):
        scores[:, :, t, past + t + 1:] = -1e4
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, k, v


def step_new_in_front(queries, keys, values, cached_keys, cached_values):
    """wrong: puts the new tokens in front of the cached ones, so the order of the cache and the mask are wrong (right with an empty cache)."""
    keys = torch.cat((keys, cached_keys), dim=2)
    values = torch.cat((values, cached_values), dim=2)
    T, S = queries.shape[-2], keys.shape[-2]
    mask = attention.causal_mask(T, S)
    context, _ = attention.scaled_dot_product_attention(queries, keys, values, mask=mask)
    return context, keys, values


def step_one_ahead(queries, keys, values, cached_keys, cached_values):
    """wrong: triu's diagonal is one too far, so each new token but the last sees the one after it (right for T = 1)."""
    keys = torch.cat([cached_keys, keys], dim=2)
    values = torch.cat([cached_values, values], dim=2)
    S, D = keys.shape[-2:]
    T = queries.shape[-2]
    future = torch.triu(torch.ones(T, S), diagonal=S - T + 2).bool()
    scores = (queries / math.sqrt(D)) @ keys.transpose(-1, -2)
    scores = scores.masked_fill(future, float("-inf"))
    context = scores.softmax(dim=-1) @ values
    return context, keys, values


def step_no_mask(queries, keys, values, cached_keys, cached_values):
    """wrong: has no mask, as in read_one, so with several new tokens each sees those after it (right for T = 1)."""
    keys = torch.cat([cached_keys, keys], dim=2)
    values = torch.cat([cached_values, values], dim=2)
    weights = attention.softmax(queries @ keys.transpose(2, 3) / math.sqrt(keys.shape[-1]))
    return weights @ values, keys, values


def step_copied_line(queries, keys, values, cached_keys, cached_values):
    """wrong: the line for the values is copied and still takes cached_keys, so the old values are the old keys (right with an empty cache)."""
    new_keys = torch.cat([cached_keys, keys], dim=-2)
    new_values = torch.cat([cached_keys, values], dim=-2)
    T, S = queries.shape[-2], new_keys.shape[-2]
    q_pos = torch.arange(S - T, S)[:, None]
    k_pos = torch.arange(S)[None, :]
    scores = queries @ new_keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    scores = torch.where(k_pos <= q_pos, scores, -math.inf)
    context = torch.softmax(scores, -1) @ new_values
    return context, new_keys, new_values


ANSWERS = [
    step_tril,
    step_token_by_token,
    step_is_causal,
    step_not_low_enough,
    step_new_in_front,
    step_one_ahead,
    step_no_mask,
    step_copied_line,
]
