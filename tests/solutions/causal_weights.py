"""Causal weights."""

import torch
import torch.nn.functional as F


def weights_by_masked_fill(scores):
    T = scores.shape[-1]
    future = torch.triu(torch.ones(T, T), diagonal=1).bool()
    return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)


def weights_by_where(scores):
    places = torch.arange(scores.shape[-1])
    allowed = places[:, None] >= places
    scores = torch.where(allowed, scores, torch.tensor(-torch.inf))
    scores = scores - scores.amax(-1, keepdim=True)
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


def weights_by_loops(scores):
    weights = torch.zeros_like(scores)
    for t in range(scores.shape[-1]):
        weights[..., t, : t + 1] = torch.softmax(scores[..., t, : t + 1], dim=-1)
    return weights


def weights_by_addition(scores):
    T = scores.shape[-1]
    bias = torch.full((T, T), -torch.inf).triu(1)
    return F.softmax((scores + bias).double(), dim=-1)


def weights_in_place_on_a_copy(scores):
    scores = scores.clone()
    for t in range(scores.shape[-1]):
        scores[..., t, t + 1 :] = -torch.inf
    return scores.softmax(-1)


def weights_zeroed(scores):
    return torch.tril(torch.softmax(scores, dim=-1))


def weights_renormalised(scores):
    weights = torch.tril(torch.softmax(scores, dim=-1))
    return weights / weights.sum(dim=-1, keepdim=True)


def weights_of_zeroed_scores(scores):
    return F.softmax(torch.tril(scores), dim=-1)


def weights_one_too_many(scores):
    T = scores.shape[-1]
    return scores.masked_fill(torch.ones(T, T).triu(2).bool(), -torch.inf).softmax(-1)


def weights_with_a_finite_mask(scores):
    T = scores.shape[-1]
    return scores.masked_fill(torch.ones(T, T).triu(1).bool(), -10.0).softmax(-1)


def weights_times_infinity(scores):
    future = torch.triu(torch.ones_like(scores), diagonal=1)
    return torch.softmax(scores + future * -torch.inf, dim=-1)


RIGHT = [
    weights_by_masked_fill,
    weights_by_where,
    weights_by_loops,
    weights_by_addition,
    weights_in_place_on_a_copy,
]
WRONG = [
    (weights_zeroed, "weights zeroed after softmax, not divided by their sum"),
    (
        weights_renormalised,
        "weights zeroed after softmax, then divided by their sum",
    ),
    (weights_of_zeroed_scores, "scores set to 0 above the diagonal"),
    (weights_one_too_many, "a mask that opens one key of the future"),
    (weights_times_infinity, "minus infinity times 0"),
    (weights_with_a_finite_mask, None),
]
