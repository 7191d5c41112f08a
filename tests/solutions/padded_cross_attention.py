"""Cross-attention to padded sequences."""

import math

import torch
import torch.nn.functional as F


def padded_by_masked_fill(queries, keys, values, lengths):
    S, D = keys.shape[-2:]
    mask = (torch.arange(S) < lengths.unsqueeze(1)).unsqueeze(1)
    scores = queries @ keys.transpose(-2, -1) / D**0.5
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return weights @ values, weights


def padded_by_loops(queries, keys, values, lengths):
    B, T, D = queries.shape
    weights = torch.zeros(B, T, keys.shape[1])
    context = torch.zeros(B, T, values.shape[2])
    for b, length in enumerate(lengths.tolist()):
        for t in range(T):
            scores = keys[b, :length] @ queries[b, t] / math.sqrt(D)
            weights[b, t, :length] = torch.softmax(scores, dim=0)
            context[b, t] = weights[b, t, :length] @ values[b, :length]
    return context, weights


def padded_by_addition(queries, keys, values, lengths):
    scores = torch.einsum("btd,bsd->bts", queries, keys) / queries.shape[-1] ** 0.5
    bias = torch.zeros_like(scores)
    for b in range(len(lengths)):
        bias[b, :, lengths[b] :] = float("-inf")
    weights = F.softmax(scores + bias, dim=-1)
    return torch.bmm(weights, values), weights


def padded_by_pytorch(queries, keys, values, lengths):
    mask = torch.arange(keys.shape[1]).expand(len(lengths), 1, -1)
    mask = mask < lengths.view(-1, 1, 1)
    context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    eye = torch.eye(keys.shape[1]).expand(len(lengths), -1, -1)
    weights = F.scaled_dot_product_attention(queries, keys, eye, attn_mask=mask)
    return context, weights


def padded_by_cutting(queries, keys, values, lengths):
    rows = []
    for query, key, length in zip(queries, keys, lengths, strict=True):
        real = (query @ key[:length].T / key.shape[-1] ** 0.5).double().softmax(-1)
        rows.append(F.pad(real, (0, len(key) - int(length))))
    weights = torch.stack(rows)
    return weights @ values.double(), weights


def padded_with_a_huge_number(queries, keys, values, lengths):
    scores = queries @ keys.mT / math.sqrt(keys.shape[-1])
    hidden = torch.arange(keys.shape[1])[None, None] >= lengths[:, None, None]
    weights = scores.masked_fill(hidden, -1e9).softmax(dim=-1)
    return weights @ values, weights


def real_keys(keys, lengths):
    return (torch.arange(keys.shape[1])[None, :] < lengths[:, None])[:, None, :]


def finish(scores, values):
    weights = scores.softmax(-1)
    return weights @ values, weights


def scaled(queries, keys):
    return queries @ keys.mT / keys.shape[-1] ** 0.5


def padded_result_dropped(queries, keys, values, lengths):
    scores = scaled(queries, keys)
    scores.masked_fill(~real_keys(keys, lengths), -torch.inf)
    return finish(scores, values)


def padded_inverted(queries, keys, values, lengths):
    mask = real_keys(keys, lengths)
    return finish(scaled(queries, keys).masked_fill(mask, -torch.inf), values)


def padded_one_too_many(queries, keys, values, lengths):
    hidden = torch.arange(keys.shape[1])[None, None] > lengths[:, None, None]
    return finish(scaled(queries, keys).masked_fill(hidden, -torch.inf), values)


def padded_like_the_first(queries, keys, values, lengths):
    scores = scaled(queries, keys)
    scores[:, :, lengths[0] :] = -torch.inf
    return finish(scores, values)


def padded_like_the_longest(queries, keys, values, lengths):
    scores = scaled(queries, keys)
    scores[:, :, max(lengths) :] = float("-inf")
    return finish(scores, values)


def padded_weights_zeroed(queries, keys, values, lengths):
    _, weights = finish(scaled(queries, keys), values)
    weights = weights.masked_fill(~real_keys(keys, lengths), 0.0)
    return weights @ values, weights


def padded_weights_renormalised(queries, keys, values, lengths):
    weights = scaled(queries, keys).softmax(-1) * real_keys(keys, lengths)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ values, weights


def padded_scores_zeroed(queries, keys, values, lengths):
    return finish(scaled(queries, keys) * real_keys(keys, lengths), values)


def padded_keys_zeroed(queries, keys, values, lengths):
    real = real_keys(keys, lengths).transpose(1, 2)
    return finish(scaled(queries, keys.masked_fill(~real, 0.0)), values)


def padded_with_a_low_number(queries, keys, values, lengths):
    padding = ~real_keys(keys, lengths)
    return finish(scaled(queries, keys).masked_fill(padding, -1000.0), values)


def padded_with_a_penalty(queries, keys, values, lengths):
    padding = ~real_keys(keys, lengths)
    return finish(scaled(queries, keys) - 10_000.0 * padding, values)


def padded_in_front(queries, keys, values, lengths):
    mask = real_keys(keys, lengths).flip(-1)
    return finish(scaled(queries, keys).masked_fill(~mask, -torch.inf), values)


RIGHT = [
    padded_by_masked_fill,
    padded_by_loops,
    padded_by_addition,
    padded_by_pytorch,
    padded_by_cutting,
    padded_with_a_huge_number,
]
WRONG = [
    (padded_with_a_low_number, "a low number in place of minus infinity"),
    (padded_with_a_penalty, None),
    (padded_result_dropped, "attention without a mask"),
    (padded_inverted, "a mask with its meaning inverted"),
    (padded_one_too_many, "a mask that opens one row of filler"),
    (padded_like_the_first, "the first memory's mask for all"),
    (padded_like_the_longest, "the longest memory's mask for all"),
    (
        padded_weights_zeroed,
        "weights zeroed after softmax, not divided by their sum",
    ),
    (
        padded_weights_renormalised,
        "weights zeroed after softmax, then divided by their sum",
    ),
    (padded_scores_zeroed, "scores of the filler set to 0"),
    (padded_keys_zeroed, "scores of the filler set to 0"),
    (padded_in_front, None),
]
