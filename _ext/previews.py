"""Let a page's description be its first sentences, which say what the page is for.

sphinxext-opengraph would take the first 200 letters, whatever they belong to. A
preview's picture is drawn from the same text.
"""

import html
import pathlib
import re
import textwrap

from docutils import nodes
from matplotlib import font_manager
from sphinxext import opengraph

FONT = pathlib.Path(opengraph.__file__).parent / "_static" / "Roboto-Flex.ttf"


def first_sentences(doctree, length, known_titles=frozenset()):
    """Of the first paragraph, the whole sentences that fit, as one escaped line."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        fits = re.match(rf".{{,{length - 1}}}[.?](?=\s|$)", text)
        if fits:
            text = fits[0]
        return html.escape(textwrap.shorten(text, length, placeholder=" …"))
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
    opengraph.get_description = first_sentences
    return {"parallel_read_safe": True, "parallel_write_safe": True}
