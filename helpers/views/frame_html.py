"""The frames of an experiment as HTML: what a notebook's kernel shows."""

import html
from collections.abc import Sequence

from helpers.views.frames import Frame, Part, table_of

# The same colours and dashes as in explore.js.
LINES = (
    ("#0072B2", ""),
    ("#D55E00", "6 3"),
    ("#009E73", "8 3 2 3"),
    ("#CC79A7", "2 3"),
)
WIDTH, HEIGHT, LEFT, FOOT = 340, 172, 8, 4  # of a drawing, in pixels


def to_html(parts: Frame) -> str:
    """The parts of a scaled frame as HTML; every text in them is escaped."""
    drawn = "\n".join(HTML[part["kind"]](part) for part in parts)
    return f'<div style="line-height: 1.45">\n{drawn}\n</div>'


def _text_html(part: Part) -> str:
    return f'<p style="white-space: pre-wrap">{html.escape(part["text"])}</p>'


def _table_html(part: Part) -> str:
    return table_of(part).to_html()


def _bars_html(part: Part) -> str:
    low, high = part["reach"]
    rows = []
    for name, text, value in zip(
        part["names"], part["texts"], part["values"], strict=True
    ):
        start, end = sorted((0, value or 0))
        margin, width = (start - low) / (high - low), (end - start) / (high - low)
        rows.append(
            f'<tr><th scope="row">{html.escape(name)}</th><td>{text}</td>'
            '<td style="width: 12rem"><div style="height: 0.8rem; opacity: 0.45; '
            f"background: currentColor; margin-left: {100 * margin:.1f}%; "
            f'width: {100 * width:.1f}%"></div></td></tr>'
        )
    return f"<table>{''.join(rows)}</table>"


def _line_html(part: Part) -> str:
    shapes, rows = [], []
    for curve, (colour, dash) in zip(part["curves"], LINES, strict=False):
        stroke = (
            f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        )
        shapes.append(f'<path d="{_path(part, curve["y"])}" {stroke}/>')
        rows.append(
            '<tr><td><svg width="30" height="8" aria-hidden="true"><path d="M0 4H30" '
            f'{stroke}/></svg></td><th scope="row">{html.escape(curve["name"])}</th>'
            f"<td>{' to '.join(curve['ends'])}</td></tr>"
        )
    x, y = (
        html.escape(f"{part[axis]} from {' to '.join(part[ends])}")
        for axis, ends in (("x_axis", "x_ends"), ("y_axis", "y_ends"))
    )
    return (
        f"<div>{y}</div>\n"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" style="max-width: 100%" '
        'aria-hidden="true">'
        f'<path d="M{LEFT} 8V{HEIGHT - FOOT}H{WIDTH}" fill="none" '
        f'stroke="currentColor"/>{"".join(shapes)}</svg>\n'
        f"<div>{x}</div>\n<table>{''.join(rows)}</table>"
    )


def _path(part: Part, y: Sequence[float | None]) -> str:
    low, high = part["reach"]
    steps, pen = [], "M"
    for place, number in zip(part["places"], y, strict=True):
        if number is None:
            pen = "M"  # a gap
            continue
        across = LEFT + (WIDTH - LEFT - 8) * place / 10_000
        down = 8 + (HEIGHT - FOOT - 8) * (high - number) / (high - low)
        steps.append(f"{pen}{across:.1f} {down:.1f}")
        pen = "L"
    return "".join(steps)


HTML = {
    "text": _text_html,
    "number": _text_html,
    "table": _table_html,
    "bars": _bars_html,
    "line": _line_html,
}
