"""What a figure becomes in a notebook: a drawing, a picture of points, and words.

The drawing (SVG) has a light ground of its own where it is shown as an image, as in
JupyterLab. A page of the book takes it up into itself, without that ground and in the
page's own ink, so that it suits the light and the dark theme. The picture of points
(PNG) is for places that show no drawings, such as a notebook that isn't trusted.
"""

import base64
import html
import io
import re

import matplotlib.style
from matplotlib.figure import Figure
from PIL import Image

INK = "#212529"
DPI = 110
POINTS = 72  # an inch in a drawing
STYLE = {
    "font.size": 10,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "hatch.linewidth": 0.6,
    # A drawing keeps its letters as text; the names in it are the same each time.
    "svg.fonttype": "none",
    "svg.hashsalt": "picture",
} | dict.fromkeys(
    [
        "text.color",
        "axes.edgecolor",
        "axes.labelcolor",
        "axes.titlecolor",
        "xtick.color",
        "ytick.color",
    ],
    INK,
)
NO_METADATA = dict.fromkeys(["Creator", "Date", "Format", "Type"])
START = (
    '<svg xmlns="http://www.w3.org/2000/svg" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" class="picture" role="img" '
    'aria-label="{alt}" width="{width:.0f}" height="{height:.0f}" viewBox="{box}" '
    f'style="color: {INK}; background: white; stroke-linejoin: round; '
    'stroke-linecap: butt">'
)
# What of matplotlib's text a drawing does without: its head, notes, and the rule and
# the names that would hold for all drawings of a page at once.
HEAD = re.compile(r"^.*?<svg[^>]*>", re.DOTALL)
SURPLUS = re.compile(
    r"<!--.*?-->|<metadata>.*?</metadata>|<style[^>]*>.*?</style>"
    r'|(?<=<g) id="[^"]*"|\n\s*',
    re.DOTALL,
)
FONT = re.compile(r"(?<=px )'DejaVu Sans'[^;\"]*|(?<=font-family: )[^;\"]*")
TAG = re.compile(r"<[^>]*>")
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


class Picture(Figure):
    """A matplotlib figure with a text alternative, shown without pyplot.

    Args:
        alt: what a reader who doesn't see the picture needs to know.
        size: width and height in inches.
    """

    def __init__(self, alt: str, size: tuple[float, float]) -> None:
        super().__init__(figsize=size, dpi=DPI, layout="constrained")
        self.alt = alt

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        with matplotlib.style.context(["default", STYLE]):
            data = {"image/svg+xml": self._drawing(), "image/png": self._points()}
        alt = {"alt": self.alt}
        return data | {"text/plain": repr(self)}, dict.fromkeys(data, alt)

    def _drawing(self) -> str:
        drawn = io.StringIO()
        self.savefig(drawn, format="svg", transparent=True, metadata=NO_METADATA)
        width, height = self.get_size_inches()
        start = START.format(
            alt=html.escape(self.alt),
            width=width * DPI,
            height=height * DPI,
            box=f"0 0 {width * POINTS:g} {height * POINTS:g}",
        )
        body = SURPLUS.sub("", HEAD.sub("", drawn.getvalue(), count=1))
        body = FONT.sub("system-ui, sans-serif", body).replace(INK, "currentColor")
        return start + TAG.sub(_shortened, body)

    def _points(self) -> str:
        drawn, small = io.BytesIO(), io.BytesIO()
        self.savefig(drawn, format="png")
        # A palette makes the file about a third as large.
        Image.open(drawn).convert("RGB").quantize(128).save(small, "png", optimize=True)
        return base64.b64encode(small.getvalue()).decode("ascii")


def _shortened(tag: re.Match[str]) -> str:
    """A tag whose numbers, which are points of the page, keep two decimals."""
    return LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}", tag[0])
