"""Answers to slope by hand a."""

import math

import torch
import torch.nn.functional as F


def right_number_by_number(difference, D):
    """right: a loop over all numbers with math.exp of negative numbers only, three derivatives multiplied."""
    out = []
    for d in difference.reshape(-1).tolist():
        z = d / math.sqrt(D)
        e = math.exp(-abs(z))
        if z >= 0:
            yellow, plays = 1 / (1 + e), e / (1 + e)
        else:
            yellow, plays = e / (1 + e), 1 / (1 + e)
        step1 = -2 * plays
        step2 = yellow * plays
        step3 = 1 / math.sqrt(D)
        out.append(step1 * step2 * step3)
    return torch.tensor(out, dtype=difference.dtype).reshape(difference.shape)


def right_softmax_of_two(difference, D):
    """right: softmax over the stacked scores (difference / sqrt(D), 0), then the chain rule."""
    z = difference / math.sqrt(D)
    pair = torch.stack([z, torch.zeros_like(z)], dim=-1).softmax(dim=-1)
    w, rest = pair[..., 0], pair[..., 1]
    return -2 * rest * (w * rest) / math.sqrt(D)


def right_in_logarithms(difference, D):
    """right: adds the logarithms of the factors by logsigmoid and takes exp at the end."""
    z = difference * D**-0.5
    log_size = F.logsigmoid(z) + 2 * F.logsigmoid(-z)
    return -2 * D**-0.5 * log_size.exp()


def wrong_sign(difference, D):
    """wrong: forgets the minus sign of the inner derivative of (1 - weight)."""
    w = torch.sigmoid(difference / math.sqrt(D))
    dloss_dw = 2 * (1 - w)
    dw_dz = w * (1 - w)
    return dloss_dw * dw_dz / math.sqrt(D)


def wrong_chain_without_root(difference, D):
    """wrong: forgets the last derivative, the factor 1/sqrt(D) of the division (the weight itself is computed with it)."""
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) * w * (1 - w)


def wrong_chain_without_softmax(difference, D):
    """wrong: forgets the derivative of softmax, weight (1 - weight)."""
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) / math.sqrt(D)


def wrong_other_word(difference, D):
    """wrong: takes the weight of "plays" (softmax of minus the difference) where the weight of "yellow" belongs, in all three factors."""
    w = torch.sigmoid(-difference / math.sqrt(D))
    return -2 * (1 - w) * (w * (1 - w)) / math.sqrt(D)


def wrong_weight_of_undivided(difference, D):
    """wrong: computes the weight from the undivided difference, only the chain rule has the 1/sqrt(D); right for D = 1."""
    w = torch.sigmoid(difference)
    return -2 * (1 - w) * w * (1 - w) / math.sqrt(D)


def wrong_exp_overflows(difference, D):
    """wrong: weight as exp(z) / (exp(z) + 1), which is inf / inf = nan for large positive differences."""
    z = difference / math.sqrt(D)
    w = torch.exp(z) / (torch.exp(z) + 1)
    return -2 * (1 - w) * w * (1 - w) / math.sqrt(D)


def wrong_mean_of_losses(difference, D):
    """wrong: divides by the number of differences, as if the loss were the mean over all of them; right for a single number."""
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) ** 2 * w / math.sqrt(D) / difference.numel()


def wrong_clamped_difference(difference, D):
    """wrong: clamps the undivided difference to -10 .. 10 first, so for larger ones it gives the slope at 10 or -10."""
    z = difference.clamp(min=-10, max=10) / math.sqrt(D)
    w = 1 / (1 + torch.exp(-z))
    return -2 * (1 - w) * w * (1 - w) / math.sqrt(D)


def wrong_no_two_and_by_D(difference, D):
    """wrong: two mistakes, the factor 2 of the square is forgotten, and the last factor is 1/D in place of 1/sqrt(D)."""
    w = torch.sigmoid(difference / math.sqrt(D))
    return -(1 - w) * w * (1 - w) / D


ANSWERS = [
    right_number_by_number,
    right_softmax_of_two,
    right_in_logarithms,
    wrong_sign,
    wrong_chain_without_root,
    wrong_chain_without_softmax,
    wrong_other_word,
    wrong_weight_of_undivided,
    wrong_exp_overflows,
    wrong_mean_of_losses,
    wrong_clamped_difference,
    wrong_no_two_and_by_D,
]
