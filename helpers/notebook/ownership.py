"""A figure of which process holds what, a row for each way to divide the work."""

from collections.abc import Mapping

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from torch import Tensor

from helpers.notebook.picture import INK, STYLE, Picture

EVERYONE = -1
# Of the palette, what stands for nothing else in the book; the last is left white.
FILLS = ("#E69F00", "#56B4E9", "#F0E442", "none")
STRENGTH = 0.4  # how opaque a fill is, so that the number in it is read
CELL = 0.19  # inches, so that three grids of four fit a phone


def ownership(ways: Mapping[str, Mapping[str, Tensor]], *, title: str) -> Picture:
    """Draw parts of a computation as grids whose cells tell who holds them.

    Args:
        ways: a dict from each way to divide the work to its parts: a dict from names,
            the same for all ways, to (rows, columns) tensors of whole numbers: the
            process that holds the cell, 0 to 3, or ``EVERYONE`` in all cells.
        title: the title.

    Returns:
        picture: a ``Picture`` whose text alternative says for each part whose rows,
            columns or cells are whose.

    Raises:
        ValueError: no way, ways with other parts, a part that is no matrix, or one that
            belongs to anybody else.
    """
    if not ways:
        raise ValueError("ways must hold at least one way, got none")
    first, names = next((way, list(parts)) for way, parts in ways.items())
    for way, parts in ways.items():
        if list(parts) != names:
            raise ValueError(f"{way} must have the parts {names}, got {list(parts)}")
        for name, owners in parts.items():
            _require_owners(f"{name} of {way}", owners)
    told = [
        f"{way}: " + "; ".join(f"{name}, {_told(one)}" for name, one in parts.items())
        for way, parts in ways.items()
    ]
    told = [" ".join(one.split()) for one in told]  # names may take two lines
    shapes = [parts[name].shape for parts in ways.values() for name in names]
    tall, wide = (max(shape[axis] for shape in shapes) for axis in (0, 1))
    picture = Picture(
        f"{title}. {'. '.join(told)}",
        (
            0.45 + len(names) * (wide * CELL + 0.1),
            0.7 + len(ways) * (tall * CELL + 0.15),
        ),
    )
    with matplotlib.style.context(["default", STYLE]):
        grid = picture.subplots(len(ways), len(names), squeeze=False)
        for panels, (way, parts) in zip(grid, ways.items(), strict=True):
            for axes, (name, owners) in zip(panels, parts.items(), strict=True):
                _draw(axes, owners)
                axes.set_xlim(-0.05, wide + 0.05)
                axes.set_ylim(tall + 0.05, -0.05)
                axes.set_title(name if way == first else "")
            middle = {"ha": "right", "va": "center", "transform": panels[0].transAxes}
            panels[0].text(-0.1, 0.5, way, rotation=90, **middle)
        picture.suptitle(title)
    return picture


def _require_owners(name: str, owners: Tensor) -> None:
    if owners.dim() != 2 or not owners.numel():
        raise ValueError(f"{name} must be (rows, columns), got {tuple(owners.shape)}")
    found = sorted(set(owners.flatten().tolist()))
    if found != [EVERYONE] and not set(found) <= set(range(len(FILLS))):
        raise ValueError(
            f"{name} must belong to processes 0 to {len(FILLS) - 1}, or all of it to "
            f"EVERYONE, got {found}"
        )


def _told(owners: Tensor) -> str:
    """Whose a part's rows or columns are, or each of its cells."""
    if (owners == EVERYONE).all():
        return "everyone has all of it"
    if (owners == owners[:, :1]).all():
        return f"rows of processes {_listed(owners[:, 0])}"
    if (owners == owners[:1]).all():
        return f"columns of processes {_listed(owners[0])}"
    return "cells of processes " + " / ".join(_listed(row) for row in owners)


def _listed(owners: Tensor) -> str:
    return " ".join(str(one) for one in owners.tolist())


def _draw(axes: Axes, owners: Tensor) -> None:
    """Fills and numbers of the cells, and lines between them."""
    rows, columns = owners.shape
    for owner, fill in enumerate(FILLS):
        cells = [(column, row) for row, column in (owners == owner).nonzero().tolist()]
        if cells and fill != "none":
            path = Path.make_compound_path(*map(_square, cells))
            axes.add_patch(PathPatch(path, color=fill, alpha=STRENGTH, linewidth=0))
        for column, row in cells:
            axes.text(column + 0.5, row + 0.5, f"{owner}", ha="center", va="center")
    divided = owners[0, 0] != EVERYONE
    if not divided:
        axes.text(columns / 2, rows / 2, "everyone", ha="center", va="center")
    across = range(rows + 1) if divided else (0, rows)
    down = range(columns + 1) if divided else (0, columns)
    lines = [((0, row), (columns, row)) for row in across]
    lines += [((column, 0), (column, rows)) for column in down]
    axes.add_collection(LineCollection(lines, colors=INK, linewidths=0.6))
    axes.set_aspect("equal")
    axes.set_axis_off()


def _square(corner: tuple[int, int]) -> Path:
    """A square of side 1, from its corner that is nearest to the origin."""
    unit = Path.unit_rectangle()
    return Path(np.add(unit.vertices, corner), unit.codes)
