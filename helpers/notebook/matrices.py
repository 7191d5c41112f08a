"""A figure of a computation: its matrices with their numbers, row by row of steps."""

from collections.abc import Mapping, Sequence

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from helpers.notebook.picture import STYLE, Picture
from helpers.notebook.plotting import COLOURS

CELL, GAP = 0.52, 1.15  # in inches: a number's width, and what labels need
HEIGHT, HEAD = 0.27, 0.75
STRONGEST = 0.7


def matrices(
    steps: Sequence[Mapping[str, Tensor]],
    *,
    rows: Sequence[str],
    columns: Mapping[str, Sequence[str]],
    roles: Mapping[str, str],
    bold: str = "",
    decimals: int = 2,
) -> Picture:
    """Draw the matrices of a computation, each step's side by side, steps downwards.

    Args:
        steps: for each step, a dict from titles to matrices (T, N).
        rows: T labels, which hold for every matrix.
        columns: from titles to N labels.
        roles: from titles to "queries", "keys", "values", "weights" or "neutral".
        bold: the row whose numbers are bold.
        decimals: digits after the point, left out where a matrix holds whole numbers.

    Returns:
        picture: a ``Picture`` whose text alternative holds the numbers of that row,
            or of all where no row is bold.

    Raises:
        ValueError: no step, or labels that don't count a matrix's rows or columns.
    """
    shapes = {
        title: tuple(matrix.shape) for step in steps for title, matrix in step.items()
    }
    wanted = {title: (len(rows), len(columns.get(title, ()))) for title in shapes}
    if not shapes or shapes != wanted:
        raise ValueError(f"matrices must have the shapes {wanted}, got {shapes}")
    wide = 0.1 + max(
        sum(CELL * matrix.shape[1] + GAP for matrix in step.values()) for step in steps
    )
    tall = HEIGHT * len(rows) + HEAD
    told = [
        f"{title}. "
        + "; ".join(
            f"{row}: {', '.join(_texts(matrix, decimals)[i])}"
            for i, row in enumerate(rows)
            if bold in ("", row)
        )
        for step in steps
        for title, matrix in step.items()
    ]
    picture = Picture(". ".join(told), (wide, tall * len(steps)))
    picture.set_layout_engine("none")
    with matplotlib.style.context(["default", STYLE]):
        axes = picture.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, wide)
        axes.set_ylim(tall * len(steps), 0)
        axes.axis("off")
        for down, step in enumerate(steps):
            left = 0.0
            for title, matrix in step.items():
                left += GAP
                _draw(
                    axes,
                    _texts(matrix, decimals),
                    matrix / matrix.abs().max().clamp(min=1e-9),
                    (left, tall * down + HEAD - 0.08),
                    (title, rows, columns[title]),
                    COLOURS[roles[title]],
                    bold,
                )
                left += CELL * matrix.shape[1]
    return picture


def _texts(matrix: Tensor, decimals: int) -> list[list[str]]:
    whole = bool((matrix == matrix.round()).all())
    return [
        [f"{number:z.{0 if whole else decimals}f}" for number in row]
        for row in matrix.tolist()
    ]


def _draw(
    axes: Axes,
    texts: list[list[str]],
    shades: Tensor,
    corner: tuple[float, float],
    labels: tuple[str, Sequence[str], Sequence[str]],
    colour: str,
    bold: str,
) -> None:
    """One matrix, whose first number's cell begins at the corner."""
    (left, top), (title, rows, columns) = corner, labels
    middle = left + CELL * len(columns) / 2
    axes.text(middle, top - 0.42, title, ha="center", fontsize=11)
    for j, column in enumerate(columns):
        axes.text(left + CELL * (j + 0.5), top - 0.1, column, ha="center", fontsize=7.5)
    for i, (row, line) in enumerate(zip(rows, texts, strict=True)):
        weight = "bold" if row == bold else "normal"
        y = top + HEIGHT * (i + 0.5)
        axes.text(
            left - 0.08, y, row, ha="right", va="center", fontsize=9, weight=weight
        )
        for j, text in enumerate(line):
            cell = Rectangle(
                (left + CELL * j + 0.01, y - HEIGHT / 2 + 0.01),
                CELL - 0.02,
                HEIGHT - 0.02,
                linewidth=0,
                facecolor=colour,
                alpha=STRONGEST * float(shades[i, j].abs()) + 0.04,
            )
            axes.add_patch(cell)
            x = left + CELL * (j + 0.5)
            axes.text(x, y, text, ha="center", va="center", fontsize=8.5, weight=weight)
