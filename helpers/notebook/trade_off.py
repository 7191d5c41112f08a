"""What is gained on one side against what is lost on another, a point for each run."""

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping

import matplotlib.style

from helpers.notebook.picture import INK, STYLE, Picture
from helpers.notebook.plotting import LINE_STYLES

Point = tuple[float, float]


def trade_off(
    series: Mapping[str, Iterable[Iterable[Point]]],
    *,
    title: str,
    x_axis: str,
    y_axis: str,
    start: tuple[str, Point],
    within: tuple[Point, Point] | None = None,
    decimals: int = 2,
) -> Picture:
    """Draw runs as points, and a line through the means of settings that follow.

    Args:
        series: a dict from each name to its settings in order, such as learning rates:
            of each setting the runs, such as seeds, as pairs of x and y. At most four.
        title: the title.
        x_axis: label of what is better further left, with the unit.
        y_axis: label of what is better further down, with the unit.
        start: the name of a point to compare with, and that point.
        within: the ends of x and those of y that are shown; all where left out.
        decimals: digits after the point in the text alternative.

    Returns:
        picture: a ``Picture`` whose text alternative gives each setting's means.

    Raises:
        ValueError: no series or more than four, or a setting without finite points.
    """
    drawn = {
        name: [[(float(x), float(y)) for x, y in runs] for runs in settings]
        for name, settings in series.items()
    }
    if not 1 <= len(drawn) <= len(LINE_STYLES):
        raise ValueError(
            f"series must hold 1 to {len(LINE_STYLES)} names, got {len(drawn)}"
        )
    for name, settings in drawn.items():
        for runs in settings or [[]]:
            if not runs or not all(map(math.isfinite, itertools.chain(*runs))):
                raise ValueError(
                    f"series must hold finite points, got {runs} in {name!r}"
                )
    means = {
        name: [(_mean(runs, 0), _mean(runs, 1)) for runs in settings]
        for name, settings in drawn.items()
    }
    parts = [
        f"{name}: " + ", ".join(_said(place, decimals) for place in places)
        for name, places in ({start[0]: [start[1]]} | means).items()
    ]
    picture = Picture(
        f"{title}. {y_axis} at {x_axis}, means of runs. {'; '.join(parts)}", (6.4, 4.4)
    )
    with matplotlib.style.context(["default", STYLE]):
        axes = picture.subplots()
        for (name, settings), (colour, marker, line) in zip(
            drawn.items(), LINE_STYLES, strict=False
        ):
            axes.plot(*zip(*means[name], strict=True), line, color=colour, alpha=0.6)
            everything = zip(*itertools.chain(*settings), strict=True)
            axes.plot(*everything, marker, color=colour, label=name, markersize=5)
        axes.plot(*start[1], "*", color=INK, markersize=11)
        axes.annotate(
            start[0], start[1], xytext=(8, -3), textcoords="offset points", fontsize=9
        )
        if within is not None:
            axes.set_xlim(*within[0])
            axes.set_ylim(*within[1])
        axes.set_title(title)
        axes.set_xlabel(f"{x_axis} (← better)")
        axes.set_ylabel(f"{y_axis} (← better)")
        axes.grid(alpha=0.25)
        axes.legend(frameon=False)
    return picture


def _mean(runs: list[Point], side: int) -> float:
    return statistics.fmean(point[side] for point in runs)


def _said(place: Point, decimals: int) -> str:
    x, y = place
    return f"{y:z.{decimals}f} at {x:z.{decimals}f}"
