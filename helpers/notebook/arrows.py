"""A figure of vectors in the plane, drawn as arrows."""

from collections.abc import Mapping, Sequence

import matplotlib.style
import torch
from matplotlib.axes import Axes
from torch import Tensor

from helpers.notebook.picture import STYLE, Picture
from helpers.notebook.plotting import COLOURS

Arrows = Mapping[str, Tensor | Sequence[float]]
ROLES = {"query": "queries", "key": "keys", "value": "values"}
WIDE = 3.0  # of a panel's plane, in inches
WIDTHS = (5.5, 2.0)  # in points; of two that point the same way, both are seen


def arrows(
    panels: Sequence[Arrows],
    *,
    title: Sequence[str],
    axes: Sequence[Sequence[str]],
    decimals: int = 0,
) -> Picture:
    """Draw vectors of two numbers as arrows from the origin, one panel below another.

    All panels have one scale, so that the lengths can be compared, too.
    They are narrow enough for a phone.

    Args:
        panels: for each panel, a dict from each arrow's name to its two numbers. A
            name that begins with "query", "key" or "value" has that role's colour.
        title: a title for each panel.
        axes: for each panel, what its two numbers are.
        decimals: digits after the point in the text alternative.

    Returns:
        picture: a ``Picture`` whose text alternative holds the numbers.

    Raises:
        ValueError: no panel, a vector that doesn't hold two numbers, or titles and
            axes that don't count the panels.
    """
    if not panels or not len(panels) == len(title) == len(axes):
        raise ValueError(
            f"panels, title and axes must be of one length above 0, got {len(panels)}, "
            f"{len(title)} and {len(axes)}"
        )
    numbers = [
        {name: _two_numbers(name, vector) for name, vector in panel.items()}
        for panel in panels
    ]
    parts = []
    for panel, heading, (x_axis, y_axis) in zip(numbers, title, axes, strict=True):
        listed = "; ".join(
            f"{name}: {x_axis} {x:z.{decimals}f}, {y_axis} {y:z.{decimals}f}"
            for name, (x, y) in panel.items()
        )
        parts.append(f"{heading}. Arrows from the origin. {listed}")
    tips = [both for panel in numbers for both in panel.values()]
    (left, right), (bottom, top) = (_limits(side) for side in zip(*tips, strict=True))
    high = min(WIDE, WIDE * (top - bottom) / (right - left))
    picture = Picture(". ".join(parts), (WIDE + 0.6, (high + 0.8) * len(panels)))
    with matplotlib.style.context(["default", STYLE]):
        drawn = picture.subplots(len(panels), 1, squeeze=False)[:, 0]
        for one, panel, heading, (x_axis, y_axis) in zip(
            drawn, numbers, title, axes, strict=True
        ):
            _draw(one, panel)
            one.set_xlim(left, right)
            one.set_ylim(bottom, top)
            one.set_title(heading)
            one.set_xlabel(x_axis)
            one.set_ylabel(y_axis)
    return picture


def _two_numbers(name: str, vector: Tensor | Sequence[float]) -> tuple[float, float]:
    numbers = torch.as_tensor(vector).detach().cpu().float()
    if tuple(numbers.shape) != (2,):
        raise ValueError(f"{name} must have shape (2,), got {tuple(numbers.shape)}")
    x, y = numbers.tolist()
    return x, y


def _limits(tips: Sequence[float]) -> tuple[float, float]:
    """Of an axis: the origin, one unit and the tips, and room for the names."""
    low, high = min(0.0, *tips), max(1.0, *tips)
    return 1.15 * low - 0.7, 1.1 * high + 0.9


def _draw(axes: Axes, panel: Mapping[str, tuple[float, float]]) -> None:
    """The arrows of a panel, the longest below, and their names at the tips."""
    flat = 0
    longest_first = sorted(panel.items(), key=lambda one: -max(map(abs, one[1])))
    for place, (name, (x, y)) in enumerate(longest_first):
        colour = COLOURS[ROLES.get(name.split()[0], "masked")]
        axes.annotate(
            "",
            (x, y),
            (0, 0),
            arrowprops={
                "arrowstyle": "-|>,head_width=0.3,head_length=0.6",
                "color": colour,
                "linewidth": WIDTHS[min(place, 1)] if len(panel) > 2 else WIDTHS[1],
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        up = abs(y) >= abs(x)
        above, flat = flat % 2 == 0, flat + (not up)
        axes.annotate(
            name,
            (x, y),
            (9, -4) if up else (0, 11 if above else -13),
            textcoords="offset points",
            ha="left" if up else "center",
            va="center",
        )
    axes.axhline(0, color=COLOURS["masked"], linewidth=0.6)
    axes.axvline(0, color=COLOURS["masked"], linewidth=0.6)
    axes.locator_params(integer=True)
    axes.set_aspect("equal")
