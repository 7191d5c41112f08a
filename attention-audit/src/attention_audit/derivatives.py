"""Gradients held against what small steps of parameters and tokens change."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from attention_audit.subject import Precision, Subject, context_of, number

MOST_TOKENS = 6
COARSEST = 1e-6  # rounding: in 16 bits, no step is small
# How far steps go, and what may differ. The last where the others are mere rounding,
# the first where nothing is computed in float32.
STEPS = (
    ((1e-5, 2e-5, 5e-6), 1e-3),
    ((1e-3, 2e-3, 5e-4), 3e-3),
    ((1e-2, 2e-2, 4e-3), 1e-2),
)
FINE = 1e-9  # rounding in float64, not in float32


class Slope(NamedTuple):
    """A gradient along a direction, and what steps along it change."""

    name: str
    told: float
    steps: tuple[float, ...]
    allowed: float


def gradients_of_steps(subject: Subject) -> str:
    """Where a gradient isn't what steps in both directions change; or "".

    In float64, on a few tokens; in eval mode, and in train mode with one seed. Steps of
    three sizes must agree, or nothing is said: behind a corner there is no gradient.
    """
    if subject.forward_only or subject.half:
        return ""
    for training in (False, True):
        for slope in _slopes(subject, training):
            near = slope.steps[0]
            size = max(abs(near), abs(slope.told))
            if abs(slope.told - near) > 10 * slope.allowed * size:
                mode = "in train mode, " if training else ""
                return (
                    f"{mode}the gradient of {slope.name} isn't what small steps "
                    f"change: {number_with_sign(slope.told)} along one, and "
                    f"{number_with_sign(near)} comes"
                )
    return ""


def number_with_sign(value: float) -> str:
    return f"{'-' if value < 0 else ''}{number(abs(value))}"


def _slopes(subject: Subject, training: bool) -> list[Slope]:
    """For x and each parameter, a Slope; only what isn't lost in rounding."""
    module = subject.copy().double().train(training)
    x = subject.x(min(subject.T, MOST_TOKENS), seed=4).double().requires_grad_()
    seen = Precision()
    with torch.no_grad(), seen:
        shape = context_of(module, x).shape
    generator = torch.Generator().manual_seed(5)

    def random(shape: torch.Size) -> Tensor:
        return torch.randn(shape, generator=generator).double().to(x.device)

    direction = random(shape)

    def value() -> Tensor:
        return (context_of(module, x) * direction).sum()

    def again() -> Tensor:
        module.train()  # some keep a table of parameters until the mode changes
        module.train(training)
        return value()

    with torch.no_grad():
        if seen.coarsest > COARSEST or value() != value():
            return []
    named: list[tuple[str, Tensor]] = [("x", x)]
    named += [(n, p) for n, p in module.named_parameters() if p.requires_grad]
    gradients = torch.autograd.grad(
        value(), [one for _, one in named], allow_unused=True
    )
    found = []
    for (name, one), gradient in zip(named, gradients, strict=True):
        if gradient is None:
            continue
        along = random(one.shape)
        told = (gradient * along).sum().item()
        for sizes, allowed in STEPS if seen.coarsest < FINE else STEPS[1:]:
            steps = tuple(_stepped(again, one, along, size) for size in sizes)
            if max(steps) - min(steps) <= allowed * max(map(abs, steps)):
                found.append(Slope(name, told, steps, allowed))
                break
    largest = max((abs(one.steps[0]) for one in found), default=0.0)
    return [
        one for one in found if max(abs(one.told), abs(one.steps[0])) > 1e-3 * largest
    ]


@torch.no_grad()
def _stepped(
    value: Callable[[], Tensor], one: Tensor, along: Tensor, size: float
) -> float:
    """How fast a value changes along a direction."""
    kept = one.clone()
    ends = []
    for sign in (1, -1):
        one.copy_(kept + sign * size * along)
        ends.append(value().item())
    one.copy_(kept)
    return (ends[0] - ends[1]) / (2 * size)
