"""The formula for minutes counts what there is to read, wherever it is put."""

import nbformat
import pytest

from tests import ROOT
from tools import minutes, notebooks, tables

v4 = nbformat.v4


def code(id_, source, printed="", tags=()):
    """A cell with its output."""
    outputs = [v4.new_output("stream", text=printed)] if printed else []
    cell = v4.new_code_cell(source, outputs=outputs, metadata={"tags": list(tags)})
    cell.id = id_
    return cell


def reading(*cells):
    return minutes.of_page(v4.new_notebook(cells=list(cells)))


def test_the_formula():
    found = minutes.Reading(words=300, code=40, printed=30, pauses=3)
    assert found.minutes == pytest.approx(2 + 3 + 1 + 6)


def test_words_are_what_is_read_of_a_text():
    text = (
        "A **word** of [this book](a_long_address.md), 1 $x$:\n\n| a | - |\n|---|---|"
    )
    assert reading(v4.new_markdown_cell(text)).words == 8
    folded = "<details><summary>What it says</summary>\n\nFour words.\n\n</details>"
    assert reading(v4.new_markdown_cell(folded)).words == 5


def test_exercises_and_sources_are_no_reading():
    cells = [
        v4.new_markdown_cell(
            "# Title\n\n**Predict:** one\n\n## Exercises\n\nnone of it"
        ),
        code("stub-one", "a = 1"),
        v4.new_markdown_cell("neither\n\n## What to remember\n\ntwo words"),
        v4.new_markdown_cell("## Sources\n\nno word"),
    ]
    assert reading(*cells) == minutes.Reading(words=8, pauses=1)


def test_folded_code_counts_where_its_names_are_used():
    plot = "def draw():\n    ...\n\nfor i in range(3):\n    draw()"
    setup = code("setup", "import torch\nimport numpy", tags=["hide-input"])
    folded = code("plot-one", plot, "a line\n", tags=["hide-input"])
    own = code("two", "for i in range(2):\n    print(i)", "0\n1\n")
    use = code("three", "%matplotlib inline\ndraw()")
    assert reading(setup, folded, own) == minutes.Reading(code=2, printed=3)
    assert reading(setup, folded, own, use) == minutes.Reading(code=8, printed=3)


def test_a_view_and_a_question_are_a_pause_each():
    view = code("view-one", "view()")
    quiz = code("quiz-one", "quiz(\n)", tags=["hide-input"])
    assert reading(view, quiz) == minutes.Reading(code=1, pauses=2)


def test_a_model_that_writes_is_reached_soon():
    """Nobody is to read for six hours before something learns."""
    taken = {
        path.stem: minutes.of_page(notebooks.read(path)).minutes
        for path in (ROOT / "chapters").glob("*.ipynb")
    }
    numbered = {name: one for name, one in taken.items() if name[:2].isdigit()}
    road = [numbered[name] for name in sorted(numbered)[:8]]
    assert max(road) <= 32
    assert sum(road[:7]) <= 200
    assert taken["in_one_sitting"] <= 40


@pytest.mark.parametrize("page", tables.pages(), ids=lambda page: page.file)
def test_a_page_states_the_minutes_of_the_formula(page):
    counted = minutes.of_page(notebooks.read(ROOT / "chapters" / page.file)).minutes
    assert page.minutes[0] == pytest.approx(counted, abs=3)
