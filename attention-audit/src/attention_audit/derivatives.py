"""Gradients held against what small steps of parameters and tokens change."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from attention_audit.subject import Precision, Subject, context_of, number

MOST_TOKENS = 6
# For the coarsest number in a call: how far a step goes, and what may differ.
STEPS = {torch.float64: (1e-5, 1e-3), torch.float32: (1e-2, 5e-2)}


class Slope(NamedTuple):
    """A gradient along a direction, and what steps along it change."""

    name: str
    told: float
    steps: tuple[float, float]


def gradients_of_steps(subject: Subject) -> str:
    """Where a gradient isn't what steps in both directions change; or "".

    In float64, on a few tokens; in eval mode, and in train mode with one seed. Steps of
    two sizes must agree, or nothing is said: behind a corner there is no gradient.
    """
    if subject.forward_only or subject.half:
        return ""
    for training in (False, True):
        for slope, allowed in _slopes(subject, training):
            near, far = slope.steps
            size = max(abs(near), abs(far), abs(slope.told))
            if abs(near - far) > allowed * size:
                continue
            if abs(slope.told - near) > 3 * allowed * size:
                mode = "in train mode, " if training else ""
                return (
                    f"{mode}the gradient of {slope.name} isn't what small steps "
                    f"change: {number_with_sign(slope.told)} along one, and "
                    f"{number_with_sign(near)} comes"
                )
    return ""


def number_with_sign(value: float) -> str:
    return f"{'-' if value < 0 else ''}{number(abs(value))}"


def _slopes(subject: Subject, training: bool) -> list[tuple[Slope, float]]:
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

    dtype = next((d for d in STEPS if torch.finfo(d).eps >= seen.coarsest), None)
    with torch.no_grad():
        if dtype is None or value() != value():
            return []
    step, allowed = STEPS[dtype]
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
        steps = [_stepped(value, one, along, size) for size in (step, 2 * step)]
        found.append(Slope(name, told, (steps[0], steps[1])))
    largest = max((abs(one.steps[0]) for one in found), default=0.0)
    return [
        (one, allowed)
        for one in found
        if max(abs(one.told), abs(one.steps[0])) > 1e-3 * largest
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
