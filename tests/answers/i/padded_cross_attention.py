"""Answers to padded_cross_attention by hand i."""

import math

import torch
import torch.nn.functional as F


def right_slices(queries, keys, values, lengths):
    """right: a loop over memories that only ever touches the slice of real rows."""
    B, T, D = queries.shape
    weights = queries.new_zeros(B, T, keys.shape[1])
    context = queries.new_zeros(B, T, values.shape[-1])
    for b, n in enumerate(lengths.tolist()):
        row = F.softmax(queries[b] @ keys[b, :n].T / D**0.5, dim=-1)
        weights[b, :, :n] = row
        context[b] = row @ values[b, :n]
    return context, weights


def right_masked_double(queries, keys, values, lengths):
    """right: float64 einsum, a boolean mask by arange, the filler's values set to 0 as well."""
    real = torch.arange(keys.shape[1]) < lengths.unsqueeze(1)  # (B, S)
    q = queries.double() / math.sqrt(queries.shape[-1])
    k = keys.double().masked_fill(~real[..., None], 0)
    v = values.double().masked_fill(~real[..., None], 0)
    scores = torch.einsum("btd,bsd->bts", q, k).masked_fill(~real[:, None], -torch.inf)
    weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
    return (weights @ v).to(values.dtype), weights.to(queries.dtype)


def right_renormalised_in_its_own_way(queries, keys, values, lengths):
    """right: odd but correct: the max is taken over real keys only, exp is multiplied by the mask, and the result divided by its sum; the filler's rows are first replaced by row 0, which is always real."""
    real = torch.arange(keys.size(1)).expand(len(keys), -1) < lengths[:, None]
    keys = torch.where(real[..., None], keys, keys[:, :1])
    values = torch.where(real[..., None], values, values[:, :1])
    scores = torch.bmm(queries, keys.transpose(1, 2)) / queries.size(-1) ** 0.5
    powers = torch.exp(scores - scores.amax(-1, keepdim=True)) * real[:, None].float()
    weights = powers / powers.sum(-1, keepdim=True)
    return torch.bmm(weights, values), weights


def _scores(queries, keys):
    return queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])


def wrong_lengths_ignored(queries, keys, values, lengths):
    """wrong: lengths are not used: the filler is attended to like real rows."""
    weights = torch.softmax(_scores(queries, keys), dim=-1)
    return weights @ values, weights


def wrong_filler_keys_zeroed(queries, keys, values, lengths):
    """wrong: the filler's keys and values are set to 0 instead of masking the scores, so filler has score 0 and still takes weight."""
    real = (torch.arange(keys.shape[1])[None] < lengths[:, None])[..., None]
    keys, values = keys * real, values * real
    weights = F.softmax(_scores(queries, keys), dim=-1)
    return weights @ values, weights


def wrong_masked_after_softmax(queries, keys, values, lengths):
    """wrong: softmax over all S keys first, the filler's weights set to 0 afterwards without normalising again."""
    weights = _scores(queries, keys).softmax(-1)
    filler = torch.arange(keys.shape[1]).view(1, 1, -1) >= lengths.view(-1, 1, 1)
    weights = weights.masked_fill(filler, 0.0)
    return weights @ values, weights


def wrong_one_filler_row_too_many(queries, keys, values, lengths):
    """wrong: <= instead of <: the first row of filler, row lengths[b], counts as real."""
    real = torch.arange(keys.shape[1]) <= lengths[:, None]
    scores = _scores(queries, keys).masked_fill(~real[:, None, :], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def wrong_longest_for_all(queries, keys, values, lengths):
    """wrong: all memories are cut at the longest length, so shorter memories see their filler up to there; right if all lengths are equal."""
    longest = int(lengths.max())
    scores = _scores(queries, keys)
    scores[:, :, longest:] = float("-inf")
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def wrong_filler_found_by_zeros(queries, keys, values, lengths):
    """wrong: lengths are not used; a row is taken for filler if its key is all 0, so filler of other numbers takes part (with zero filler it is right)."""
    filler = (keys == 0).all(dim=-1)
    scores = _scores(queries, keys).masked_fill(filler[:, None, :], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def wrong_additive_minus_thousand(queries, keys, values, lengths):
    """wrong: 1000 is subtracted from the filler's scores instead of setting them to -inf, so filler takes weight where its score is about 1000 or more above the real ones."""
    filler = (torch.arange(keys.shape[1]) >= lengths[:, None]).to(keys.dtype)
    scores = _scores(queries, keys) - 1e3 * filler[:, None, :]
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def wrong_renormalised_after_softmax(queries, keys, values, lengths):
    """wrong: softmax runs over all S keys, then the filler is set to 0 and each row is divided by its sum (clamped at 1e-12): where filler scores far above the real keys, the real weights have rounded to 0 and the row is 0 or wrong."""
    weights = _scores(queries, keys).softmax(-1)
    real = torch.arange(keys.shape[1]) < lengths.view(-1, 1, 1)
    weights = weights * real
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-12)
    return weights @ values, weights


def wrong_filler_expected_in_front(queries, keys, values, lengths):
    """wrong: takes the last lengths[b] rows for real instead of the first ones, as with padding on the left."""
    S = keys.shape[1]
    real = torch.arange(S) >= S - lengths[:, None]
    scores = _scores(queries, keys).masked_fill(~real.unsqueeze(1), -torch.inf)
    weights = scores.softmax(-1)
    return weights @ values, weights


def wrong_unscaled_and_context_unmasked(queries, keys, values, lengths):
    """wrong: two mistakes: the scores are not divided by sqrt(D), and the context is made with weights over all S rows, filler included, while the returned weights are masked."""
    scores = queries @ keys.transpose(1, 2)
    context = torch.softmax(scores, dim=-1) @ values
    for b in range(len(lengths)):
        scores[b, :, lengths[b] :] = float("-inf")
    return context, torch.softmax(scores, dim=-1)


def wrong_causal_too(queries, keys, values, lengths):
    """wrong: the filler is masked rightly, but a causal mask is added: query t sees no key after t."""
    T, S = queries.shape[1], keys.shape[1]
    allowed = torch.arange(S) < lengths[:, None, None]
    allowed = allowed & torch.ones(T, S, dtype=torch.bool).tril()
    weights = _scores(queries, keys).masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    return weights @ values, weights


ANSWERS = [
    right_slices,
    right_masked_double,
    right_renormalised_in_its_own_way,
    wrong_lengths_ignored,
    wrong_filler_keys_zeroed,
    wrong_masked_after_softmax,
    wrong_one_filler_row_too_many,
    wrong_longest_for_all,
    wrong_filler_found_by_zeros,
    wrong_additive_minus_thousand,
    wrong_renormalised_after_softmax,
    wrong_filler_expected_in_front,
    wrong_unscaled_and_context_unmasked,
    wrong_causal_too,
]
