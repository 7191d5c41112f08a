"""What an experiment shows: text, numbers, tables, bars and curves, as plain data."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from helpers.views.view import Table

MOST_CURVES = 4
Part = dict[str, Any]
Frame = list[Part]


@dataclass(frozen=True)
class Line:
    """A curve, or several over the same points.

    Args:
        x: N numbers, at least two, in the order in which they are joined.
        y: N numbers, or a dict from each curve's name to its N numbers, at most four
            curves. A number that isn't finite leaves a gap.
        x_axis: label with the unit.
        y_axis: label with the unit.
        log_x: whether the x axis is logarithmic.
        y_limit: where the y axis ends; what is larger is drawn there. None: it holds
            all.
    """

    x: Sequence[float] | Tensor
    y: Sequence[float] | Tensor | Mapping[str, Sequence[float] | Tensor]
    x_axis: str
    y_axis: str
    log_x: bool = False
    y_limit: float | None = None


def parts_of(result: object, name: str, decimals: int) -> Frame:
    """Turn what a function returned into the parts of a frame.

    Args:
        result: a string, a number, a Table, a dict from labels to numbers, a Line, or a
            list of these. A tensor of one number counts as a number.
        name: the function's, for errors.
        decimals: digits after the point of floating-point numbers.

    Returns:
        parts: a list of dicts of plain values.

    Raises:
        ValueError: a result of anything else.
    """
    results = result if isinstance(result, (list, tuple)) else [result]
    if not results:
        raise ValueError(f"the result of {name} must hold something, got {result!r}")
    return [_part(one, f"the result of {name}", decimals) for one in results]


def on_one_scale(frames: Sequence[Frame]) -> list[Frame]:
    """Give bars and curves the same axes in every frame, so that frames compare.

    Args:
        frames: for each frame the list of its parts, from ``parts_of``.

    Returns:
        frames: the same with axes, ready for a view's state.
    """
    columns = itertools.zip_longest(*frames)  # the same part of every frame
    scaled = zip(*map(_scale, columns), strict=True)
    return [[part for part in frame if part is not None] for frame in scaled]


def summary(part: Part) -> list[tuple[str, str]]:
    """Pairs of a part's names and texts, for one row of a table; a table has none."""
    if part["kind"] in ("text", "number"):
        return [("shown", part["text"])]
    if part["kind"] == "bars":
        return list(zip(part["names"], part["texts"], strict=True))
    return [
        (f"{curve['name']}, {end}", text)
        for curve in part.get("curves", ())
        for end, text in zip(("first", "last"), curve["ends"], strict=True)
    ]


def table_of(part: Part) -> Table:
    """The Table that a part was made from; its cells are texts."""
    return Table(part["caption"], part["cells"], part["columns"], part["rows"])


# --- from what a function returned ----------------------------------------------------


def _part(value: object, what: str, decimals: int) -> Part:
    if isinstance(value, str):
        return {"kind": "text", "text": value}
    if isinstance(value, Table):
        return _table(value)
    if isinstance(value, dict):
        return _bars(value, what, decimals)
    if isinstance(value, Line):
        return _curves(value, what, decimals)
    kinds = "a string, a number, a Table, a dict of numbers, a Line, or a list of these"
    return {"kind": "number", "text": _written(_number(value, what, kinds), decimals)}


def _table(table: Table) -> Part:
    def written(values: Sequence[object]) -> list[str]:
        return [_written(one, table.decimals) for one in values]

    return {
        "kind": "table",
        "caption": table.caption,
        "cells": [written(row) for row in table.cells],
        "columns": None if table.columns is None else written(table.columns),
        "rows": None if table.rows is None else written(table.rows),
    }


def _bars(numbers: Mapping[object, object], what: str, decimals: int) -> Part:
    values = [_number(one, f"{what} at {key!r}") for key, one in numbers.items()]
    names = [str(name) for name in numbers]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"{what} must have distinct labels, got {list(numbers)}")
    texts = [_written(one, decimals) for one in values]
    return {"kind": "bars", "names": names, "values": values, "texts": texts}


def _curves(line: Line, what: str, decimals: int) -> Part:
    series = line.y if isinstance(line.y, dict) else {line.y_axis: line.y}
    if not 1 <= len(series) <= MOST_CURVES:
        raise ValueError(
            f"{what} must be a Line with 1 to {MOST_CURVES} curves, got {len(series)}"
        )
    x = _numbers(line.x, f"{what}, a Line, in its x")
    if line.log_x and not all(number > 0 for number in x):
        raise ValueError(f"{what} must be a Line with positive x for log_x, got {x}")
    if len(x) < 2 or not all(map(math.isfinite, x)) or len(set(x)) < 2:
        raise ValueError(f"{what} must be a Line with finite x that differ, got {x}")
    curves = []
    for name, y in series.items():
        y = _numbers(y, f"{what}, a Line, in its y")
        if len(y) != len(x):
            raise ValueError(
                f"{what} must be a Line with one y for each x, got {len(x)} x and "
                f"{len(y)} y"
            )
        ends = [_written(y[0], decimals), _written(y[-1], decimals)]
        if line.y_limit is not None:
            y = [min(number, line.y_limit) for number in y]
        curves.append({"name": str(name), "y": y, "ends": ends})
    axes = {"x_axis": line.x_axis, "y_axis": line.y_axis, "log_x": line.log_x}
    return {"kind": "line", "x": x, "curves": curves, "decimals": decimals, **axes}


def _numbers(values: object, what: str) -> list[float]:
    values = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(values, (list, tuple, range)):
        raise ValueError(f"{what} must hold numbers, got {type(values).__name__}")
    return [_number(value, what) for value in values]


def _number(value: object, what: str, kinds: str = "a number") -> float:
    plain = value.tolist() if hasattr(value, "tolist") else value  # a tensor of one
    if isinstance(plain, bool) or not isinstance(plain, (int, float)):
        raise ValueError(f"{what} must be {kinds}, got {type(value).__name__}")
    return plain


def _written(value: object, decimals: int) -> str:
    # "z" turns a rounded negative zero into zero.
    return f"{value:z.{decimals}f}" if isinstance(value, float) else str(value)


# --- on one scale ---------------------------------------------------------------------


def _scale(parts: Sequence[Part | None]) -> Iterator[Part | None]:
    """The same part of every frame, with axes that hold all of them."""
    bars = [part for part in parts if part and part["kind"] == "bars"]
    lines = [part for part in parts if part and part["kind"] == "line"]
    wide = _reach(part["values"] for part in bars)
    high = _reach(curve["y"] for part in lines for curve in part["curves"])
    along = [_along(number, part) for part in lines for number in part["x"]]
    for part in parts:
        if part is not None and part["kind"] == "bars":
            yield {**part, "values": _finite(part["values"]), "reach": wide}
        elif part is not None and part["kind"] == "line":
            yield _drawn(part, high, min(along), max(along))
        else:
            yield part


def _reach(rows: Iterable[Sequence[float]]) -> list[float]:
    """The smallest and the largest number, with zero among them."""
    numbers = [x for row in rows for x in row if math.isfinite(x)]
    low, high = min([0, *numbers]), max([0, *numbers])
    return [low, high if high > low else low + 1]


def _finite(numbers: Sequence[float]) -> list[float | None]:
    return [number if math.isfinite(number) else None for number in numbers]


def _along(number: float, part: Part) -> float:
    return math.log(number) if part["log_x"] else number


def _drawn(part: Part, reach: list[float], start: float, end: float) -> Part:
    """A line whose x are whole numbers from 0 to 10,000, which need no decimals."""
    places = [
        round(10_000 * (_along(number, part) - start) / (end - start))
        for number in part["x"]
    ]
    edges = (math.exp(start), math.exp(end)) if part["log_x"] else (start, end)
    return {
        "kind": "line",
        "x_axis": part["x_axis"],
        "y_axis": part["y_axis"],
        "x_ends": [f"{edge:.6g}" for edge in edges],
        "from_to": [f"{part['x'][place]:.6g}" for place in (0, -1)],
        "y_ends": [_written(edge, part["decimals"]) for edge in reach],
        "reach": reach,
        "places": places,
        "curves": [{**one, "y": _finite(one["y"])} for one in part["curves"]],
    }
