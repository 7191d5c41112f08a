"""Give the theme's sidebar a landmark, so that screen readers can reach its logo.

The theme puts the logo and the search outside every landmark of the page.
"""

import pathlib

PLAIN = '<div class="sidebar-primary-items__start'
NAMED = '<div role="navigation" aria-label="Book" class="sidebar-primary-items__start'


def name_sidebar(app, error):
    """Rewrite each page once all are there."""
    if error is None and app.builder.format == "html":
        for path in pathlib.Path(app.outdir).rglob("*.html"):
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(PLAIN, NAMED), encoding="utf-8")


def setup(app):
    """Connect to Sphinx."""
    app.connect("build-finished", name_sidebar)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
