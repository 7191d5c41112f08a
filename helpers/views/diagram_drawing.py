"""A diagram as SVG that needs no script and follows the page's colours.

A cell's shade and its sign follow from one number, ``--v`` from -1 to 1, written with
two decimals: the browser computes them from it. So a value that differs in its last
bit moves one printed number by at most one unit, which is what a comparison of outputs
allows, and nothing else of the picture.
"""

import math
from html import escape

from helpers.views.diagram_parts import (
    BETWEEN_HEADS,
    CELL,
    LABEL_GAP,
    LINE,
    Arrow,
    Layout,
    Part,
    Point,
    shortened,
)

FILLS = {
    "queries": "#0072B2",
    "keys": "#D55E00",
    "values": "#009E73",
    "weights": "#CC79A7",
    "neutral": "#56B4E9",
}
STYLE = """
.aos-diagram { margin: 0; }
.aos-diagram .frame { overflow-x: auto; }
.aos-diagram svg { display: block; margin: 0.25rem 0; }
.aos-diagram :is(.frame, .scroll) svg { max-width: none; height: auto; }
.aos-diagram svg text {
  fill: currentColor; font: 12px system-ui, sans-serif; unicode-bidi: isolate;
}
.aos-diagram svg .name { font-weight: 600; font-size: 13px; }
.aos-diagram svg .queries { fill: var(--queries, currentColor); }
.aos-diagram svg .keys { fill: var(--keys, currentColor); }
.aos-diagram svg .values { fill: var(--values, currentColor); }
.aos-diagram svg .weights { fill: var(--weights, currentColor); }
.aos-diagram .cells rect {
  fill-opacity: max(var(--v), -1 * var(--v)); rx: clamp(1.5px, -1000px * var(--v), 7px);
  stroke: currentColor; stroke-opacity: 0.3; stroke-width: 0.75;
}
.aos-diagram .hatch { fill: none; stroke: currentColor; stroke-opacity: 0.45; }
.aos-diagram .line {
  fill: none; stroke: currentColor; stroke-opacity: 0.6; stroke-width: 1.25;
}
.aos-diagram .tip { fill: currentColor; fill-opacity: 0.75; }
.aos-diagram .pill { fill: none; stroke: currentColor; stroke-opacity: 0.45; }
.aos-diagram .hull { fill: none; stroke: none; }
.aos-diagram .new .hull {
  fill: currentColor; fill-opacity: 0.06; stroke: currentColor; stroke-opacity: 0.55;
}
.aos-diagram .old .cells { opacity: 0.65; }
.aos-diagram .old .name { font-weight: 400; }
@media print {
  .aos-diagram { break-inside: avoid; }
  .aos-diagram .frame { overflow: visible; }
  .aos-diagram :is(.frame, .scroll) svg { max-width: 100%; max-height: 23cm; }
}
"""


def draw(layout: Layout, label: str) -> str:
    """The picture as HTML; every text in it is escaped.

    Args:
        layout: parts and arrows, with their places.
        label: the text alternative of the whole.

    Returns:
        html: a figure that can be seen where no script runs.
    """
    some_new = any(part.new for part in layout.parts)
    classes = {
        part.name: "" if not some_new else " new" if part.new else " old"
        for part in layout.parts
    }
    places = {part.name: place for place, part in enumerate(layout.parts)}
    drawn = [
        f'<g class="arrow{classes[arrow.part]}" data-part="{places[arrow.part]}">'
        f"{_draw_arrow(arrow)}</g>"
        for arrow in layout.arrows
    ]
    drawn += [
        f'<g class="part{classes[part.name]}" data-part="{place}">'
        f"{_draw_part(part)}</g>"
        for place, part in enumerate(layout.parts)
    ]
    body = "\n".join(drawn)
    width, height = layout.width, layout.height
    return (
        f'<div class="aos-diagram"><style>{STYLE}</style>\n<div class="frame">'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escape(label)}">\n'
        f'{body}\n</svg></div>\n<p class="note">{escape(_legend(layout))}</p></div>\n'
    )


def _legend(layout: Layout) -> str:
    words = [
        "The stronger a cell's colour, the larger its number within its table; squares "
        "are positive, circles negative."
    ]
    if any(part.formula and part.formula.shaded_as for part in layout.parts):
        words.append(
            "Tables that differ by a division, a mask or dropout share one scale."
        )
    numbers = [n for part in layout.parts for h in part.cells for r in h for n in r]
    if -math.inf in numbers:
        words.append("Hatched cells hold −∞.")
    if any(part.new for part in layout.parts):
        words.append("Frames mark what is new.")
    if any(any(part.cut) for part in layout.parts):
        words.append("Beyond a “…” there are more rows or columns.")
    return " ".join(words)


def _draw_part(part: Part) -> str:
    width, height = part.size
    pieces = [
        f'<rect class="hull" x="{part.x - 7}" y="{part.y - 6}" width="{width + 14}" '
        f'height="{height + 12}" rx="6"/>',
        _draw_cells(part),
    ]
    x = part.x + part.grid[0] + LABEL_GAP
    first = part.y + 12
    if part.grid[1] > 3 * LINE:  # in the middle of a tall grid
        first = part.y + (part.grid[1] - 3 * LINE) // 2 + 12
    pieces.append(_text(x, first, part.name, f"name {part.role}"))
    pieces.append(_text(x, first + LINE, part.letters_text))
    pieces.append(_text(x, first + 2 * LINE, part.shape_text))
    for row, name in enumerate(part.names if part.column == 0 else []):
        y = part.y + row * CELL + 12
        pieces.append(_text(part.x - 13, y, shortened(name), anchor="end", whole=name))
    if part.cut[0]:
        x = part.x + part.columns * CELL // 2
        y = part.y + len(part.cells[0]) * CELL + 8
        pieces.append(_text(x, y, "…", anchor="middle"))
    if part.cut[1]:
        y = part.y + len(part.cells[0]) * CELL // 2 + 3
        pieces.append(_text(part.x + part.grid[0] - 3, y, "…", anchor="end"))
    return "".join(pieces)


def _draw_cells(part: Part) -> str:
    cells, hatches = [], []
    for head, rows in enumerate(part.cells):
        left = part.x + head * (part.columns * CELL + BETWEEN_HEADS)
        for i, row in enumerate(rows):
            for j, number in enumerate(row):
                x, y = left + j * CELL, part.y + i * CELL
                shade = number / part.largest if math.isfinite(number) else 0.0
                cells.append(
                    f'<rect x="{x + 1}" y="{y + 1}" width="14" height="14" '
                    f'style="--v:{shade:z.2f}"/>'
                )
                if number == -math.inf:
                    hatches.append(f"M{x + 1} {y + 8}l7 -7M{x + 1} {y + 15}l14 -14")
                    hatches.append(f"M{x + 8} {y + 15}l7 -7")
    hatch = f'<path class="hatch" d="{"".join(hatches)}"/>' if hatches else ""
    return f'<g class="cells" fill="{FILLS[part.role]}">{"".join(cells)}{hatch}</g>'


def _draw_arrow(arrow: Arrow) -> str:
    pieces = [f'<path class="line" d="{_rounded(line)}"/>' for line in arrow.lines]
    pieces += [f'<path class="tip" d="M{x} {y}l-4 -7h8z"/>' for x, y in arrow.heads]
    for label, (x, y, width, height) in arrow.labels:
        pieces.append(
            f'<rect class="pill" x="{x}" y="{y}" width="{width}" height="{height}" '
            'rx="11"/>'
        )
        pieces.append(_text(x + width // 2, y + 15, label, anchor="middle"))
    return "".join(pieces)


def _rounded(line: list[Point], radius: int = 6) -> str:
    """A path along the corners, each of them rounded."""
    corners = [p for place, p in enumerate(line) if place == 0 or p != line[place - 1]]
    path = [f"M{corners[0][0]} {corners[0][1]}"]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        enter, leave = (_towards(corner, end, radius) for end in (before, after))
        path.append(
            f"L{enter[0]} {enter[1]}Q{corner[0]} {corner[1]} {leave[0]} {leave[1]}"
        )
    return "".join([*path, f"L{corners[-1][0]} {corners[-1][1]}"])


def _towards(start: Point, end: Point, most: int) -> Point:
    """The point that far from the start, or half the way."""
    (x, y), (to_x, to_y) = start, end
    length = max(abs(to_x - x), abs(to_y - y))
    step = min(most, length // 2)
    return x + step * (to_x - x) // length, y + step * (to_y - y) // length


def _text(
    x: int, y: int, text: str, kind: str = "", anchor: str = "start", whole: str = ""
) -> str:
    named = f' class="{kind}"' if kind else ""
    more = f"<title>{escape(whole)}</title>" if whole not in ("", text) else ""
    start = f'<text x="{x}" y="{y}" text-anchor="{anchor}"{named}>'
    # A space stays between words where a notebook that isn't trusted loses its tags.
    return f"{start}{more}{escape(text)}</text> "
