"""A slider through a training run: the loss, and the attention map beside it."""

import math
import numbers
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from helpers import validation
from helpers.views.view import Table, View


def training_scrubber(
    steps: Iterable[int],
    losses: Iterable[float],
    maps: Tensor | Sequence[Tensor],
    tokens: Sequence[str],
) -> View:
    """Go through a training run: its loss at each step, and how the weights changed.

    The view shows the map that was kept nearest to the step. Numbers have two decimals,
    as trained numbers differ between devices.

    Args:
        steps: M step numbers, rising; the maps were kept after as many steps.
        losses: N losses in nats, one for each step from 0.
        maps: (M, T, T), or M tensors (T, T): the weights of one head.
        tokens: T names.

    Returns:
        view: a View.

    Raises:
        ValueError: another number of maps, names or losses, maps of another shape,
            steps that don't rise from 0 to N at most, weights or losses that aren't
            finite.

    Source: chapter 8.
    """
    steps, maps = list(steps), _stacked(maps)
    tokens, losses = [str(token) for token in tokens], _numbers(losses)
    validation.require_integers(**{"the number of losses": len(losses)})
    _require_steps(steps, len(maps), len(losses))
    if len(tokens) != maps.shape[-1]:
        raise ValueError(f"tokens must hold {maps.shape[-1]} names, got {len(tokens)}")
    rows = [[step, losses[min(step, len(losses) - 1)]] for step in steps]
    return View(
        "training_scrubber",
        "The training run",
        {
            "steps": [int(step) for step in steps],
            "losses": losses,
            "maps": maps.tolist(),
            "tokens": tokens,
        },
        [
            Table("The loss", rows, columns=["step", "loss"], decimals=2),
            Table(
                f"The weights after step {steps[-1]}",
                maps[-1].tolist(),
                columns=tokens,
                rows=tokens,
                decimals=2,
            ),
        ],
        decimals=2,
    )


def _stacked(maps: Tensor | Sequence[Tensor]) -> Tensor:
    for one in maps:
        validation.require_tensor("each of maps", one)
    shapes = sorted({validation.shape_of(one) for one in maps})
    if len(shapes) != 1 or len(shapes[0]) != 2 or shapes[0][0] != shapes[0][1]:
        raise ValueError(f"maps must be tensors of one shape (T, T), got {shapes}")
    maps = torch.stack([one.detach().float().cpu() for one in maps])
    if not maps.isfinite().all():
        raise ValueError("maps must hold finite weights")
    return maps


def _numbers(losses: Iterable[float]) -> list[float]:
    losses = [float(loss) for loss in losses]
    if not all(map(math.isfinite, losses)):
        raise ValueError("losses must be finite")
    return losses


def _require_steps(steps: list[int], maps: int, losses: int) -> None:
    whole = all(isinstance(step, numbers.Integral) for step in steps)
    rising = steps == sorted(set(steps))
    if not whole or not rising or len(steps) != maps:
        raise ValueError(
            f"steps must hold {maps} rising whole numbers, one for each map, "
            f"got {steps}"
        )
    if steps[0] < 0 or steps[-1] > losses:
        raise ValueError(f"steps must lie from 0 to {losses}, got {steps}")
