"""Answers to inverted_dropout by hand d."""

import math

import numpy as np
import torch


def right_one_line(weights, p, training):
    """right: keeps where a uniform number is >= p, divided by 1 - p; in eval mode weights are returned as they are."""
    return weights * (torch.rand(weights.shape, device=weights.device) >= p) / (1 - p) if training else weights


def right_exponential_clock(weights, p, training):
    """right: an exponential waiting time is at least -ln(1 - p) with probability 1 - p; the others become 0 by where; eval mode gives a copy."""
    if not training:
        return weights.clone()
    stays = torch.empty(weights.shape, device=weights.device).exponential_() >= -math.log1p(-p)
    return torch.where(stays, weights / (1 - p), 0.0)


def right_numpy_binomial(weights, p, training):
    """right: NumPy draws 0 or 1 with chance 1 - p of a 1 for each weight; in eval mode the chance is 1 and the divisor 1."""
    kept = 1 - p * bool(training)
    coins = np.random.binomial(1, kept, size=tuple(weights.shape))
    return weights * torch.from_numpy(coins).to(weights) / kept


def keeps_the_dropped(weights, p, training):
    """wrong: the mask is inverted, a weight stays with probability p (rand < p); the divisor 1 - p is right."""
    if not training:
        return weights
    return weights * (torch.rand_like(weights) < p) / (1 - p)


def never_scaled(weights, p, training):
    """wrong: the weights that stay are not divided by 1 - p."""
    return torch.where(torch.rand_like(weights) >= p, weights, 0.0) if training else weights


def always_on(weights, p, training):
    """wrong: ignores `training`, drops in eval mode as well."""
    return weights * torch.bernoulli(torch.full_like(weights, 1 - p)) / (1 - p)


def in_place(weights, p, training):
    """wrong: masks and scales `weights` itself in place (the returned values are right, but the argument is changed)."""
    if training:
        weights.mul_(torch.rand_like(weights) >= p).div_(1 - p)
    return weights


def whole_rows(weights, p, training):
    """wrong: draws one number for each row, (..., T, 1), so that all the weights of a row are dropped or kept together; each weight by itself has the right probability."""
    if not training:
        return weights
    return weights * (torch.rand(*weights.shape[:-1], 1) >= p) / (1 - p)


_DRAWN = {}


def drawn_once(weights, p, training):
    """wrong: the mask is drawn in the first call with a shape and p, and kept for all later calls, so always the same weights are dropped."""
    if not training:
        return weights
    mask = _DRAWN.setdefault((tuple(weights.shape), p), torch.rand(weights.shape) >= p)
    return weights * mask / (1 - p)


def ten_sided_die(weights, p, training):
    """wrong: throws a ten-sided die, so the probability of dropping is p rounded to tenths (0.05 becomes 0, 0.25 becomes 0.2); right for p in whole tenths."""
    if not training:
        return weights
    return weights * (torch.randint(10, weights.shape) >= round(10 * p)) / (1 - p)


def divided_by_what_was_kept(weights, p, training):
    """wrong: divides by the share that was really kept in this call, not by 1 - p, so the scale changes from call to call (and is 0 / 0 where none was kept)."""
    if not training:
        return weights
    m = (torch.rand_like(weights) >= p).to(weights)
    return weights * m / m.mean()


def keep_prob(weights, p, training):
    """wrong: two mistakes, p is taken as the probability of keeping in the mask (stays with probability p) and in the divisor (divides by p, not by 1 - p); right for p = 0.5."""
    if not training:
        return weights
    return weights * torch.bernoulli(torch.full_like(weights, p)) / p


ANSWERS = [
    right_one_line, right_exponential_clock, right_numpy_binomial,
    keeps_the_dropped, never_scaled, always_on, in_place,
    whole_rows, drawn_once, ten_sided_die, divided_by_what_was_kept, keep_prob,
]
