import math
import torch
import torch.nn.functional as F


def right_1(queries, keys, values, cached_keys, cached_values):
    """right: SDPA with a boolean mask from positions"""
    k = torch.cat((cached_keys, keys), 2)
    v = torch.cat((cached_values, values), 2)
    T, S = queries.size(2), k.size(2)
    allowed = torch.arange(S)[None] <= torch.arange(S - T, S)[:, None]
    return F.scaled_dot_product_attention(queries, k, v, attn_mask=allowed), k, v


def right_2(queries, keys, values, cached_keys, cached_values):
    """right: one token at a time"""
    k, v = cached_keys, cached_values
    contexts = []
    for t in range(queries.shape[2]):
        k = torch.cat([k, keys[:, :, t:t + 1]], dim=2)
        v = torch.cat([v, values[:, :, t:t + 1]], dim=2)
        scores = (queries[:, :, t:t + 1] * k).sum(-1, keepdim=True) / math.sqrt(k.shape[-1])
        contexts.append((scores.softmax(dim=2) * v).sum(2, keepdim=True))
    return torch.cat(contexts, dim=2), k, v


def wrong_1(queries, keys, values, cached_keys, cached_values):
    """wrong: tril without the offset"""
    keys = torch.cat([cached_keys, keys], dim=-2)
    values = torch.cat([cached_values, values], dim=-2)
    T, S = queries.shape[-2], keys.shape[-2]
    mask = torch.ones(T, S).tril().bool()
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return weights @ values, keys, values


def wrong_2(queries, keys, values, cached_keys, cached_values):
    """wrong: no mask among the new tokens"""
    k = torch.cat([cached_keys, keys], dim=2)
    v = torch.cat([cached_values, values], dim=2)
    weights = (queries @ k.transpose(2, 3) / math.sqrt(k.size(-1))).softmax(-1)
    return weights @ v, k, v


def wrong_3(queries, keys, values, cached_keys, cached_values):
    """wrong: new keys put in front of the cached ones"""
    keys = torch.cat([keys, cached_keys], dim=-2)
    values = torch.cat([values, cached_values], dim=-2)
    T, S = queries.shape[-2], keys.shape[-2]
    mask = torch.ones(T, S).tril(S - T).bool()
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return weights @ values, keys, values


def wrong_4(queries, keys, values, cached_keys, cached_values):
    """wrong: hides with -1e4, which isn't below the lowest scores"""
    keys = torch.cat([cached_keys, keys], dim=-2)
    values = torch.cat([cached_values, values], dim=-2)
    T, S = queries.shape[-2], keys.shape[-2]
    mask = torch.ones(T, S).tril(S - T)
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    weights = scores.masked_fill(mask == 0, -1e4).softmax(dim=-1)
    return weights @ values, keys, values


def wrong_5(queries, keys, values, cached_keys, cached_values):
    """wrong: returns only the new keys and values for the next step"""
    all_keys = torch.cat([cached_keys, keys], dim=-2)
    all_values = torch.cat([cached_values, values], dim=-2)
    T, S = queries.shape[-2], all_keys.shape[-2]
    mask = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    scores = queries @ all_keys.mT / all_keys.shape[-1] ** 0.5
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return weights @ all_values, keys, values


def wrong_6(queries, keys, values, cached_keys, cached_values):
    """wrong: offset one too small: a token cannot see itself (>= in place of >)"""
    keys = torch.cat([cached_keys, keys], dim=-2)
    values = torch.cat([cached_values, values], dim=-2)
    T, S = queries.shape[-2], keys.shape[-2]
    query_place = torch.arange(T)[:, None] + S - T
    hidden = torch.arange(S) >= query_place
    scores = queries @ keys.mT / keys.shape[-1] ** 0.5
    weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    return weights @ values, keys, values


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
