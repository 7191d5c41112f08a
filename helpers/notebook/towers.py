"""A figure of layers as boxes on top of each other, in two towers or more."""

from collections.abc import Mapping, Sequence

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch

from helpers.notebook.picture import INK, STYLE, Picture
from helpers.notebook.plotting import COLOURS

ROW, COLUMN = 0.46, 3.1  # of a step, in inches
HALF, HIGH = 1.15, 0.6  # of a box: half its width, and its height in parts of a row
SIDE = 1.45  # how far left the residual stream passes the boxes
SUM = "+"


def towers(steps: Mapping[str, Sequence[str]], *, title: str) -> Picture:
    """Draw what happens to a vector, from the bottom up, once for each tower.

    A "+" is where the residual stream, which passes the boxes on the left, has what
    they made added to it. A box that isn't the same in all towers is framed in colour,
    with its words in bold.

    Args:
        steps: a dict from the name of a tower to its steps, as many for each. A step
            is what stands in its box, "+", or "" where the tower has none.
        title: the title.

    Returns:
        picture: a ``Picture`` whose text alternative lists the steps of each tower.

    Raises:
        ValueError: fewer than two towers, towers of different height, or a "+" that
            isn't one in all of them.
    """
    heights = {len(one) for one in steps.values()}
    if len(steps) < 2 or len(heights) != 1:
        raise ValueError(
            "steps must hold at least two towers of one height, got "
            f"{ {name: len(one) for name, one in steps.items()} }"
        )
    rows = list(zip(*steps.values(), strict=True))
    for row, labels in enumerate(rows):
        if SUM in labels and len({*labels}) > 1:
            raise ValueError(f'"+" must stand in all towers or in none, step {row}')
    told = "; ".join(
        f"{name}: {', '.join(step for step in one if step)}"
        for name, one in steps.items()
    )
    different = [len({*labels}) > 1 for labels in rows]
    picture = Picture(
        f"{title}. From the bottom up. {told}",
        (COLUMN * len(steps), ROW * (len(rows) + 2)),
    )
    with matplotlib.style.context(["default", STYLE]):
        axes = picture.subplots()
        for place, (name, one) in enumerate(steps.items()):
            centre = place * COLUMN
            _draw_tower(axes, centre, one, different)
            axes.text(centre, len(rows) + 0.2, name, ha="center", weight="bold")
        axes.set_xlim(-SIDE - 0.15, COLUMN * (len(steps) - 1) + HALF + 0.15)
        axes.set_ylim(-1.1, len(rows) + 0.7)
        axes.axis("off")
        axes.set_title(title)
    return picture


def _draw_tower(
    axes: Axes, centre: float, steps: Sequence[str], different: Sequence[bool]
) -> None:
    """The boxes of one tower, the arrows between them, and the stream beside them."""
    top, begin = -0.9, -0.7  # of what is drawn so far, and where the stream leaves
    for row, step in enumerate(steps):
        if not step:
            continue
        radius = 0.22 if step == SUM else HIGH / 2
        _draw_arrow(axes, centre, top, row - radius)
        if step == SUM:
            axes.add_patch(Circle((centre, row), 0.22, fill=False, edgecolor=INK))
            xs = (centre, centre - SIDE, centre - SIDE, centre - 0.24)
            axes.plot(xs, (begin, begin, row, row), color=INK, lw=1.1)
            begin = row + 0.32
        else:
            _draw_box(axes, centre, row, marked=different[row])
        weight = "bold" if different[row] else "normal"
        axes.text(
            *(centre, row - 0.03, step),
            weight=weight,
            ha="center",
            va="center",
            fontsize=9.5,
        )
        top = row + radius
    _draw_arrow(axes, centre, top, len(steps) - 0.1)


def _draw_box(axes: Axes, centre: float, row: int, *, marked: bool) -> None:
    colour = COLOURS["keys"] if marked else COLOURS["masked"]
    axes.add_patch(
        FancyBboxPatch(
            (centre - HALF, row - HIGH / 2),
            *(2 * HALF, HIGH),
            boxstyle="round,pad=0,rounding_size=0.1",
            facecolor="none",
            edgecolor=colour,
            linewidth=2.2 if marked else 1.0,
        )
    )


def _draw_arrow(axes: Axes, centre: float, low: float, high: float) -> None:
    arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (centre, high), (centre, low), arrowprops=arrow)
