"""A notebook of views: the cells of the book that show one, with their outputs."""

import nbformat

from helpers.views.view import STORED
from tests.book.test_notebooks import NOTEBOOKS
from tools import notebooks


def gallery():
    """Every cell of the book that shows a view."""
    shown = nbformat.v4.new_notebook(metadata=notebooks.METADATA)
    for path in NOTEBOOKS:
        for cell in notebooks.read(path).cells:
            if list(views_of(cell)):
                cell.id = f"view-{len(shown.cells)}"
                shown.cells.append(cell)
    assert len(shown.cells) > len(NOTEBOOKS)
    return shown


def one_of_each(shown):
    """The first cell of each kind of view."""
    cells, seen = [], set()
    for cell in shown.cells:
        modules = {
            STORED.search(data["text/html"])["module"] for data in views_of(cell)
        }
        if modules - seen:
            seen |= modules
            cells.append(cell)
    return nbformat.v4.new_notebook(metadata=shown.metadata, cells=cells)


def views_of(cell):
    """What a cell has stored of its views."""
    return notebooks.views_of(nbformat.v4.new_notebook(cells=[cell]))
