"""``explore`` in JupyterLab: it computes with a kernel, and is seen without one."""

import nbformat
import pytest

from tests.jupyterlab.lab import saved
from tools import notebooks

pytestmark = pytest.mark.slow
EXPLORE = """import os
os.environ.pop("BOOK_STATIC", None)
from helpers.views import Range, Text, explore

def shares(width, word):
    return [{"twice": 2 * width, "share": 1 / len(word)}, f"of {word}"]

explore(shares, title="Shares", decimals=1, word=Text("hello"),
        width=Range(0.5, 9.0, 0.5, values=[1.5, 4.0]))
"""


@pytest.fixture
def explored(lab):
    """A notebook of one cell, which has run."""
    cells = [nbformat.v4.new_code_cell(EXPLORE)]
    small = nbformat.v4.new_notebook(cells=cells, metadata=notebooks.METADATA)
    nbformat.write(small, lab.folder / "explore.ipynb")
    opened = lab.open("explore.ipynb")
    opened.run_all()
    return opened


def test_explore_computes_what_only_a_kernel_can(explored):
    """A value between those of the page, words of one's own, an error and its end."""
    page = explored.page
    view = page.locator('.aos-view[data-module="explore"]')
    shown = {
        name: view.locator(f'[data-value="{place}"]')
        for name, place in (("twice", "bar 0 0"), ("share", "bar 0 1"))
    }
    text, wrong = (view.locator(f'[data-value="{one}"]') for one in ("part 1", "wrong"))
    shown["twice"].get_by_text("3.0").wait_for()
    view.locator("[data-control]").first.wait_for(state="detached")
    page.locator(".aos-explore .noUi-handle").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    shown["twice"].get_by_text("5.0").wait_for()
    field = page.locator(".aos-explore .widget-text input")
    field.fill("ab")
    shown["share"].get_by_text("0.5").wait_for()
    assert text.inner_text() == "of ab"
    field.fill("")
    wrong.get_by_text("ZeroDivisionError").wait_for()
    assert "shares was called with word = '', width = 2.5" in wrong.inner_text()
    assert (text.inner_text(), shown["share"].inner_text()) == ("of ab", "0.5")
    field.fill("0123456789")
    shown["share"].get_by_text("0.1").wait_for()
    assert (wrong.inner_text(), shown["twice"].inner_text()) == ("", "5.0")
    explored.picture("explore")
    explored.close()


def test_explore_is_alive_in_a_notebook_that_is_reopened(lab, explored):
    """With the kernel its box moves the view; without it the view alone is seen."""
    page = explored.page
    view = page.locator('.aos-view[data-module="explore"]')
    view.locator(".live").wait_for()
    page.locator(".aos-explore .noUi-handle").wait_for()
    view.locator("[data-control]").first.wait_for(state="detached")
    page.keyboard.press("Control+s")
    path = lab.folder / explored.name
    while (result := saved(path, 1)) is None:
        page.wait_for_timeout(200)
    assert len(result.cells[0].outputs) == 2
    explored.close()

    reopened = lab.open(explored.name)
    view = reopened.page.locator('.aos-view[data-module="explore"]')
    view.wait_for()
    lost = reopened.page.get_by_text("model not found")
    lost.wait_for(state="attached")
    assert not lost.is_visible()
    assert view.locator('[data-value="bar 0 0"]').inner_text() == "3.0"
    view.locator('[data-control="width"]').press("ArrowRight")
    assert view.locator('[data-value="bar 0 0"]').inner_text() == "8.0"
    reopened.close()
