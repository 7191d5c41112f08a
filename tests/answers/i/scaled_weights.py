"""Answers to scaled_weights by hand i."""

import math

import torch
import torch.nn.functional as F


def right_fourth_root(queries, keys):
    """right: queries and keys are each divided by the fourth root of D; library softmax."""
    root = queries.shape[-1] ** 0.25
    return F.softmax((queries / root) @ (keys / root).mT, dim=-1)


def right_log_space_double(queries, keys):
    """right: float64 inside, exp(scores - logsumexp), einsum with an ellipsis."""
    q, k = queries.double(), keys.double()
    scores = torch.einsum("...td,...sd->...ts", q, k) * q.shape[-1] ** -0.5
    return torch.exp(scores - scores.logsumexp(-1, keepdim=True)).to(queries.dtype)


def right_pairwise(queries, keys):
    """right: no matrix product, all pairs by broadcasting, and each weight is 1 over the sum of exp(score differences)."""
    scores = (queries.unsqueeze(-2) * keys.unsqueeze(-3)).sum(-1) / math.sqrt(keys.size(-1))
    differences = scores.unsqueeze(-2) - scores.unsqueeze(-1)  # [..., s, r] is r minus s
    return 1 / differences.exp().sum(-1)


def wrong_divides_by_d(queries, keys):
    """wrong: the scores are divided by D instead of sqrt(D)."""
    scores = queries @ keys.transpose(-2, -1)
    return torch.softmax(scores / queries.shape[-1], dim=-1)


def wrong_root_of_number_of_keys(queries, keys):
    """wrong: divides by the root of S, the number of keys, (keys.shape[-2]) instead of D."""
    scores = torch.matmul(queries, keys.transpose(-1, -2))
    scores = scores / math.sqrt(scores.shape[-1])
    return scores.softmax(dim=-1)


def wrong_scaled_after_softmax(queries, keys):
    """wrong: softmax comes first, and the weights are divided by sqrt(D) afterwards, so rows sum to 1/sqrt(D)."""
    weights = torch.softmax(queries @ keys.transpose(-2, -1), dim=-1)
    return weights / keys.shape[-1] ** 0.5


def wrong_softmax_over_queries(queries, keys):
    """wrong: softmax over dim=-2 (the queries), so columns sum to 1 instead of rows."""
    d_k = queries.size(-1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(d_k)
    return torch.softmax(scores, dim=-2)


def wrong_exp_overflows(queries, keys):
    """wrong: softmax by hand without taking off the max: exp overflows (NaN) or underflows (0/0) for scores in the hundreds and more."""
    scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
    powers = torch.exp(scores)
    return powers / powers.sum(dim=-1, keepdim=True)


def wrong_whole_root(queries, keys):
    """wrong: the root of D is rounded down to a whole number (math.isqrt), right only for square widths."""
    width = math.isqrt(queries.shape[-1])
    return torch.softmax(queries @ keys.transpose(-2, -1) / width, -1)


def wrong_clamped_scores(queries, keys):
    """wrong: scaled scores are clamped to [-50, 50] before softmax, so that larger scores all tie."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    powers = scores.clamp(-50, 50).exp()
    return powers / powers.sum(-1, keepdim=True)


def wrong_one_max_for_all_with_epsilon(queries, keys):
    """wrong: two mistakes that go together: the max of the whole tensor is subtracted instead of each row's, and 1e-9 is added to the denominator, so rows far below the largest score become 0 instead of summing to 1."""
    scores = (queries @ keys.mT) / queries.shape[-1] ** 0.5
    powers = torch.exp(scores - scores.max())
    return powers / (powers.sum(dim=-1, keepdim=True) + 1e-9)


def wrong_multiplied_and_wrong_axis(queries, keys):
    """wrong: two mistakes: the scores are multiplied by sqrt(D) instead of divided, and softmax runs over the queries (dim=-2)."""
    scale = math.sqrt(keys.shape[-1])
    scores = scale * torch.einsum("...id,...jd->...ij", queries, keys)
    return scores.softmax(-2)


def wrong_standardised(queries, keys):
    """wrong: the scores are divided by the standard deviation of each row of scores instead of by sqrt(D)."""
    scores = queries @ keys.transpose(-2, -1)
    spread = scores.std(dim=-1, keepdim=True, unbiased=False)
    return torch.softmax(scores / (spread + 1e-6), dim=-1)


def wrong_power_of_two(queries, keys):
    """wrong: powers of 2 instead of e in the softmax (max is taken off, scaling is right)."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    powers = torch.exp2(scores - scores.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


def wrong_softmax_of_first_axis_of_batch(queries, keys):
    """wrong: softmax over dim=1, which is the keys only for inputs without batch axes; with one batch axis it runs over the queries, with two over the second batch axis."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    return torch.softmax(scores, dim=1)


ANSWERS = [
    right_fourth_root,
    right_log_space_double,
    right_pairwise,
    wrong_divides_by_d,
    wrong_root_of_number_of_keys,
    wrong_scaled_after_softmax,
    wrong_softmax_over_queries,
    wrong_exp_overflows,
    wrong_whole_root,
    wrong_clamped_scores,
    wrong_one_max_for_all_with_epsilon,
    wrong_multiplied_and_wrong_axis,
    wrong_standardised,
    wrong_power_of_two,
    wrong_softmax_of_first_axis_of_batch,
]
