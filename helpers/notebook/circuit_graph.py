"""A figure of a circuit: which head tells which, at which token, and how much."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from helpers.notebook.picture import INK, STYLE, Picture
from helpers.notebook.plotting import COLOURS

WIDTH = 4.4  # inches: a phone shows it without making its letters small
ROW, LINE, GAP, COLUMN = 0.27, 0.16, 0.62, 0.78  # inches; LINE of a box's text
ANSWER = "answer"
Row = tuple[list[int], str]  # of a picture: its tokens' places, and what stands there
LINES = {  # what an arrow shows: its colour, in words, in the legend
    "looks": (COLOURS["weights"], "looks at", "looks at"),
    "queries": (COLOURS["queries"], "tells the queries of", "into queries"),
    "keys": (COLOURS["keys"], "tells the keys of", "into keys"),
    "values": (COLOURS["values"], "tells the values of", "into values"),
    "raises": (INK, "raises", "to the answer"),
    "lowers": (INK, "lowers", "to the answer"),
}


class Arrow(NamedTuple):
    """An arrow of a circuit.

    Args:
        source: the name of a group of heads, or the place (from 0) of a token.
        target: the name of a group of heads, or "answer".
        kind: "looks" (a weight); "queries", "keys" or "values" (what one head does to
            those of another); "raises" or "lowers" (what is added to the answer).
        effect: what is written beside it, such as "0.33"; "" for nothing.
        share: how thick it is, from 0 to 1; a weight is always thin.
        sure: False for a dashed arrow, whose interval holds 0.
    """

    source: str | int
    target: str
    kind: str
    effect: str
    share: float = 0.1
    sure: bool = True


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
    the layers go to the right. Each group of heads stands on the row of its token, and
    the answer below all of them.

    Args:
        tokens: the text, token by token.
        heads: a dict from groups of heads, such as "19.2 20.0", to the name of their
            layers, such as "19, 20", and the place (from 0) of the token at which they
            work. Layers stand in the order in which they are named first.
        arrows: what goes from where to where.
        title: the title.
        answer: what stands at the end, such as "lead of Mary".

    Returns:
        picture: a ``Picture`` whose text alternative tells each arrow.

    Raises:
        ValueError: no head, a place outside of the text, an unknown kind, a share
            outside its range, or an arrow from or to what isn't drawn.
    """
    _demand(tokens, heads, arrows)
    used = {place for _, place in heads.values()}
    used |= {one.source for one in arrows if isinstance(one.source, int)}
    rows = _rows(tokens, used)
    at, bottom = _laid_out(rows, heads)
    right = (len(heads) + 0.25) * COLUMN
    picture = Picture(
        f"{title}. " + _told(tokens, heads, arrows, answer), (WIDTH, bottom + 1.0)
    )
    with matplotlib.style.context(["default", STYLE]):
        axes = picture.subplots()
        for places, text in rows:
            height = at[places[0]][1]
            axes.text(-0.08, height, text, ha="right", va="center")
            own = [at[one][0] for one, (_, place) in heads.items() if place in places]
            ends = [-0.25, *sorted(own), right + 0.25]  # a gap for each box
            for left, until in itertools.pairwise(ends):
                across = [left + 0.25, until - 0.25]
                axes.plot(across, [height] * 2, lw=0.4, color=INK)
        boxes: dict[str | int, Patch | None] = {
            name: _name(axes, at[name], name.replace(" ", "\n")) for name in heads
        }
        boxes[ANSWER] = _name(axes, at[ANSWER], answer, edge="none")
        ends = [at[one.source][0] for one in arrows if one.target == ANSWER]
        for arrow in arrows:
            _draw(axes, at, boxes, arrow, leftmost=min(ends, default=0.0))
        axes.legend(
            handles=_legend(arrows),
            loc="lower left",
            fontsize=8,
            frameon=False,
            handlelength=1.6,
            borderaxespad=0.0,
        )
        axes.set_xticks(
            [at[name][0] for name in heads], [layer for layer, _ in heads.values()]
        )
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xlabel("layer")
        axes.set_yticks([])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xlim(-0.95, right)
        axes.set_ylim(bottom, -0.2)
        picture.suptitle(title, fontsize=11)
    return picture


def _laid_out(
    rows: Sequence[Row], heads: Mapping[str, tuple[str, int]]
) -> tuple[dict[str | int, tuple[float, float]], float]:
    """Where things stand, in inches from the upper left; and how far down they go.

    Each group has a column of its own, and those of one token the same height: so what
    they look at leads straight down to them.
    """
    at: dict[str | int, tuple[float, float]] = {}
    y = 0.0
    for places, _ in rows:
        own = [name for name, (_, place) in heads.items() if place in places]
        half = max((len(name.split()) for name in own), default=0) * LINE / 2
        y += half + GAP * bool(own)
        at |= dict.fromkeys(places, (0.0, y))
        for name in own:
            at[name] = (list(heads).index(name) + 0.6) * COLUMN, y
        y += half + ROW
    columns = [at[name][0] for name in heads]
    at[ANSWER] = columns[-1 - (len(columns) > 2)], y + GAP
    return at, y + GAP + ROW


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
        if not 0 <= one.share <= 1:
            raise ValueError(f"share must be from 0 to 1, got {one.share}")
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
    for source, target, kind, effect, _, sure in arrows:
        if kind == "looks" and isinstance(source, int):
            at, number = heads[target][1], f", {effect}" if effect else ""
            told.append(
                f"{target}, at token {at} ({tokens[at].strip()}), looks at token "
                f"{source} ({tokens[source].strip()}){number}"
            )
        else:
            to = answer if target == ANSWER else target
            dashed = "" if sure else " (dashed: its interval holds 0)"
            number = f", {effect}" if effect else ""
            told.append(f"{source} {LINES[kind][1]} {to}{number}{dashed}")
    return "; ".join(told)


def _legend(arrows: Sequence[Arrow]) -> list[Line2D]:
    """A line for each kind of arrow that is drawn."""
    kinds = {LINES[one.kind][2]: one.kind for one in arrows}
    return [
        Line2D(
            *([], []),
            color=LINES[kind][0],
            linestyle=":" if kind == "looks" else "-",
            linewidth=2,
            label=label,
        )
        for label, kind in kinds.items()
    ]


def _draw(
    axes: Axes,
    at: Mapping[str | int, tuple[float, float]],
    boxes: Mapping[str | int, Patch | None],
    arrow: Arrow,
    *,
    leftmost: float,
) -> None:
    """One arrow from box to box, with its effect beside it.

    Of those to the answer, the one that begins leftmost has it at the left, where no
    other stands.
    """
    start, end = at[arrow.source], at[arrow.target]
    looks = isinstance(arrow.source, int)
    beside = "left" if looks else "center"
    if looks:
        start = end[0], start[1]
    line = ":" if looks else "-" if arrow.sure else "--"
    axes.annotate(
        "",
        end,
        start,
        arrowprops={
            "arrowstyle": "-|>",
            "color": LINES[arrow.kind][0],
            "linestyle": line,
            "linewidth": 1.5 if looks else 1 + 7 * arrow.share,
            "patchA": boxes.get(arrow.source),
            "patchB": boxes[arrow.target],
            "shrinkA": 0,
            "shrinkB": 1,
        },
    )
    across, down = end[0] - start[0], end[1] - start[1]
    if looks:  # in the gap above the head
        half = arrow.target.count(" ") * LINE / 2
        place = end[0] + 0.05, end[1] - half - 0.42
    elif arrow.target == ANSWER:  # in the gap below the head
        half = str(arrow.source).count(" ") * LINE / 2
        at_left = across >= 0 and start[0] == leftmost
        between = across > 0 and not at_left  # close to the box, and to the line
        part = (half + (0.16 if between else 0.24)) / down
        beside, side = ("right", -0.07) if at_left else ("left", 0.07 - 0.03 * between)
        if across < 0:  # a thick line comes close to what stands at its right
            side += 0.07 * arrow.share
        place = start[0] + part * across + side, start[1] + part * down
    else:  # beside the middle: above it, or at the left of what goes down
        size = math.hypot(across, down)
        if down > across:  # a long one grows away from the arrow
            beside = "right"
        place = (
            (start[0] + end[0]) / 2 - (0.16 if down > across else 0.31) * down / size,
            (start[1] + end[1]) / 2 - 0.2 * across / size,
        )
    axes.text(
        *place,
        arrow.effect,
        ha=beside,
        va="center",
        fontsize=9,
    )


def _name(
    axes: Axes, at: tuple[float, float], text: str, edge: str = INK
) -> Patch | None:
    """A group of heads, each in a line of its own, and the box around them."""
    box = {"boxstyle": "round,pad=0.25", "facecolor": "none", "edgecolor": edge}
    return axes.text(*at, text, ha="center", va="center", bbox=box).get_bbox_patch()
