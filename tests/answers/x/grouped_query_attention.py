import math
import torch
import torch.nn.functional as F


def right_1(queries, keys, values):
    """right: repeat_interleave and SDPA"""
    size = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(size, dim=1)
    values = values.repeat_interleave(size, dim=1)
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=True)


def right_2(queries, keys, values):
    """right: loop over heads"""
    B, H, T, D = queries.shape
    group = H // keys.size(1)
    hidden = torch.triu(torch.ones(T, T), diagonal=1).bool()
    out = []
    for h in range(H):
        k, v = keys[:, h // group], values[:, h // group]
        s = queries[:, h].bmm(k.transpose(1, 2)) / math.sqrt(D)
        s[:, hidden] = float("-inf")
        out.append(torch.softmax(s, -1) @ v)
    return torch.stack(out, 1)


def wrong_1(queries, keys, values):
    """wrong: repeat in place of repeat_interleave: head h uses h mod H_kv"""
    size = queries.shape[1] // keys.shape[1]
    keys = keys.repeat(1, size, 1, 1)
    values = values.repeat(1, size, 1, 1)
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=True)


def wrong_2(queries, keys, values):
    """wrong: no causal mask"""
    H_kv, D = keys.shape[1], keys.shape[-1]
    groups = queries.unflatten(1, (H_kv, -1))
    scores = groups @ keys.unsqueeze(2).mT / math.sqrt(D)
    return (scores.softmax(-1) @ values.unsqueeze(2)).flatten(1, 2)


def wrong_3(queries, keys, values):
    """wrong: not scaled"""
    T = queries.shape[-2]
    groups = queries.unflatten(1, (keys.shape[1], -1))
    scores = groups @ keys[:, :, None].mT
    past = torch.ones(T, T, dtype=torch.bool).tril()
    weights = scores.masked_fill(~past, -math.inf).softmax(dim=-1)
    return (weights @ values[:, :, None]).flatten(1, 2)


def wrong_4(queries, keys, values):
    """wrong: unflatten the wrong way round: (size, H_kv), keys with None at axis 1"""
    T, D = queries.shape[-2:]
    groups = queries.unflatten(1, (-1, keys.shape[1]))
    scores = groups @ keys[:, None].mT / D**0.5
    future = torch.ones(T, T).triu(1).bool()
    weights = scores.masked_fill(future, -math.inf).softmax(dim=-1)
    return (weights @ values[:, None]).flatten(1, 2)


def wrong_5(queries, keys, values):
    """wrong: forgets flatten: returns (B, H_kv, size, T, D)"""
    B, H, T, D = queries.shape
    H_kv = keys.shape[1]
    q = queries.reshape(B, H_kv, H // H_kv, T, D)
    scores = q @ keys[:, :, None].transpose(-2, -1) / D**0.5
    mask = torch.tril(torch.ones(T, T)) == 0
    weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
    return weights @ values[:, :, None]


def wrong_6(queries, keys, values):
    """wrong: hides the future with scores of 0 (tril) in place of minus infinity"""
    T, D = queries.shape[-2:]
    size = queries.shape[1] // keys.shape[1]
    k = keys.repeat_interleave(size, 1)
    v = values.repeat_interleave(size, 1)
    scores = (queries @ k.mT / D**0.5).tril()
    return scores.softmax(-1) @ v


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
