"""Let a page's description be its first paragraph, which says what the page is for.

sphinxext-opengraph would take the first 200 letters, whatever they belong to. A
preview's picture is drawn from the same text.
"""

import html
import pathlib
import textwrap

from docutils import nodes
from matplotlib import font_manager
from sphinxext import opengraph

FONT = pathlib.Path(opengraph.__file__).parent / "_static" / "Roboto-Flex.ttf"


def first_paragraph(doctree, length, known_titles=frozenset()):
    """The first paragraph as one escaped line, ending with a whole word."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = textwrap.shorten(paragraph.astext(), length, placeholder=" …")
        return html.escape(text)
    return ""


def know_bold_letters():
    """Let the pictures' one font stand for its bold letters, too.

    It is asked for them, and Matplotlib would say in each build that it has none.
    """
    bold = font_manager.FontEntry(
        fname=str(FONT), name="Roboto Flex", weight=700, size="scalable"
    )
    font_manager.fontManager.ttflist.append(bold)


def setup(app):
    """Replace the extension's own choice."""
    app.setup_extension("sphinxext.opengraph")
    know_bold_letters()
    opengraph.get_description = first_paragraph
    return {"parallel_read_safe": True, "parallel_write_safe": True}
