import math
import torch
import torch.nn.functional as F


def right_1(weights, p, training):
    """right: bernoulli and torch.where"""
    if training:
        keep = torch.bernoulli(torch.full_like(weights, 1 - p)).bool()
        return torch.where(keep, weights / (1 - p), torch.zeros_like(weights))
    return weights.clone()


def right_2(weights, p, training):
    """right: masked_fill on a scaled copy"""
    out = weights.clone()
    if not training or p == 0:
        return out
    drop = torch.rand(weights.shape) < p
    out = out.masked_fill(drop, 0.0)
    return out * (1 / (1 - p))


def wrong_1(weights, p, training):
    """wrong: still divides in eval mode"""
    if training:
        keep = torch.rand(weights.shape) >= p
        weights = weights * keep
    return weights / (1 - p)


def wrong_2(weights, p, training):
    """wrong: one draw per column still shared by rows"""
    if not training:
        return weights
    keep = torch.rand(weights.shape[-1]) >= p
    return weights * keep / (1 - p)


def wrong_3(weights, p, training):
    """wrong: in place"""
    if not training:
        return weights
    weights *= torch.rand(weights.shape) >= p
    return weights / (1 - p)


def wrong_4(weights, p, training):
    """wrong: keeps with probability p, drops with 1-p"""
    if not training:
        return weights
    keep = torch.rand_like(weights) < p
    return weights * keep / (1 - p)


def wrong_5(weights, p, training):
    """wrong: forgets to rescale by 1/(1-p)"""
    if not training:
        return weights
    keep = (torch.rand_like(weights) >= p).float()
    return weights * keep


def wrong_6(weights, p, training):
    """wrong: divides each row by the sum of the remaining weights, in place of 1 - p"""
    if not training:
        return weights
    kept = weights * (torch.rand_like(weights) >= p)
    return kept / kept.sum(dim=-1, keepdim=True)


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
