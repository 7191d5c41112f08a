"""A figure of the paths between two layers: who tells whom how much."""

from collections.abc import Mapping, Sequence

import matplotlib.style
from matplotlib.axes import Axes

from helpers.notebook.picture import INK, STYLE, Picture
from helpers.notebook.plotting import COLOURS

Path = tuple[str, str, str]  # its sender, the kind of what reads it, its receiver
KINDS = ("queries", "keys", "values")
WIDEST = 9.0  # points


def path_graph(
    strengths: Mapping[Path, float],
    *,
    title: str,
    unit: str = "nats",
    least: float = 0.1,
    decimals: int = 1,
) -> Picture:
    """Draw paths from senders to receivers as lines: the thicker, the stronger.

    There is a panel for each kind of reader. The sender is below and the receiver above
    it, as a text goes up through the layers.

    Args:
        strengths: a dict from paths (sender, kind, receiver), such as
            ("0.3", "queries", "1.1"), to what is lost without them. Kinds are
            "queries", "keys" and "values".
        title: the title.
        unit: what the strengths are in, for the text alternative.
        least: lines for smaller strengths are left out.
        decimals: digits after the point.

    Returns:
        picture: a ``Picture`` whose text alternative names every path that is drawn,
            the strongest first.

    Raises:
        ValueError: no path, or one of an unknown kind.
    """
    if not strengths:
        raise ValueError("strengths must hold at least one path, got none")
    for _, kind, _ in strengths:
        if kind not in KINDS:
            raise ValueError(f"a path's kind must be one of {KINDS}, got {kind!r}")
    senders = sorted({sender for sender, _, _ in strengths})
    receivers = sorted({receiver for _, _, receiver in strengths})
    kinds = [kind for kind in KINDS if any(kind == of for _, of, _ in strengths)]
    drawn = {path: nats for path, nats in strengths.items() if nats >= least}
    ranked = sorted(drawn, key=drawn.__getitem__, reverse=True)
    told = [
        f"{path[0]} to the {path[1]} of {path[2]} {drawn[path]:.{decimals}f}"
        for path in ranked
    ]
    picture = Picture(
        f"{title}. Paths between heads, in {unit}, strongest first: "
        + ("; ".join(told) or f"none of {least} or more"),
        (2.4 * len(kinds) + 0.4, 3.0),
    )
    top = max([*drawn.values(), least])
    with matplotlib.style.context(["default", STYLE]):
        panels = picture.subplots(1, len(kinds), squeeze=False)[0]
        for axes, kind in zip(panels, kinds, strict=True):
            _draw_heads(axes, senders, 0.0)
            _draw_heads(axes, receivers, 1.0)
            axes.set_title(kind)
            axes.set_xlim(-0.5, max(len(senders), len(receivers)) - 0.5)
            axes.set_ylim(-0.3, 1.3)
            axes.axis("off")
            for (sender, of, receiver), strength in drawn.items():
                if of == kind:
                    axes.plot(
                        [senders.index(sender), receivers.index(receiver)],
                        [0, 1],
                        color=COLOURS[kind],
                        linewidth=WIDEST * strength / top,
                        alpha=0.75,
                        solid_capstyle="butt",
                    )
        picture.suptitle(title)
    return picture


def _draw_heads(axes: Axes, names: Sequence[str], height: float) -> None:
    """A dot and a name for each head, below the paths or above them."""
    for place, name in enumerate(names):
        axes.plot(place, height, "o", color=INK, markersize=7, zorder=3)
        axes.text(
            place,
            height + (0.12 if height else -0.12),
            name,
            ha="center",
            va="bottom" if height else "top",
        )
