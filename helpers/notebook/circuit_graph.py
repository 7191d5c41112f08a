"""A figure of a circuit: which head tells which, at which token, and how much."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from helpers.notebook.picture import INK, STYLE, Picture
from helpers.notebook.plotting import COLOURS

WIDTH = 4.4  # inches: a phone shows it without making its letters small
ROW, LANE, COLUMN = 0.24, 0.7, 0.6  # inches, of a token and of a group of heads
ANSWER = "answer"
Row = tuple[list[int], str]  # of a picture: its tokens' places, and what stands there
LINES = {  # what an arrow shows: its colour, its line, what it is called
    "looks": (COLOURS["weights"], ":", "looks at"),
    "queries": (COLOURS["queries"], "-", "tells the queries of"),
    "keys": (COLOURS["keys"], "-", "tells the keys of"),
    "values": (COLOURS["values"], "-", "tells the values of"),
    "raises": (INK, "-", "raises"),
    "lowers": (INK, "--", "lowers"),
}


class Arrow(NamedTuple):
    """An arrow of a circuit.

    Args:
        source: the name of a group of heads, or the place (from 0) of a token.
        target: the name of a group of heads, or "answer".
        kind: "looks" (a weight); "queries", "keys" or "values" (what one head does to
            those of another); "raises" or "lowers" (what is added to the answer).
        effect: what is written beside it, such as "0.33".
    """

    source: str | int
    target: str
    kind: str
    effect: str


def circuit_graph(
    tokens: Sequence[str],
    heads: Mapping[str, tuple[str, int]],
    arrows: Sequence[Arrow],
    *,
    title: str,
    answer: str,
) -> Picture:
    """Draw heads at the token where they work, and what goes from one to another.

    The text runs down, a token a row (several with which no arrow begins share one);
    the layers go to the right, and behind them stands the answer.

    Args:
        tokens: the text, token by token.
        heads: a dict from groups of heads, such as "19.2 20.0", to the name of their
            layers, such as "19, 20", and the place (from 0) of the token at which they
            work. Layers stand in the order in which they are named first.
        arrows: what goes from where to where.
        title: the title.
        answer: what stands behind the last layer, such as "lead of Mary".

    Returns:
        picture: a ``Picture`` whose text alternative tells each arrow.

    Raises:
        ValueError: no head, a place outside of the text, an unknown kind, or an arrow
            from or to what isn't drawn.
    """
    _demand(tokens, heads, arrows)
    used = {place for _, place in heads.values()}
    used |= {one.source for one in arrows if isinstance(one.source, int)}
    rows = _rows(tokens, used)
    at, bottom = _laid_out(rows, heads, arrows)
    right = at[ANSWER][0]
    picture = Picture(
        f"{title}. " + _told(tokens, heads, arrows, answer), (WIDTH, bottom + 1.0)
    )
    with matplotlib.style.context(["default", STYLE]):
        axes = picture.subplots()
        for places, text in rows:
            _, height = at[places[0]]
            axes.text(-0.08, height, text, ha="right", va="center")
            axes.plot([0, right - 0.3], [height] * 2, lw=0.4, color=INK)
        boxes: dict[str | int, Patch | None] = {
            name: _name(axes, at[name], name) for name in heads
        }
        boxes[ANSWER] = _name(axes, at[ANSWER], answer, edge="none")
        for arrow in arrows:
            _draw(axes, at, boxes, arrow)
        axes.set_xticks(
            [at[name][0] for name in heads], [layer for layer, _ in heads.values()]
        )
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xlabel("layer")
        axes.set_yticks([])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xlim(-0.95, right + 0.25)
        axes.set_ylim(bottom, -0.2)
        picture.suptitle(title, fontsize=11)
    return picture


def _laid_out(
    rows: Sequence[Row], heads: Mapping[str, tuple[str, int]], arrows: Sequence[Arrow]
) -> tuple[dict[str | int, tuple[float, float]], float]:
    """Where things stand, in inches from the upper left; and how far down they go.

    Each group has a column of its own, and the later ones stand higher, so that hardly
    any arrows cross.
    """
    at: dict[str | int, tuple[float, float]] = {}
    y = 0.0
    columns = {name: (i + 0.75) * COLUMN for i, name in enumerate(heads)}
    for places, _ in rows:
        at |= dict.fromkeys(places, (0.0, y))
        own = [name for name, (_, place) in heads.items() if place in places]
        for lane, name in enumerate(reversed(own), start=1):
            at[name] = columns[name], y + lane * LANE
        y += ROW + LANE * len(own)
    ends = [at[one.source][1] for one in arrows if one.target == ANSWER]
    at[ANSWER] = (len(heads) + 0.85) * COLUMN, sum(ends) / max(len(ends), 1)
    return at, y


def _demand(
    tokens: Sequence[str],
    heads: Mapping[str, tuple[str, int]],
    arrows: Sequence[Arrow],
) -> None:
    if not heads:
        raise ValueError("heads must hold at least one head, got none")
    places = {name: place for name, (_, place) in heads.items()}
    places |= {
        f"an arrow to {one.target}": one.source
        for one in arrows
        if isinstance(one.source, int)
    }
    for name, place in places.items():
        if not 0 <= place < len(tokens):
            raise ValueError(
                f"places must be from 0 to {len(tokens) - 1}, got {place} of {name}"
            )
    for one in arrows:
        if one.kind not in LINES:
            raise ValueError(f"kind must be one of {tuple(LINES)}, got {one.kind!r}")
        for end in (one.source, one.target):
            if isinstance(end, str) and end not in {*heads, ANSWER}:
                raise ValueError(
                    f"arrows must join heads that are drawn, or {ANSWER!r}, got {end!r}"
                )


def _rows(tokens: Sequence[str], used: set[int]) -> list[Row]:
    """Each used token in a row of its own, and what stands between two of them."""
    rows: list[Row] = []
    for place, token in enumerate(tokens):
        if place in used or not rows or rows[-1][0][-1] in used:
            rows.append(([place], token.strip()))
        else:
            places, text = rows[-1]
            rows[-1] = [*places, place], text + token
    return rows


def _told(
    tokens: Sequence[str],
    heads: Mapping[str, tuple[str, int]],
    arrows: Sequence[Arrow],
    answer: str,
) -> str:
    """The picture in words."""
    told = []
    for source, target, kind, effect in arrows:
        if kind == "looks" and isinstance(source, int):
            at = heads[target][1]
            told.append(
                f"{target}, at token {at} ({tokens[at].strip()}), looks at token "
                f"{source} ({tokens[source].strip()}), {effect}"
            )
        else:
            to = answer if target == ANSWER else target
            told.append(f"{source} {LINES[kind][2]} {to}, {effect}")
    return "; ".join(told)


def _draw(
    axes: Axes,
    at: Mapping[str | int, tuple[float, float]],
    boxes: Mapping[str | int, Patch | None],
    arrow: Arrow,
) -> None:
    """One arrow from box to box, with its effect beside it."""
    colour, line, _ = LINES[arrow.kind]
    start, end = at[arrow.source], at[arrow.target]
    of_token = isinstance(arrow.source, int)
    if of_token:
        start = end[0] - 0.22, start[1]
    axes.annotate(
        "",
        end,
        start,
        arrowprops={
            "arrowstyle": "-|>",
            "color": colour,
            "linestyle": line,
            "linewidth": 1.7,
            "patchA": boxes.get(arrow.source),
            "patchB": boxes[arrow.target],
            "shrinkA": 0,
            "shrinkB": 1,
        },
    )
    if of_token:  # in the gap above the head
        place = end[0] + 0.02, end[1] - 0.42
    else:  # above what goes to the answer, below what goes to another head
        across, down = end[0] - start[0], end[1] - start[1]
        side = (-1 if arrow.target == ANSWER else 1) / math.hypot(across, down)
        place = (
            (start[0] + end[0]) / 2 - side * down * 0.22,
            (start[1] + end[1]) / 2 + side * across * 0.13,
        )
    axes.text(
        *place,
        arrow.effect,
        ha="left" if of_token else "center",
        va="center",
        fontsize=9,
    )


def _name(
    axes: Axes, at: tuple[float, float], text: str, edge: str = INK
) -> Patch | None:
    """A group of heads, each in a line of its own, and the box around them."""
    box = {"boxstyle": "round,pad=0.25", "facecolor": "none", "edgecolor": edge}
    lines = text.replace(" ", "\n")
    return axes.text(*at, lines, ha="center", va="center", bbox=box).get_bbox_patch()
