"""A directive that shows a view of a chapter on another page.

    ```{view} 01_dot_product_attention view-query-explorer
    ```

names a notebook beside the page and one of its cells. The view is the one that the
notebook has stored: nothing is computed, and both pages show the same.
"""

import pathlib

import nbformat
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from helpers.views.view import is_stored


class StoredView(SphinxDirective):
    """The view that a cell has stored, as HTML."""

    required_arguments = 2

    def run(self):
        """Put the stored HTML into the page."""
        name, cell_id = self.arguments
        page = pathlib.Path(self.get_source_info()[0])
        path = page.with_name(f"{name}.ipynb")
        self.env.note_dependency(str(path))
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", ()) if cell.id == cell_id else ():
                text = output.get("data", {}).get("text/html", "")
                if is_stored(text):
                    return [nodes.raw("", text, format="html")]
        raise self.error(f"{path.name} has no cell {cell_id!r} with a view")


def setup(app):
    """Add the directive."""
    app.add_directive("view", StoredView)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
