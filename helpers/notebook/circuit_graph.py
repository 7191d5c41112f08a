"""A figure of a circuit: which head fetches something from which token to which."""

from collections.abc import Mapping, Sequence

import matplotlib.style
from matplotlib.axes import Axes

from helpers.notebook.picture import STYLE, Picture
from helpers.notebook.plotting import COLOURS

ROW = 0.5  # of a layer, in inches
WIDTH = 6.4


def circuit_graph(
    tokens: Sequence[str],
    heads: Mapping[str, tuple[int, int]],
    *,
    title: str,
    notes: Mapping[str, str] | None = None,
) -> Picture:
    """Draw heads as arrows from the token that they look at to the one that asks.

    The text runs along the bottom, and the layers go up. Heads of one layer with the
    same two tokens share an arrow.

    Args:
        tokens: the text, token by token.
        heads: a dict from heads, such as "17.4", to the places (from 0) of the token
            that the head looks at and of the token for which it does.
        title: the title.
        notes: a dict from heads to a word or two that stand beside their arrow.

    Returns:
        picture: a ``Picture`` whose text alternative names each head with its tokens.

    Raises:
        ValueError: no head, a place outside of the text, or a note of no head.
    """
    notes = notes or {}
    if not heads:
        raise ValueError("heads must hold at least one head, got none")
    for name, places in heads.items():
        if not all(0 <= place < len(tokens) for place in places):
            raise ValueError(
                f"places must be from 0 to {len(tokens) - 1}, got {places} of {name}"
            )
    if unknown := notes.keys() - heads.keys():
        raise ValueError(f"notes must be of heads that are drawn, got {min(unknown)!r}")
    arrows: dict[tuple[int, int, int], list[str]] = {}
    for name, (source, target) in heads.items():
        layer = int(name.partition(".")[0])
        arrows.setdefault((layer, source, target), []).append(name)
    labels = {
        arrow: " ".join(
            [", ".join(names), *(notes[one] for one in names if one in notes)]
        )
        for arrow, names in sorted(arrows.items())
    }
    told = "; ".join(
        f"{label}: from token {source} ({tokens[source].strip()}) to token {target} "
        f"({tokens[target].strip()})"
        for (_, source, target), label in labels.items()
    )
    picture = Picture(
        f"{title}. Heads, the lower layers first. {told}",
        (WIDTH, ROW * len(labels) + 0.9),
    )
    with matplotlib.style.context(["default", STYLE]):
        axes = picture.subplots()
        for row, ((_, source, target), label) in enumerate(labels.items(), start=1):
            _draw(axes, row, source, target, label)
        axes.set_ylim(0, len(labels) + 0.6)
        axes.set_xlim(-0.6, len(tokens) - 0.4)
        axes.set_xticks(range(len(tokens)), [one.strip() for one in tokens], fontsize=8)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="x", length=0)
        axes.set_title(title)
    return picture


def _draw(axes: Axes, row: float, source: int, target: int, label: str) -> None:
    """One arrow at its height, with lines down to its two tokens."""
    for place in (source, target):
        axes.plot([place] * 2, [0, row], color=COLOURS["masked"], lw=0.7, ls=":")
    axes.annotate(
        "",
        (target, row),
        (source, row),
        arrowprops={"arrowstyle": "-|>", "color": COLOURS["weights"], "lw": 1.6},
    )
    axes.text((source + target) / 2, row + 0.1, label, ha="center", fontsize=9)
