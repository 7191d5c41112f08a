"""The derivative of a loss by a difference of two scores."""

import math

import torch


def derivative_in_steps(difference, D):
    weight = torch.sigmoid(difference / math.sqrt(D))
    by_weight = -2 * (1 - weight)
    by_lead = weight * (1 - weight)
    return by_weight * by_lead / math.sqrt(D)


def derivative_in_one_line(difference, D):
    w = (difference * D**-0.5).sigmoid()
    return -2 * w * (1 - w) ** 2 * D**-0.5


def derivative_by_softmax(difference, D):
    scores = torch.stack([difference, torch.zeros_like(difference)], dim=-1)
    right, wrong = (scores / D**0.5).softmax(dim=-1).unbind(dim=-1)
    return -2 * wrong * right * wrong / D**0.5


def derivative_by_autograd(difference, D):
    leaf = difference.clone().requires_grad_()
    with torch.enable_grad():
        loss = (1 - torch.sigmoid(leaf / math.sqrt(D))) ** 2
        (derivative,) = torch.autograd.grad(loss.sum(), leaf)
    return derivative


def derivative_from_the_wrong_word(difference, D):
    plays = torch.sigmoid(-difference / math.sqrt(D))
    return -2 * plays * plays * (1 - plays) / math.sqrt(D)


def derivative_in_double(difference, D):
    x = difference.double() / math.sqrt(D)
    w = 1 / (1 + (-x.clamp(-700, 700)).exp())
    return (2 * (w - 1) * w * (1 - w) / math.sqrt(D)).float()


def stops_at_the_lead(difference, D):
    w = torch.sigmoid(difference / D**0.5)
    return -2 * (1 - w) * w * (1 - w)


def forgets_the_minus(difference, D):
    w = torch.sigmoid(difference / math.sqrt(D))
    return 2 * (1 - w) * w * (1 - w) / math.sqrt(D)


def skips_softmax(difference, D):
    w = torch.sigmoid(difference / math.sqrt(D))
    return -2 * (1 - w) / math.sqrt(D)


def overflows(difference, D):
    powers = torch.exp(difference / math.sqrt(D))
    w = powers / (powers + 1)
    return -2 * (1 - w) ** 2 * w / math.sqrt(D)


def takes_the_logarithm(difference, D):
    # The derivative of -ln(weight): another loss.
    w = torch.sigmoid(difference / math.sqrt(D))
    return -(1 - w) / math.sqrt(D)


RIGHT = [
    derivative_in_steps,
    derivative_in_one_line,
    derivative_by_softmax,
    derivative_by_autograd,
    derivative_from_the_wrong_word,
    derivative_in_double,
]
WRONG = [
    (stops_at_the_lead, "the derivative with respect to the lead"),
    (forgets_the_minus, "the right size with the other sign"),
    (skips_softmax, "a chain without softmax"),
    (overflows, "an exponential that overflows"),
    (takes_the_logarithm, None),
]
