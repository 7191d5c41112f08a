"""Dropout by hand."""

import torch
import torch.nn.functional as F
from torch import nn


def dropout_by_rand(weights, p, training):
    if not training:
        return weights
    keep = torch.rand(weights.shape) >= p
    return weights * keep / (1 - p)


def dropout_by_bernoulli(weights, p, training):
    if not training or p == 0:
        return weights
    keep = torch.bernoulli(torch.full_like(weights, 1 - p))
    return weights.double() * (keep * (1 / (1 - p)))


def dropout_by_loops(weights, p, training):
    result = weights.clone()
    if training:
        flat = result.view(-1)
        for i in range(len(flat)):
            if torch.rand(()) < p:
                flat[i] = 0.0
            else:
                flat[i] = flat[i] / (1 - p)
    return result


def dropout_by_module(weights, p, training):
    return nn.Dropout(p).train(training)(weights)


def dropout_by_masked_fill(weights, p, training):
    p = p if training else 0.0
    return (weights / (1 - p)).masked_fill(torch.rand_like(weights) < p, 0.0)


def dropout_with_two_signs(weights, p, training):
    if not training:
        return weights
    minus_kept = (torch.rand_like(weights) < p).float() - 1
    return weights * minus_kept / (p - 1)


def dropout_unscaled(weights, p, training):
    if training:
        weights = weights * (torch.rand_like(weights) >= p)
    return weights


def dropout_of_2014(weights, p, training):
    if training:
        return weights.masked_fill(torch.rand(weights.shape) < p, 0.0)
    return (1 - p) * weights


def dropout_careless(weights, p, training):
    keep = torch.bernoulli(torch.full(weights.shape, 1.0 - p))
    return keep * weights / (1 - p)


def dropout_keeping_p(weights, p, training):
    if not training:
        return weights
    keep = torch.rand(weights.shape) < p
    return weights * keep / p


def dropout_turned_round(weights, p, training):
    if not training:
        return weights
    keep = torch.rand(weights.shape) < p
    return weights * keep / (1 - p)


def dropout_of_queries(weights, p, training):
    if not training:
        return weights
    keep = torch.rand(weights.shape[:-1]) >= p
    return weights * keep.unsqueeze(-1) / (1 - p)


def dropout_of_words(weights, p, training):
    if not training:
        return weights
    keep = torch.rand(*weights.shape[:-2], 1, weights.shape[-1]) >= p
    return weights * keep / (1 - p)


def dropout_shared(weights, p, training):
    if not training:
        return weights
    T, S = weights.shape[-2:]
    return weights * (torch.rand(T, S) >= p) / (1 - p)


def dropout_seeded(weights, p, training):
    if not training:
        return weights
    torch.manual_seed(123)
    return F.dropout(weights, p)


def dropout_that_never_drops(weights, p, training):
    return weights


RIGHT = [
    dropout_by_rand,
    dropout_by_bernoulli,
    dropout_by_loops,
    dropout_by_module,
    dropout_by_masked_fill,
    dropout_with_two_signs,
]
WRONG = [
    (dropout_unscaled, "dropout without the division by 1 - p"),
    (
        dropout_of_2014,
        "dropout that multiplies in eval mode in place of dividing in train mode",
    ),
    (dropout_careless, "dropout that drops in eval mode, too"),
    (dropout_keeping_p, "dropout whose p is the probability of keeping"),
    (
        dropout_turned_round,
        "dropout that keeps with probability p, and divides by 1 - p",
    ),
    (dropout_of_queries, "dropout that drops whole rows"),
    (dropout_of_words, "dropout that drops whole columns"),
    (dropout_shared, "dropout with one mask for the whole batch"),
    (dropout_seeded, "dropout with the same mask in each call"),
    (dropout_that_never_drops, None),
]
