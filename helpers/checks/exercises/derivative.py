"""Exercise of chapter 3: the derivative of a loss by a difference of two scores."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _differences():
    generator = torch.Generator().manual_seed(3)

    def case(name, difference, D):
        return Case(name, {"difference": difference, "D": D})

    return [
        case("one difference, D = 4", torch.tensor(-2.0), 4),
        case("both scores are equal", torch.tensor([0.0]), 9),
        case("from wrong to right, D = 2", torch.tensor([-4.0, -1.0, 1.0, 4.0]), 2),
        case("D = 1", torch.tensor([-3.0, 0.5]), 1),
        case("differences in the thousands", torch.tensor([-4000.0, 0.0, 4000.0]), 4),
        case("a table, D = 64", 8 * torch.randn(5, 7, generator=generator), 64),
    ]


def _steps(difference, D):
    """The weight and the three derivatives."""
    weight = torch.sigmoid(difference / math.sqrt(D))
    return weight, -2 * (1 - weight), weight * (1 - weight), 1 / math.sqrt(D)


def _derivative(difference, D):
    _, loss_by_weight, weight_by_lead, lead_by_difference = _steps(difference, D)
    return loss_by_weight * weight_by_lead * lead_by_difference


def _without_division(difference, D):
    return _derivative(difference, 1)


def _by_the_lead(difference, D):
    return _derivative(difference, D) * math.sqrt(D)


def _without_the_weight(difference, D):
    _, loss_by_weight, _, last = _steps(difference, D)
    return loss_by_weight * last


def _of_the_square(difference, D):
    weight, _, weight_by_lead, last = _steps(difference, D)
    return 2 * weight * weight_by_lead * last


def _of_the_other_word(difference, D):
    return -_of_the_square(difference, D)


def _by_undivided(difference, D):
    return _without_division(difference, D) / math.sqrt(D)


def _of_the_mean(difference, D):
    return _derivative(difference, D) / difference.numel()


def _overflowing(difference, D):
    exponential = (difference / math.sqrt(D)).exp()
    weight = exponential / (1 + exponential)
    return -2 * (1 - weight) * weight * (1 - weight) / math.sqrt(D)


EXERCISE = Exercise(
    name="derivative",
    stub="my_derivative(difference, D)",
    asks=(
        "a function of differences of two scores (...) and a width D that returns the "
        "derivative of (1 - weight)² with respect to each difference, where weight is "
        "softmax's for the first of two scores that differ by difference / √D."
    ),
    returns={"derivative": "(...)"},
    reference=_derivative,
    cases=_differences,
    mistakes=(
        Mistake(
            "a difference cut off before it is used",
            lambda difference, D: _derivative(difference.clamp(-10, 10), D),
            "Beyond the limits the derivative is that of another difference. Nothing "
            "needs cutting: torch.sigmoid doesn't overflow.",
        ),
        Mistake(
            "a derivative without the 2, and divided by D",
            lambda difference, D: _derivative(difference * D**-0.5, D) * D**-0.5 / 2,
            "The derivative of a square has the factor 2; and the difference is "
            "divided by the square root of D, forwards and backwards.",
        ),
        Mistake(
            "the derivative with respect to the lead",
            _by_the_lead,
            "Two of the three derivatives are there. The lead is the difference "
            "divided by the root of D, so the lead's own derivative is 1 / √D.",
        ),
        Mistake(
            "the right size with the other sign",
            lambda difference, D: -_derivative(difference, D),
            "When the difference grows, the weight of the right word grows and the "
            "loss falls. So the derivative is negative.",
        ),
        Mistake(
            "a chain without softmax",
            _without_the_weight,
            "The lead moves the weight, and how much depends on where softmax stands: "
            "weight (1 - weight) is missing from the product.",
        ),
        Mistake(
            "weight where 1 - weight belongs",
            _of_the_other_word,
            "The loss's derivative is -2 (1 - weight), with the weight of the word "
            "that the difference speaks for, sigmoid(difference / √D). Yours is what "
            "-2 weight gives; so does the other word's weight, taken everywhere.",
        ),
        Mistake(
            "a weight from the undivided difference",
            _by_undivided,
            "The last of the three derivatives, 1 / √D, is there, but the weight is "
            "softmax's for the difference divided by √D.",
        ),
        Mistake(
            "the derivative of the mean of all losses",
            _of_the_mean,
            "Each difference has a loss of its own: nothing is to be divided by how "
            "many there are.",
        ),
        Mistake(
            "an exponential that overflows",
            _overflowing,
            "In float32, the exponential of a number above 89 is infinite, and "
            "infinity over infinity is not a number. torch.sigmoid survives any size.",
        ),
    ),
)
