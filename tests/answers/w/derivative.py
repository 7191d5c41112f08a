import math

import torch


def slope_chain(difference, D):
    """right: three derivatives, of the loss, of the sigmoid and of the division, multiplied."""
    weight = torch.sigmoid(difference / math.sqrt(D))
    d_loss = -2 * (1 - weight)
    d_weight = weight * (1 - weight)
    d_scaled = 1 / math.sqrt(D)
    return d_loss * d_weight * d_scaled


def slope_two_scores(difference, D):
    """right: softmax over two stacked scores, the second one 0, then the product of the derivatives."""
    z = difference * D ** -0.5
    both = torch.softmax(torch.stack([z, torch.zeros_like(z)]), dim=0)
    yellow, plays = both[0], both[1]
    return -2.0 * yellow * plays ** 2 * D ** -0.5


def slope_no_division(difference, D):
    """wrong: forgets the third derivative, 1 over the root of D; shows for every D but 1."""
    weight = torch.sigmoid(difference / math.sqrt(D))
    dloss_dweight = -2 * (1 - weight)
    dweight_dscore = weight * (1 - weight)
    return dloss_dweight * dweight_dscore


def slope_positive(difference, D):
    """wrong: forgets the inner derivative -1 of (1 - weight), so the sign is wrong."""
    scaled = difference / D ** 0.5
    w = torch.sigmoid(scaled)
    step1 = 2 * (1 - w)
    step2 = w * (1 - w)
    step3 = 1 / D ** 0.5
    return step1 * step2 * step3


def slope_exp(difference, D):
    """wrong: writes the weight as e^z / (e^z + 1), which gives inf / inf = NaN for differences in the thousands."""
    z = torch.exp(difference / math.sqrt(D))
    w = z / (z + 1)
    return -2 * (1 - w) * w * (1 - w) / math.sqrt(D)


def slope_softmax_over_all(difference, D):
    """wrong: applies softmax along the last axis of the differences, as if they competed with each other, instead of against a score of 0."""
    scaled = difference / math.sqrt(D)
    weight = torch.softmax(scaled, dim=-1)
    return -2 * (1 - weight) * weight * (1 - weight) / math.sqrt(D)


def slope_autograd_mean(difference, D):
    """wrong: lets PyTorch differentiate the mean of the losses, so slopes are too small by the number of differences (right for one)."""
    diff = difference.detach().clone().requires_grad_(True)
    loss = (1 - torch.sigmoid(diff / D ** 0.5)) ** 2
    (slope,) = torch.autograd.grad(loss.mean(), diff)
    return slope


def slope_half_sigmoid(difference, D):
    """wrong: the sigmoid's derivative is written with the scaled difference instead of the weight: z (1 - z)."""
    z = difference / math.sqrt(D)
    weight = torch.sigmoid(z)
    a = -2 * (1 - weight)
    b = z * (1 - z)
    c = 1 / math.sqrt(D)
    return a * b * c


ANSWERS = [
    slope_chain,
    slope_two_scores,
    slope_no_division,
    slope_positive,
    slope_exp,
    slope_softmax_over_all,
    slope_autograd_mean,
    slope_half_sigmoid,
]
