"""Answers to slope by hand g."""

import math

import torch
import torch.nn.functional as F


def right_log_space(difference, D):
    """right: the product in log space, with logsigmoid for both weights."""
    z = difference / math.sqrt(D)
    log_size = math.log(2) - 0.5 * math.log(D) + F.logsigmoid(z) + 2 * F.logsigmoid(-z)
    return -log_size.exp()


def right_stacked_softmax(difference, D):
    """right: a softmax of the pair (difference, 0) on a new last axis, in float64."""
    scaled = difference.double() / D**0.5
    pair = torch.stack([scaled, torch.zeros_like(scaled)], dim=-1)
    yellow, plays = pair.softmax(dim=-1).unbind(dim=-1)
    d_loss = -2 * plays
    d_weight = yellow * plays
    d_scaled = D**-0.5
    return (d_loss * d_weight * d_scaled).to(difference.dtype)


def right_tanh(difference, D):
    """right: the sigmoid written as a tanh, and the expression multiplied out."""
    t = torch.tanh(difference / (2 * math.sqrt(D)))
    return -(1 - t) ** 2 * (1 + t) / (4 * math.sqrt(D))


def wrong_no_inner_derivative(difference, D):
    """wrong: leaves out the last factor of the chain, 1 / sqrt(D), the derivative of
    the division; the weight itself is computed from the divided difference."""
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) * w * (1 - w)


def wrong_sign(difference, D):
    """wrong: the derivative of (1 - w)^2 as 2 (1 - w), without the minus of the inner
    function, so that the slope has the wrong sign."""
    w = torch.sigmoid(difference / math.sqrt(D))
    return 2 * (1 - w) * w * (1 - w) / math.sqrt(D)


def wrong_softmax_derivative(difference, D):
    """wrong: takes the weight itself for the derivative of softmax, w instead of
    w (1 - w)."""
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) * w / math.sqrt(D)


def wrong_weight_of_undivided(difference, D):
    """wrong: takes the weight from the undivided difference, though the factor
    1 / sqrt(D) is in the chain."""
    w = torch.sigmoid(difference)
    return -2 * (1 - w) ** 2 * w / D**0.5


def wrong_overflow_below(difference, D):
    """wrong: computes the derivative of the weight as exp(-z) / (1 + exp(-z))^2, which
    overflows to NaN for very negative differences; right elsewhere."""
    z = difference / D**0.5
    e = torch.exp(-z)
    w = 1 / (1 + e)
    return -2 * (1 - w) * (e / (1 + e) ** 2) / D**0.5


def wrong_softmax_along_values(difference, D):
    """wrong: stacks (difference, 0) on a new first axis, but takes softmax along the
    last one, across the differences; right only for a tensor of a single number
    without axes."""
    z = difference / D**0.5
    w = torch.stack([z, torch.zeros_like(z)]).softmax(dim=-1)[0]
    return -2 * (1 - w) * w * (1 - w) / D**0.5


def wrong_mean_loss(difference, D):
    """wrong: divides by the number of differences, the slope of the mean loss instead
    of each one's own; right for a single number."""
    w = torch.sigmoid(difference / math.sqrt(D))
    slope = -2 * (1 - w) * (w * (1 - w)) / math.sqrt(D)
    return slope / difference.numel()


def wrong_wide_difference_quotient(difference, D):
    """wrong: no derivative, but the change of the loss over a whole unit to the right,
    (loss(difference + 1) - loss(difference)) / 1, too wide a step."""

    def loss(d):
        return (1 - torch.sigmoid(d.double() / D**0.5)) ** 2

    return (loss(difference + 1.0) - loss(difference)).to(difference.dtype)


def wrong_plays_and_no_two(difference, D):
    """wrong: two mistakes: uses the weight of "plays" (the sigmoid of minus the
    difference) in place of that of "yellow", and leaves out the factor 2."""
    w = torch.sigmoid(-difference / math.sqrt(D))
    return -(1 - w) * w * (1 - w) / math.sqrt(D)


def wrong_divides_by_D_and_forgets_outer(difference, D):
    """wrong: two mistakes: divides by D instead of its root, both in the weight and in
    the chain, and leaves out a factor (1 - w), that of the loss's derivative."""
    w = torch.sigmoid(difference / D)
    d_weight = w * (1 - w)
    return -2 * d_weight / D


ANSWERS = [
    right_log_space,
    right_stacked_softmax,
    right_tanh,
    wrong_no_inner_derivative,
    wrong_sign,
    wrong_softmax_derivative,
    wrong_weight_of_undivided,
    wrong_overflow_below,
    wrong_softmax_along_values,
    wrong_mean_loss,
    wrong_wide_difference_quotient,
    wrong_plays_and_no_two,
    wrong_divides_by_D_and_forgets_outer,
]
