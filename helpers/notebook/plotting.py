"""Figures of the book: heat maps with numbers, weight graphs, bars, curves and dots.

Every function returns a ``Picture``, a matplotlib figure that shows itself when it is
the last line of a cell and carries a text alternative. Colours come from the Okabe-Ito
palette and mean the same everywhere.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.style
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from helpers.notebook.picture import INK, STYLE, Picture

COLOURS = {
    "queries": "#0072B2",
    "keys": "#D55E00",
    "values": "#009E73",
    "weights": "#CC79A7",
    "neutral": "#56B4E9",
    "masked": "#8C8C8C",
}
STRONGEST = 0.85  # how opaque the largest number's cell is, so that the number is read
MOST_TICKS = 10
LINE_STYLES = (
    ("#0072B2", "o", "-"),
    ("#D55E00", "s", "--"),
    ("#009E73", "^", "-."),
    ("#CC79A7", "D", ":"),
)


def heatmap(
    matrix: Tensor | Sequence[Any],
    *,
    title: str | Sequence[str],
    rows: Iterable[object] | None = None,
    columns: Iterable[object] | None = None,
    row_axis: str = "query",
    column_axis: str = "key",
    role: str = "weights",
    mask: Tensor | None = None,
    decimals: int = 2,
    top: float | None = None,
) -> Picture:
    """Draw one matrix, or several beside each other, with its number in every cell.

    Panels stand below each other where they are too wide for a phone.

    Args:
        matrix: (T, S), or (N, T, S) for N panels on one colour scale. Colour runs
            from nothing at zero to the role's colour at the largest magnitude, with
            the opposite colour for the other sign.
        title: one title, or one for each panel.
        rows: T labels.
        columns: S labels.
        row_axis: what the rows are.
        column_axis: what the columns are.
        role: "queries", "keys", "values", "weights" or "neutral".
        mask: (T, S) boolean, True = may attend; other cells are grey and hatched, and
            carry a number only where it is neither 0 nor minus infinity.
        decimals: digits after the point.
        top: the magnitude with the full colour, so that two pictures can be compared;
            where left out, the largest of the matrix.

    Returns:
        picture: a ``Picture`` whose text alternative holds the numbers.

    Raises:
        ValueError: a matrix of another rank, labels that don't count its rows or
            columns, an unknown role, a mask of another shape, or a top that isn't
            above 0 or that a number exceeds.
    """
    panels = _numbers("matrix", matrix, "T, S", "N, T, S")
    panels = panels.reshape(-1, *panels.shape[-2:])
    titles = [title] * len(panels) if isinstance(title, str) else list(title)
    _require_labels("title", titles, len(panels))
    T, S = panels.shape[1:]
    rows, columns = _labels("rows", rows, T), _labels("columns", columns, S)
    _require_role(role)
    allowed = torch.ones(T, S, dtype=torch.bool) if mask is None else mask.cpu()
    if tuple(allowed.shape) != (T, S):
        raise ValueError(f"mask must have shape {(T, S)}, got {tuple(allowed.shape)}")
    visible = panels.masked_fill(~allowed, 0.0)
    finite = visible[visible.isfinite()]
    largest = finite.abs().max().item() if finite.numel() else 0.0
    if top is None:
        top = largest or 1.0
    elif top <= 0 or largest > top:
        raise ValueError(
            f"top must be above 0 and at least the largest number, {largest:g}, "
            f"got {top:g}"
        )

    across = min(len(panels), max(1, 9 // S))
    down = -(-len(panels) // across)
    width = 1.2 + max(S * (0.34 + 0.11 * decimals), 1.6)
    picture = Picture(
        _matrix_alt(panels, titles, rows, columns, decimals),
        (width * across, (1.1 + T * 0.4) * down),
    )
    with matplotlib.style.context(["default", STYLE]):
        grid = list(picture.subplots(down, across, squeeze=False).flat)
        for spare in grid[len(panels) :]:
            spare.axis("off")
        for axes, panel, name in zip(grid, panels, titles, strict=False):
            _draw_cells(axes, panel, allowed, top, role, decimals)
            axes.set_title(name)
            axes.set_xticks(range(S), columns, rotation=0 if S <= 8 else 60)
            axes.set_yticks(range(T), rows)
            axes.set_xlabel(column_axis)
            axes.set_ylabel(row_axis)
    return picture


def weight_graph(
    weights: Tensor | Sequence[Any],
    *,
    queries: Iterable[object],
    keys: Iterable[object],
    title: str,
    query_axis: str = "query",
    key_axis: str = "key",
    least: float = 0.005,
    numbers_of: int | None = None,
) -> Picture:
    """Draw weights as lines from each query to each key: the thicker, the larger.

    Fewer queries than keys stand in the middle of their side.

    Args:
        weights: (T, S), each row summing to 1.
        queries: T labels, on the left.
        keys: S labels, on the right.
        title: the title.
        query_axis: what stands on the left.
        key_axis: what stands on the right.
        least: lines for smaller weights are left out.
        numbers_of: a query whose weights stand beside the keys, with two decimals.

    Returns:
        picture: a ``Picture`` whose text alternative names each query's largest weight.

    Raises:
        ValueError: weights of another rank, labels that don't count them, or
            ``numbers_of`` that is no query.
    """
    weights = _numbers("weights", weights, "T, S")
    T, S = weights.shape
    queries, keys = _labels("queries", queries, T), _labels("keys", keys, S)
    if numbers_of is not None and numbers_of not in range(T):
        raise ValueError(f"numbers_of must be from 0 to {T - 1}, got {numbers_of!r}")
    peaks = [
        f"{query} to {keys[row.argmax()]} {row.max():.2f}"
        for query, row in zip(queries, weights, strict=True)
    ]
    picture = Picture(
        f"{title}. Weight graph; the largest weight of each {query_axis}: "
        + "; ".join(peaks),
        (3.7, 0.8 + 0.42 * max(T, S)),
    )
    with matplotlib.style.context(["default", STYLE]):
        axes = picture.subplots()
        first = max(0, S - T) / 2  # the place of the first query
        for i, row in enumerate(weights.tolist()):
            for j, weight in enumerate(row):
                if weight >= least:
                    axes.plot(
                        [0, 1],
                        [first + i, j],
                        color=COLOURS["weights"],
                        linewidth=0.4 + 7 * weight,
                        alpha=0.5 + 0.5 * weight,
                        solid_capstyle="butt",
                    )
        for side, labels, role, align, top in (
            (0, queries, "queries", "right", first),
            (1, keys, "keys", "left", 0),
        ):
            for place, label in enumerate(labels):
                axes.plot(side, top + place, "o", color=COLOURS[role], markersize=6)
                axes.text(
                    side + (-0.06 if side == 0 else 0.06),
                    top + place,
                    label,
                    ha=align,
                    va="center",
                )
        axes.set_xlim(-0.45, 1.45)
        axes.set_ylim(max(T, S) - 0.5, -1.1)
        if numbers_of is not None:
            axes.set_xlim(-0.45, 1.75)
            axes.text(1.4, -0.75, f"{queries[numbers_of]} gives", style="italic")
            for place, weight in enumerate(weights[numbers_of].tolist()):
                axes.text(1.4, place, f"{weight:.2f}", va="center")
        axes.text(-0.06, -0.75, query_axis, ha="right", style="italic")
        axes.text(1.06, -0.75, key_axis, ha="left", style="italic")
        axes.set_title(title)
        axes.axis("off")
    return picture


def bars(
    values: Tensor | Sequence[Any],
    *,
    labels: Iterable[object],
    title: str | Sequence[str],
    axis: str = "weight",
    role: str = "weights",
    decimals: int = 2,
    stacked: bool = False,
) -> Picture:
    """Draw distributions as bars with their numbers, one panel for each row.

    Args:
        values: (S,) or (N, S), such as N distributions over the same S keys.
        labels: S labels.
        title: one title, or one for each panel.
        axis: what the height is.
        role: "queries", "keys", "values", "weights" or "neutral".
        decimals: digits after the point.
        stacked: panels below each other, each on a scale of its own, such as the
            steps of a computation.

    Returns:
        picture: a ``Picture`` whose text alternative holds the numbers.

    Raises:
        ValueError: values of another rank, labels or titles that don't count them, or
            an unknown role.
    """
    values = _numbers("values", values, "S", "N, S")
    values = values.reshape(-1, values.shape[-1])
    titles = [title] * len(values) if isinstance(title, str) else list(title)
    _require_labels("title", titles, len(values))
    labels = _labels("labels", labels, values.shape[1])
    _require_role(role)
    alt = _matrix_alt(values.unsqueeze(1), titles, [axis], labels, decimals)
    down, across = (len(values), 1) if stacked else (1, len(values))
    width = 0.9 + (0.45 if stacked else 0.55) * len(labels)
    picture = Picture(alt, (width * across, 1.7 * down if stacked else 2.6))
    with matplotlib.style.context(["default", STYLE]):
        grid = picture.subplots(down, across, squeeze=False, sharey=not stacked)
        panels = list(grid.flat)
        for axes, row, name in zip(panels, values.tolist(), titles, strict=True):
            drawn = axes.bar(range(len(row)), row, color=COLOURS[role])
            numbers = [f"{v:z.{decimals}f}" for v in row]
            size, padding = (10, 1) if stacked else (8, 0)
            axes.bar_label(drawn, numbers, fontsize=size, padding=padding)
            axes.margins(y=0.15)
            ticks = [x.replace(" ", "\n") if len(x) > 6 else x for x in labels]
            axes.set_xticks(range(len(row)), ticks)
            axes.set_title(name)
            if stacked:
                axes.axhline(0, color=COLOURS["masked"], linewidth=0.6)
                axes.margins(y=0.3)
        panels[0].set_ylabel("" if stacked else axis)
    return picture


def curves(
    x: Iterable[float],
    series: Mapping[str, Iterable[float]],
    *,
    title: str,
    x_axis: str,
    y_axis: str,
    log: str | Sequence[str] = (),
    decimals: int = 2,
    reference: tuple[str, float] | None = None,
    spread: Mapping[str, Iterable[float]] | None = None,
) -> Picture:
    """Draw one or more curves over the same points, with markers at each.

    Args:
        x: N numbers.
        series: a dict from each curve's name to its N numbers, at most four curves.
        title: the title.
        x_axis: label with the unit.
        y_axis: label with the unit.
        log: the axes on a logarithmic scale: "x", "y", "xy" or "".
        decimals: digits after the point in the text alternative.
        reference: the name of a number to compare with, and that number, as a line.
        spread: a dict from some curves' names to N numbers each: how far a band goes
            to either side of the curve, such as the standard deviation over seeds.

    Returns:
        picture: a ``Picture`` whose text alternative gives each curve's ends.

    Raises:
        ValueError: a curve or a spread of another length than ``x``, more than four
            curves, or the spread of a curve that isn't there.
    """
    places = [float(number) for number in x]
    drawn = {name: [float(number) for number in y] for name, y in series.items()}
    if not 1 <= len(drawn) <= len(LINE_STYLES):
        raise ValueError(
            f"series must hold 1 to {len(LINE_STYLES)} curves, got {len(drawn)}"
        )
    for name, y in drawn.items():
        _require_labels(f"series[{name!r}]", y, len(places))
    bands = {name: [*map(float, band)] for name, band in (spread or {}).items()}
    if strangers := bands.keys() - drawn.keys():
        raise ValueError(f"spread must name curves of {[*drawn]}, got {[*strangers]}")
    for name, band in bands.items():
        _require_labels(f"spread[{name!r}]", band, len(places))
    ends = []
    for name, y in drawn.items():
        first, last = (
            f"{y[i]:z.{decimals}f}"
            + (f" ± {bands[name][i]:.{decimals}f}" if name in bands else "")
            for i in (0, -1)
        )
        ends.append(f"{name} from {first} to {last}")
    if reference is not None:
        ends.append(f"{reference[0]}: {reference[1]:z.{decimals}f}")
    picture = Picture(
        f"{title}. Curves over {x_axis} from {places[0]:g} to {places[-1]:g}, "
        f"{y_axis}: " + "; ".join(ends),
        (5.6, 3.4),
    )
    with matplotlib.style.context(["default", STYLE]):
        axes = picture.subplots()
        for (name, y), (colour, marker, line) in zip(
            drawn.items(), LINE_STYLES, strict=False
        ):
            axes.plot(places, y, line, color=colour, marker=marker, label=name)
            if name in bands:
                pairs = [*zip(y, bands[name], strict=True)]
                low, high = [a - b for a, b in pairs], [a + b for a, b in pairs]
                axes.fill_between(places, low, high, color=colour, alpha=0.15, lw=0)
        if reference is not None:
            name, level = reference
            axes.axhline(level, color=COLOURS["masked"], linestyle=":", label=name)
        axes.set_title(title)
        axes.set_xlabel(x_axis)
        axes.set_ylabel(y_axis)
        axes.grid(alpha=0.25)
        if "x" in log:
            axes.set_xscale("log", base=2)
            if len(places) <= MOST_TICKS:
                axes.set_xticks(places, [f"{place:g}" for place in places], minor=False)
        if "y" in log:
            axes.set_yscale("log")
        if len(drawn) > 1 or reference is not None:
            axes.legend(frameon=False)
    return picture


def dots(
    groups: Mapping[str, Iterable[float]],
    *,
    title: str,
    axis: str,
    reference: tuple[str, float] | None = None,
    decimals: int = 2,
) -> Picture:
    """Draw every number of each group, such as one for each seed, and their mean.

    Args:
        groups: a dict from each group's name to its numbers, top to bottom.
        title: the title.
        axis: what the numbers are, with the unit.
        reference: the name of a number to compare with, and that number, as a line.
        decimals: digits after the point.

    Returns:
        picture: a ``Picture`` whose text alternative gives each group's mean, lowest
            and highest number.

    Raises:
        ValueError: no group, or one without a finite number.
    """
    drawn = {
        name: [float(number) for number in group] for name, group in groups.items()
    }
    for name, numbers in drawn.items() or [("groups", [])]:
        if not numbers or not all(map(math.isfinite, numbers)):
            raise ValueError(
                f"groups must hold finite numbers, got {numbers} in {name!r}"
            )
    means = {name: statistics.fmean(numbers) for name, numbers in drawn.items()}
    parts = [
        f"{name}: mean {means[name]:z.{decimals}f}, from {min(numbers):z.{decimals}f} "
        f"to {max(numbers):z.{decimals}f}"
        for name, numbers in drawn.items()
    ]
    if reference is not None:
        parts.append(f"{reference[0]}: {reference[1]:z.{decimals}f}")
    picture = Picture(
        f"{title}. {axis}. {'; '.join(parts)}", (5.8, 1 + 0.34 * len(drawn))
    )
    with matplotlib.style.context(["default", STYLE]):
        axes = picture.subplots()
        if reference is not None:
            axes.axvline(reference[1], color=COLOURS["masked"], linestyle="--")
            axes.annotate(
                reference[0],
                (reference[1], 1.01),
                xycoords=("data", "axes fraction"),
                ha="center",
                fontsize=8,
            )
        for row, (name, numbers) in enumerate(drawn.items()):
            axes.plot(numbers, [row] * len(numbers), "o", color=COLOURS["neutral"])
            axes.plot([means[name]] * 2, [row - 0.3, row + 0.3], color=INK)
        labels = [f"{name}  {means[name]:z.{decimals}f}" for name in drawn]
        axes.set_yticks(range(len(drawn)), labels)
        axes.set_ylim(len(drawn) - 0.5, -0.5)
        axes.grid(axis="x", alpha=0.25)
        axes.set_title(title, pad=16 if reference else None)
        axes.set_xlabel(axis)
    return picture


def _numbers(name: str, numbers: Tensor | Sequence[Any], *shapes: str) -> Tensor:
    """A tensor on the CPU whose rank is that of one of the shapes, such as "T, S"."""
    numbers = torch.as_tensor(numbers).detach().cpu().float()
    ranks = [len(shape.split(", ")) for shape in shapes]
    if numbers.dim() not in ranks or numbers.numel() == 0:
        allowed = " or ".join(f"({shape})" for shape in shapes)
        raise ValueError(
            f"{name} must have shape {allowed}, got {tuple(numbers.shape)}"
        )
    return numbers


def _labels(argument: str, labels: Iterable[object] | None, count: int) -> list[str]:
    """Labels as text; the positions 0, 1, … where none are given."""
    texts = [str(label) for label in (range(count) if labels is None else labels)]
    _require_labels(argument, texts, count)
    return texts


def _require_labels(argument: str, labels: Sequence[object], count: int) -> None:
    if len(labels) != count:
        raise ValueError(f"{argument} must hold {count} entries, got {len(labels)}")


def _require_role(role: str) -> None:
    roles = [name for name in COLOURS if name != "masked"]
    if role not in roles:
        raise ValueError(f"role must be one of {roles}, got {role!r}")


def _matrix_alt(
    panels: Tensor,
    titles: list[str],
    rows: list[str],
    columns: list[str],
    decimals: int,
) -> str:
    """The numbers of every panel, row by row."""
    parts = []
    for title, panel in zip(titles, panels.tolist(), strict=True):
        lines = [
            f"{row}: "
            + ", ".join(
                f"{column} {number:z.{decimals}f}"
                for column, number in zip(columns, line, strict=True)
            )
            for row, line in zip(rows, panel, strict=True)
        ]
        parts.append(f"{title}. " + "; ".join(lines))
    return ". ".join(parts)


def _draw_cells(
    axes: Axes, panel: Tensor, allowed: Tensor, top: float, role: str, decimals: int
) -> None:
    """Coloured cells with their numbers; masked ones grey and hatched."""
    opposite = COLOURS["keys" if role != "keys" else "queries"]
    T, S = panel.shape
    for i in range(T):
        for j in range(S):
            number = panel[i, j].item()
            seen = bool(allowed[i, j]) and abs(number) != float("inf")
            cell = Rectangle((j - 0.48, i - 0.48), 0.96, 0.96, linewidth=0)
            if seen:
                cell.set_facecolor(COLOURS[role] if number > 0 else opposite)
                cell.set_alpha(STRONGEST * abs(number) / top)
            else:
                grey = COLOURS["masked"]
                cell.set(facecolor=(grey, 0.4), edgecolor="black", hatch="///")
            axes.add_patch(cell)
            if not allowed[i, j] and number in (0.0, -math.inf):
                continue  # the hatch says it, and a number on it can't be read
            text = f"{number:z.{decimals}f}"
            written = axes.text(j, i, text, ha="center", va="center", fontsize=9)
            if not seen:  # else the hatching runs through the number
                written.set_bbox({"facecolor": "white", "linewidth": 0, "pad": 1})
    axes.set_xlim(-0.5, S - 0.5)
    axes.set_ylim(T - 0.5, -0.5)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
