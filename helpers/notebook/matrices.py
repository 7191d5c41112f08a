"""A figure of a computation: its matrices with their numbers, row by row of steps."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from helpers.notebook.picture import STYLE, Picture
from helpers.notebook.plotting import COLOURS

# In inches: a number's width, what the rows' labels need, and what parts two matrices.
CELL, LABELS, GAP = 0.42, 0.7, 0.16
HEIGHT, HEAD = 0.27, 0.65
STRONGEST = 0.7


def matrices(
    steps: Sequence[Mapping[str, Tensor]],
    *,
    rows: Sequence[str],
    columns: Mapping[str, Sequence[str]],
    roles: Mapping[str, str],
    title: str = "",
    bold: str = "",
    decimals: int = 2,
) -> Picture:
    """Draw the matrices of a computation, each step's side by side, steps downwards.

    A number that is NaN leaves its cell empty.

    Args:
        steps: for each step, a dict from titles to matrices (T, N).
        rows: T labels, which hold for every matrix.
        columns: from titles to N labels.
        roles: from titles to "queries", "keys", "values", "weights" or "neutral".
        title: what stands above them all.
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
    wide = LABELS + max(
        sum(CELL * matrix.shape[1] + GAP for matrix in step.values()) for step in steps
    )
    tall = HEIGHT * len(rows) + HEAD
    above = 0.25 if title else 0.0
    high = tall * len(steps) + above
    styles: list[dict[str, Any]] = [
        {"fontsize": 9, "fontweight": "bold" if row == bold else "normal"}
        for row in rows
    ]
    told = [
        f"{name}. "
        + "; ".join(
            f"{row}: {', '.join(filter(None, texts))}"
            for row, texts in zip(rows, _texts(matrix, decimals), strict=True)
            if bold in ("", row) and any(texts)
        )
        for step in steps
        for name, matrix in step.items()
    ]
    picture = Picture(". ".join([title, *told] if title else told), (wide, high))
    picture.set_layout_engine("none")
    with matplotlib.style.context(["default", STYLE]):
        axes = picture.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, wide)
        axes.set_ylim(high, 0)
        axes.axis("off")
        axes.text(wide / 2, 0.2, title, ha="center", fontsize=11)
        for down, step in enumerate(steps):
            left, top = LABELS, above + tall * down + HEAD - 0.08
            for i, row in enumerate(rows):
                y = top + HEIGHT * (i + 0.5)
                axes.text(left - 0.08, y, row, ha="right", va="center", **styles[i])
            for name, matrix in step.items():
                _draw(
                    axes,
                    _texts(matrix, decimals),
                    matrix / matrix.nan_to_num().abs().max().clamp(min=1e-9),
                    (left, top),
                    (name, columns[name]),
                    COLOURS[roles[name]],
                    styles,
                )
                left += CELL * matrix.shape[1] + GAP
    return picture


def _texts(matrix: Tensor, decimals: int) -> list[list[str]]:
    places = 0 if matrix.nan_to_num().frac().eq(0).all() else decimals
    return [
        ["" if math.isnan(number) else f"{number:z.{places}f}" for number in row]
        for row in matrix.tolist()
    ]


def _draw(
    axes: Axes,
    texts: list[list[str]],
    shades: Tensor,
    corner: tuple[float, float],
    labels: tuple[str, Sequence[str]],
    colour: str,
    styles: Sequence[Mapping[str, Any]],
) -> None:
    """One matrix, whose first number's cell begins at the corner."""
    (left, top), (title, columns) = corner, labels
    middle = left + CELL * len(columns) / 2
    axes.text(middle, top - 0.32, title, ha="center", fontsize=10)
    for j, column in enumerate(columns):
        axes.text(left + CELL * (j + 0.5), top - 0.1, column, ha="center", fontsize=7)
    for i, (line, style) in enumerate(zip(texts, styles, strict=True)):
        y = top + HEIGHT * (i + 0.5)
        for j, text in enumerate(line):
            if not text:
                continue
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
            axes.text(x, y, text, ha="center", va="center", **style)
