"""Answers to one slope in three steps: slope."""

import math

import torch


def right_three_factors(difference, D):
    """right: the three slopes multiplied, with sigmoid for the weight and for the rest."""
    root = math.sqrt(D)
    weight = torch.sigmoid(difference / root)
    rest = torch.sigmoid(-difference / root)
    of_loss = -2 * rest
    of_softmax = weight * rest
    of_division = 1 / root
    return of_loss * of_softmax * of_division


def right_softmax_of_two(difference, D):
    """right: a real softmax over the pair (difference, 0), in float64 inside; cast back for floating inputs."""
    d = difference.double() / D**0.5
    w = torch.softmax(torch.stack((d, torch.zeros_like(d)), dim=-1), dim=-1)
    yellow, plays = w.unbind(-1)
    out = -2.0 * yellow * plays.square() / D**0.5
    return out.to(difference.dtype) if difference.is_floating_point() else out.float()


def right_number_by_number(difference, D):
    """right: plain Python for each number, only exponentials of numbers at most 0, reshaped at the end."""

    def one(d):
        z = d / math.sqrt(D)
        e = math.exp(-abs(z))
        w, u = (1 / (1 + e), e / (1 + e)) if z >= 0 else (e / (1 + e), 1 / (1 + e))
        return -2 * u * (w * u) / math.sqrt(D)

    kind = difference.dtype if difference.is_floating_point() else torch.float32
    flat = [one(d) for d in difference.flatten().tolist()]
    return torch.tensor(flat, dtype=kind, device=difference.device).reshape(difference.shape)


def wrong_division_has_no_slope(difference, D):
    """wrong: divides by sqrt(D) on the way forward, but leaves its slope 1/sqrt(D) out of the product."""
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) * w * (1 - w)


def wrong_sign(difference, D):
    """wrong: forgets the minus of the inner derivative of 1 - weight, so the sign is wrong."""
    s = D ** 0.5
    weight = torch.sigmoid(difference / s)
    dloss = 2 * (1 - weight)
    dweight = weight * (1 - weight)
    return dloss * dweight / s


def wrong_softmax_has_no_slope(difference, D):
    """wrong: leaves the slope of softmax, weight (1 - weight), out of the product."""
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) / math.sqrt(D)


def wrong_weight_in_the_loss(difference, D):
    """wrong: takes -2 weight as the loss's slope in place of -2 (1 - weight)."""
    root_d = torch.sqrt(torch.tensor(float(D)))
    p = (difference / root_d).sigmoid()
    return (-2 * p) * (p * (1 - p)) * (1 / root_d)


def wrong_whole_root(difference, D):
    """wrong: takes the root rounded down to a whole number (math.isqrt); right where D is a square."""
    r = math.isqrt(D)
    z = difference / r
    return -2 * torch.sigmoid(-z) ** 2 * torch.sigmoid(z) / r


def wrong_single_number_gets_axis(difference, D):
    """wrong: makes at least one axis, so for a tensor of a single number without axes the result has shape (1,); right for all other shapes."""
    z = torch.atleast_1d(difference) / math.sqrt(D)
    w = torch.sigmoid(z)
    return -2 * (1 - w) ** 2 * w / math.sqrt(D)


def wrong_exp_overflows(difference, D):
    """wrong: computes the weight as exp(z) / (1 + exp(z)), which is nan (inf / inf) for differences in the thousands."""
    e = torch.exp(difference / D**0.5)
    weight = e / (1 + e)
    return -2 * (1 - weight) * weight * (1 - weight) / D**0.5


def wrong_clamped(difference, D):
    """wrong: clamps the divided difference to -8..8 against overflow, so the slope far below doesn't go to 0 but stops at that of -8."""
    z = (difference / math.sqrt(D)).clamp(-8.0, 8.0)
    w = 1 / (1 + torch.exp(-z))
    return -2 * w * (1 - w) ** 2 / math.sqrt(D)


def wrong_no_2_and_divided_by_D(difference, D):
    """wrong: two mistakes: forgets the 2 of the square's derivative, and divides by D in place of sqrt(D), forwards and in the slope."""
    weight = torch.sigmoid(difference / D)
    return -(1 - weight) * weight * (1 - weight) / D


ANSWERS = [
    right_three_factors,
    right_softmax_of_two,
    right_number_by_number,
    wrong_division_has_no_slope,
    wrong_sign,
    wrong_softmax_has_no_slope,
    wrong_weight_in_the_loss,
    wrong_whole_root,
    wrong_single_number_gets_axis,
    wrong_exp_overflows,
    wrong_clamped,
    wrong_no_2_and_divided_by_D,
]
