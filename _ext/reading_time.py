"""Show a chapter's own statement of its time at the top of the page, too."""

import re

from docutils import nodes

TIME = re.compile(r"Time:\s+about (\d+) minutes\b(?:, and (\d+) for the exercises)?")


def read_time(doctree):
    """The minutes of reading that a page states and those of its exercises.

    Returns:
        minutes: two strings; the second is None where the page names no exercises.
            None where the page states no time.
    """
    for paragraph in doctree.findall(nodes.paragraph):
        found = TIME.match(paragraph.astext())
        if found:
            return found.groups()
    return None


def add_time(app, pagename, templatename, context, doctree):
    """Hand the times to the template ``reading-time.html``."""
    context["reading_time"] = None if doctree is None else read_time(doctree)


def setup(app):
    """Connect to Sphinx."""
    app.connect("html-page-context", add_time)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
