import math

import torch

from helpers import attention


def padded_mask(queries, keys, values, lengths):
    """right: a mask (B, 1, S) from arange and lengths, minus infinity, softmax."""
    S = keys.shape[1]
    real = torch.arange(S) < lengths[:, None]
    scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[-1])
    scores = scores.masked_fill(~real[:, None, :], -math.inf)
    weights = attention.softmax(scores)
    return weights @ values, weights


def padded_loop(queries, keys, values, lengths):
    """right: treats each memory by itself, cut to its length, and leaves zeros for the filler."""
    B, T, D = queries.shape
    S, D_v = values.shape[1:]
    context = queries.new_zeros(B, T, D_v)
    weights = queries.new_zeros(B, T, S)
    for b in range(B):
        n = int(lengths[b])
        w = torch.softmax(queries[b] @ keys[b, :n].T / D**0.5, dim=-1)
        weights[b, :, :n] = w
        context[b] = w @ values[b, :n]
    return context, weights


def padded_one_too_many(queries, keys, values, lengths):
    """wrong: uses <= instead of <, so the first row of filler counts as real wherever a memory is shorter than S."""
    B, T, D = queries.shape
    S = keys.size(1)
    mask = torch.arange(S).view(1, 1, S) <= lengths.view(B, 1, 1)
    scores = queries @ keys.mT / D ** 0.5
    scores = torch.where(mask, scores, torch.tensor(float("-inf")))
    weights = torch.softmax(scores, -1)
    return weights @ values, weights


def padded_tiny(queries, keys, values, lengths):
    """wrong: fills in 1e-9 where it should be -1e9: a score of about 0, which gets weight."""
    positions = torch.arange(keys.shape[1])
    is_pad = positions[None, :] >= lengths[:, None]
    scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
    scores = scores.masked_fill(is_pad.unsqueeze(1), 1e-9)
    weights = torch.softmax(scores, dim=-1)
    context = torch.bmm(weights, values)
    return context, weights


def padded_returns_early(queries, keys, values, lengths):
    """wrong: the return is inside the loop, so only the first memory is computed and the others stay 0 (right for B = 1)."""
    B, T, D = queries.shape
    context = queries.new_zeros(B, T, values.shape[-1])
    weights = queries.new_zeros(B, T, keys.shape[1])
    for b in range(B):
        n = lengths[b].item()
        scores = queries[b] @ keys[b][:n].T / math.sqrt(D)
        weights[b, :, :n] = attention.softmax(scores)
        context[b] = weights[b] @ values[b]
        return context, weights


def padded_after_softmax(queries, keys, values, lengths):
    """wrong: softmax over all rows, then filler set to 0 and the rest divided by its sum: NaN where filler scores lie thousands above the real ones."""
    scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[2])
    weights = torch.softmax(scores, dim=2)
    for b, n in enumerate(lengths.tolist()):
        weights[b, :, n:] = 0
    weights = weights / weights.sum(dim=2, keepdim=True)
    return weights @ values, weights


def padded_shared_length(queries, keys, values, lengths):
    """wrong: cuts all memories at the largest length, so a shorter memory of the batch still has filler."""
    n = int(lengths.max())
    scores = queries @ keys.transpose(1, 2) / math.sqrt(queries.shape[-1])
    scores[:, :, n:] = float("-inf")
    weights = attention.softmax(scores, dim=-1)
    context = weights @ values
    return context, weights


def padded_wrong_width(queries, keys, values, lengths):
    """wrong: divides by the root of the values' width D_v instead of D, which shows where they differ."""
    mask = torch.arange(keys.shape[1]).expand(len(lengths), -1) < lengths.unsqueeze(1)
    d = values.shape[-1]
    scores = (queries @ keys.transpose(1, 2)) / math.sqrt(d)
    scores = scores.masked_fill(mask.unsqueeze(1) == False, -torch.inf)
    weights = scores.softmax(dim=-1)
    return weights @ values, weights


ANSWERS = [
    padded_mask,
    padded_loop,
    padded_one_too_many,
    padded_tiny,
    padded_returns_early,
    padded_after_softmax,
    padded_shared_length,
    padded_wrong_width,
]
