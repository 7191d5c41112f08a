"""Each record has its program, its pages, and a test that holds what they say of it.

``helpers/recorded/NAME.json`` is made by ``python -m experiments.NAME``, and the first
line of ``tests/book/test_NAME_record.py`` names the pages that read it. Where NAME is a
package of studies, each has a test of its own.
"""

import ast
import functools
import re

import pytest

from experiments import real_model
from helpers.recorded import results
from tests import ROOT
from tests.book.test_notebooks import NOTEBOOKS, code
from tools import notebooks, tables

NAMES = sorted(path.stem for path in (ROOT / "helpers/recorded").glob("*.json"))
# No experiments, but what they share.
SHARED = {"everyday", "many", "running", "sweeps"}


def docstring(path):
    return ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8")))


@functools.cache
def programs():
    """The code of each notebook, by its path."""
    return {
        path: "\n".join(cell.source for cell in code(notebooks.read(path)))
        for path in NOTEBOOKS
    }


def pages(name):
    """The notebooks that read a record."""
    reads = re.compile(rf'(results\.(record|read|runs)|recorded_losses)\(\s*"{name}"')
    return [path for path, source in programs().items() if reads.search(source)]


def called(path):
    """How a sentence names a page: "chapter 9", or "KV cache"."""
    page = tables.read(path)
    if page.number:
        return rf"\bchapters? (\d+ and )?{page.number}\b"
    return re.escape(re.sub(r"^(A|The) |:.*", "", page.title))


@pytest.mark.parametrize("name", NAMES)
def test_a_record_has_a_program_and_a_test_that_names_its_pages(name):
    tests = [name]
    if name == "real_model":
        assert (ROOT / f"experiments/{name}/__main__.py").exists()
        tests = [f"{name}_{study}" for study in real_model.STUDIES]
    else:
        assert (ROOT / f"experiments/{name}.py").exists()
    said = [docstring(f"tests/book/test_{one}_record.py") for one in tests]
    first = [one.splitlines()[0] for one in said]
    for path in pages(name):
        assert any(re.search(called(path), one) for one in first), path.name
    assert all(re.search("chapter|page|machines", one) for one in first)


def test_every_record_but_the_models_own_is_read_by_a_page():
    assert {*results.NAMES, *results.OF_RUNS} == {*NAMES} - {"story_model"}
    assert [name for name in NAMES if not pages(name)] == ["story_model"]


def test_the_package_names_the_experiments_that_are_run_by_themselves():
    source = (ROOT / "experiments/__main__.py").read_text(encoding="utf-8")
    together = set(re.findall(r"\w+", source.partition('"""\n\n')[2])) & {*NAMES}
    named = set(re.findall(r"``(\w+)``", docstring("experiments/__init__.py")))
    assert named - SHARED == {*NAMES} - together
    modules = {path.stem for path in (ROOT / "experiments").glob("[a-z]*.py")}
    modules |= {path.parent.name for path in (ROOT / "experiments").glob("*/*.py")}
    assert modules == {*NAMES} | SHARED


def test_contributing_names_every_experiment():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## Commands")[2].partition("\n### ")[0]
    assert [name for name in NAMES if not re.search(rf"\b{name}`", table)] == []
