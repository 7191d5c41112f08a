"""The derivative of a loss by a difference of two scores."""

import math

import torch


def slope_in_steps(difference, D):
    weight = torch.sigmoid(difference / math.sqrt(D))
    by_weight = -2 * (1 - weight)
    by_lead = weight * (1 - weight)
    return by_weight * by_lead / math.sqrt(D)


def slope_in_one_line(difference, D):
    w = (difference * D**-0.5).sigmoid()
    return -2 * w * (1 - w) ** 2 * D**-0.5


def slope_by_softmax(difference, D):
    scores = torch.stack([difference, torch.zeros_like(difference)], dim=-1)
    right, wrong = (scores / D**0.5).softmax(dim=-1).unbind(dim=-1)
    return -2 * wrong * right * wrong / D**0.5


def slope_by_autograd(difference, D):
    leaf = difference.clone().requires_grad_()
    with torch.enable_grad():
        loss = (1 - torch.sigmoid(leaf / math.sqrt(D))) ** 2
        (slope,) = torch.autograd.grad(loss.sum(), leaf)
    return slope


def slope_from_the_wrong_word(difference, D):
    plays = torch.sigmoid(-difference / math.sqrt(D))
    return -2 * plays * plays * (1 - plays) / math.sqrt(D)


def slope_in_double(difference, D):
    x = difference.double() / math.sqrt(D)
    w = 1 / (1 + (-x.clamp(-700, 700)).exp())
    return (2 * (w - 1) * w * (1 - w) / math.sqrt(D)).float()


def stops_at_the_lead(difference, D):
    w = torch.sigmoid(difference / D**0.5)
    return -2 * (1 - w) * w * (1 - w)


def forgets_the_division(difference, D):
    w = torch.sigmoid(difference)
    return -2 * (1 - w) * w * (1 - w)


def divides_by_the_width(difference, D):
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) * (w - w**2) / D


def multiplies_by_the_root(difference, D):
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) * (w - w**2) * math.sqrt(D)


def forgets_the_minus(difference, D):
    w = torch.sigmoid(difference / math.sqrt(D))
    return 2 * (1 - w) * w * (1 - w) / math.sqrt(D)


def forgets_the_two(difference, D):
    w = torch.sigmoid(difference / math.sqrt(D))
    return -((1 - w) ** 2) * w / math.sqrt(D)


def adds_up(difference, D):
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) + w * (1 - w) + 1 / math.sqrt(D)


def skips_softmax(difference, D):
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) / math.sqrt(D)


def skips_the_loss(difference, D):
    w = torch.sigmoid(difference / math.sqrt(D))
    return w * (1 - w) / math.sqrt(D)


def squares_the_weight(difference, D):
    w = torch.sigmoid(difference / math.sqrt(D))
    return 2 * w * w * (1 - w) / math.sqrt(D)


def returns_the_loss(difference, D):
    return (1 - torch.sigmoid(difference / math.sqrt(D))).square()


def overflows(difference, D):
    powers = torch.exp(difference / math.sqrt(D))
    w = powers / (powers + 1)
    return -2 * (1 - w) ** 2 * w / math.sqrt(D)


def takes_the_logarithm(difference, D):
    # The derivative of -ln(weight): another loss.
    w = torch.sigmoid(difference / math.sqrt(D))
    return -(1 - w) / math.sqrt(D)


RIGHT = [
    slope_in_steps,
    slope_in_one_line,
    slope_by_softmax,
    slope_by_autograd,
    slope_from_the_wrong_word,
    slope_in_double,
]
WRONG = [
    (stops_at_the_lead, "the derivative with respect to the lead"),
    (forgets_the_division, "a difference that nothing divides"),
    (divides_by_the_width, "a last derivative of 1 / D"),
    (multiplies_by_the_root, "a last derivative of √D"),
    (forgets_the_minus, "the right size with the other sign"),
    (forgets_the_two, "a square without its 2"),
    (adds_up, "three derivatives that are added"),
    (skips_softmax, "a chain without softmax"),
    (skips_the_loss, "a chain without the loss"),
    (squares_the_weight, "the derivative of weight² in place of (1 - weight)²"),
    (returns_the_loss, "the loss in place of its derivative"),
    (overflows, "an exponential that overflows"),
    (takes_the_logarithm, None),
]
