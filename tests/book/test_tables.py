"""What README, the first page and the page for teachers say of the chapters."""

import re

import nbformat
import pytest
from docutils import nodes

from _ext import page_parts
from tests import ROOT
from tools import notebooks, tables


@pytest.mark.parametrize("name", tables.FILES)
def test_every_table_is_what_the_notebooks_say(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text.count("<!-- table: ") == len(tables.PLACES.findall(text)) > 0
    assert tables.filled(text, tables.pages()) == text, "run python -m tools.tables"


def test_every_table_stands_somewhere():
    texts = "".join((ROOT / name).read_text(encoding="utf-8") for name in tables.FILES)
    assert sorted(re.findall("<!-- table: (.+) -->", texts)) == sorted(tables.TABLES)


def page(
    folder,
    name="07_cats.ipynb",
    first="# 7. Cats\n\n**Time:** about 8 minutes.",
    **facts,
):
    """A notebook of one chapter."""
    task = "### Exercise 1: Count cats\n\n*Easy, about 5 minutes.*"
    cells = [nbformat.v4.new_markdown_cell(text) for text in (first, task)]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"book": facts})
    nbformat.write(notebook, folder / name)
    return folder / name


FACTS = {fact: f"{fact} of cats" for fact in tables.FACTS}


def test_tables_are_made_of_cells_and_metadata(tmp_path):
    cats = tables.read(page(tmp_path, **FACTS))
    assert tables.readme([cats]).splitlines()[2] == (
        "| [7. Cats](chapters/07_cats.ipynb) | clear of cats |"
    )
    assert tables.minutes([cats]).splitlines()[2:] == [
        "| [7](07_cats.ipynb) | 8 | 0 | 0 |"
    ]
    assert tables.exercises([cats]).splitlines()[2:] == [
        "| easy | [7](07_cats.ipynb) | Count cats | 5 |"
    ]


def test_a_plan_is_added_up(tmp_path):
    cats = tables.read(page(tmp_path, **FACTS))
    dogs = "# 8. Dogs\n\n**Time:** about 9 minutes, and 5 for the exercises."
    dogs = tables.read(page(tmp_path, "08_dogs.ipynb", dogs, **FACTS))
    audit = "# The audit\n\n**Time:** about 10 minutes, and 3 for the exercises."
    audit = tables.read(page(tmp_path, "audit.ipynb", audit, **FACTS))
    row = "| day 1 | chapters 7 and 8; the audit; exercises of chapter 8 | {} |\n"
    filled = tables.filled(row.format(0), [cats, dogs, audit])
    assert filled == row.format(8 + 9 + 10 + 5)
    with pytest.raises(ValueError, match="'chapters 7 and 8', but there is no 8"):
        tables.filled(row.format(0), [cats, audit])


def test_what_is_missing_or_unknown_is_named(tmp_path):
    with pytest.raises(ValueError, match="facts that no table shows: "):
        tables.read(page(tmp_path, colour="red"))
    with pytest.raises(ValueError, match="must have a title and a "):
        tables.read(page(tmp_path, first="# 7. Cats"))
    lacking = tables.read(page(tmp_path, holds="cats"))
    with pytest.raises(ValueError, match=r"readme needs 'clear' .*: 07_cats"):
        tables.filled("<!-- table: readme -->\n<!-- end -->", [lacking])
    with pytest.raises(ValueError, match="there is no table dogs"):
        tables.filled("<!-- table: dogs -->\n<!-- end -->", [])


def test_facts_survive_when_a_notebook_is_brought_into_form(tmp_path):
    notebook = notebooks.read(page(tmp_path, **FACTS))
    notebook.metadata["widgets"] = {}
    notebooks.format_notebook(notebook)
    assert notebook.metadata["book"] == FACTS
    assert "widgets" not in notebook.metadata


@pytest.mark.parametrize(
    ("stated", "minutes"),
    [
        ("8 minutes.", (8, 0)),
        ("8 minutes, and 5 for the exercise.", (8, 5)),
        ("8 minutes, and about 5 for the exercises; stop at will.", (8, 5)),
    ],
)
def test_tables_and_pages_read_the_same_minutes(tmp_path, stated, minutes):
    first = f"# 7. Cats\n\n**Time:** about {stated}"
    assert tables.read(page(tmp_path, first=first, **FACTS)).minutes == minutes
    text = nodes.paragraph("", f"Time: about {stated}")  # as Sphinx hands it over
    doctree = nodes.section("", text)
    assert page_parts.read_time(doctree) == (
        *(str(one) if one else None for one in minutes),
    )
