"""Let a page's description be its first paragraph, which says what the page is for.

sphinxext-opengraph would take the first 200 letters, whatever they belong to. A
preview's picture is drawn from the same text.
"""

import html
import textwrap

from docutils import nodes
from sphinxext import opengraph


def first_paragraph(doctree, length, known_titles=frozenset()):
    """The first paragraph as one escaped line, ending with a whole word."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = textwrap.shorten(paragraph.astext(), length, placeholder=" …")
        return html.escape(text)
    return ""


def setup(app):
    """Replace the extension's own choice."""
    app.setup_extension("sphinxext.opengraph")
    opengraph.get_description = first_paragraph
    return {"parallel_read_safe": True, "parallel_write_safe": True}
