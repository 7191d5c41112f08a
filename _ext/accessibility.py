"""Give pictures their words, and the sidebar a name that screen readers announce.

A notebook keeps a picture's text alternative in the output's metadata, where JupyterLab
and nbconvert look; MyST-NB reads only the cell's. A drawing has its own, and becomes a
part of the page, whose theme it then follows; the style sheet learns its width, for
phones. The theme puts the logo and the search outside every landmark of the page.
"""

import pathlib
import re

from docutils import nodes
from myst_nb.core.render import NbElementRenderer

PLAIN = '<div class="sidebar-primary-items__start'
NAMED = '<div role="navigation" aria-label="Book" class="sidebar-primary-items__start'
WIDTH = re.compile(r'<svg[^>]* width="(\d+)"')
render_image = NbElementRenderer.render_image


def name_sidebar(app, error):
    """Rewrite each page once all are there."""
    if error is None and app.builder.format == "html":
        for path in pathlib.Path(app.outdir).rglob("*.html"):
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(PLAIN, NAMED), encoding="utf-8")


def render_image_with_alt(self, data):
    """Render as MyST-NB does, and take over the output's ``alt``; put drawings in."""
    if data.mime_type == "image/svg+xml":
        found = WIDTH.search(data.string)
        style = f' style="--width: {found[1]}px"' if found else ""
        frame = f'<div class="drawing"{style}>{data.string}</div>'
        return [nodes.raw("", frame, format="html")]
    rendered = render_image(self, data)
    alt = data.output_metadata.get(data.mime_type, {}).get("alt")
    if alt:
        for node in rendered:
            node["alt"] = alt
    return rendered


def setup(app):
    """Replace MyST-NB's renderer of images, and connect to Sphinx."""
    NbElementRenderer.render_image = render_image_with_alt
    app.connect("build-finished", name_sidebar)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
