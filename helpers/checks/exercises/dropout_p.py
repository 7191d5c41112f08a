"""Exercise of chapter 5: the probability that a layer hands to a function."""

import torch
from torch import nn

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_any_number


class Layer(nn.Module):
    """A layer that has a mode and a probability, and does nothing else."""

    def __init__(self, p):
        super().__init__()
        self.p = p


def _modes():
    def case(name, p, *modes, gradients=True):
        return Case(name, {"p": p, "modes": list(modes), "gradients": gradients})

    return [
        case("train mode", 0.1, "train"),
        case("eval mode", 0.1, "eval"),
        case("train mode, then eval mode, then train mode", 0.2, *TRAINING_RUN),
        case("train mode, without gradients", 0.1, "train", gradients=False),
        case("eval mode, with gradients", 0.3, "eval"),
        case("p = 0", 0.0, "train", "eval"),
    ]


TRAINING_RUN = ("train", "eval", "train")


def _ask(function, p, modes, gradients):
    """What it says in each mode, and what has become of the layer."""
    layer = Layer(p)
    said = {}
    for number, mode in enumerate(modes, start=1):
        layer.train(mode == "train")
        with torch.set_grad_enabled(gradients):
            said[f"{number}. in {mode} mode"] = call_for_any_number(function, layer)
        said[f"{number}. layer.p afterwards"] = layer.p
    return said


def _zeroes_for_good(layer):
    if not layer.training:
        layer.p = 0.0
    return layer.p


EXERCISE = Exercise(
    name="dropout_p",
    stub="my_dropout_p(layer)",
    asks=(
        "a function of a layer with a probability ``p`` and a mode ``training`` that "
        "returns the probability with which it drops in this mode, and leaves the "
        "layer as it is."
    ),
    returns={"p": "a number"},
    reference=lambda layer: layer.p if layer.training else 0.0,
    cases=_modes,
    run=_ask,
    mistakes=(
        Mistake(
            "a probability that ignores the mode",
            lambda layer: layer.p,
            "It drops in eval mode, too: nobody gets the same answer twice. Ask "
            "layer.training.",
        ),
        Mistake(
            "a layer that never drops again after it was in eval mode",
            _zeroes_for_good,
            "It writes 0 into layer.p, and nothing brings the old number back when "
            "training goes on. Return 0 and leave the layer as it is.",
        ),
        Mistake(
            "a probability that asks for gradients in place of the mode",
            lambda layer: layer.p if torch.is_grad_enabled() else 0.0,
            "torch.no_grad and the mode have nothing to do with each other: a layer "
            "may be measured with gradients, and be in train mode without them.",
        ),
        Mistake(
            "a probability that drops in eval mode and not in train mode",
            lambda layer: 0.0 if layer.training else layer.p,
            "layer.training is True in train mode, and that is when weights are "
            "dropped.",
        ),
        Mistake(
            "the probability of keeping",
            lambda layer: 1 - layer.p if layer.training else 1.0,
            "dropout_p is the probability of dropping a weight. In eval mode it is 0.",
        ),
    ),
)
