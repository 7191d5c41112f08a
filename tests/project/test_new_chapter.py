"""Starting a chapter: it passes the tests, with its exercises all of them."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from tests import ROOT
from tests.book.test_notebooks import CHAPTERS, LAST_PARTS, WRITTEN
from tests.conftest import copy_of_the_book
from tools import new_chapter, new_exercise, notebooks

NAME = f"{int(max(WRITTEN).name[:2]) + 1:02}_my_chapter"  # the next free number
TITLE = 'Why "small" steps cost $5'
# What asks something of every chapter, or of the list of them.
CONCERNED = f"{NAME} or table_of_contents or check_has_its_exercise or prose"


def run(*command, cwd):
    """The finished process, run in a copy of the book."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(cwd)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the book with a new chapter."""
    folder = copy_of_the_book(tmp_path_factory.mktemp("new") / "book")
    done = run("-m", "tools.new_chapter", NAME, TITLE, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_a_new_chapter_passes_every_test(copy):
    tests = ["tests/book/test_notebooks.py", "tests/book/test_exercises.py"]
    options = ["-v", "-n", "0", "-p", "no:cacheprovider", "-k", CONCERNED]
    chapter = f"chapters/{NAME}.ipynb"
    done = run("-m", "pytest", *tests, chapter, *options, cwd=copy)
    assert done.returncode == 0, done.stdout
    for name in ("canonical", "formatting", "anatomy", "against_pytorch", "every_link"):
        assert re.search(rf"::test_\w*{name}\w*\[{NAME}\] PASSED", done.stdout), name
    assert f"{NAME}::ipynb::Cell 0 PASSED" in done.stdout
    for ruff in (["check"], ["format", "--check", "--line-length", "80"]):
        done = run("-m", "ruff", *ruff, chapter, cwd=copy)
        assert done.returncode == 0, done.stdout


def headings(notebook):
    """Of the steps and parts, in their order."""
    texts = [one.source for one in notebook.cells if one.cell_type == "markdown"]
    return re.findall(r"^## (.+)", "\n".join(texts), re.MULTILINE)


def test_exercises_of_a_new_chapter_come_below_its_heading():
    notebook = new_chapter.draft(16, TITLE)
    parts = headings(notebook)
    assert parts[-4:] == LAST_PARTS
    for slug in ("row-means", "row-sums"):
        new_exercise.add_cells(notebook, slug)
    assert headings(notebook) == parts
    ids = [cell.id for cell in notebook.cells]
    first = ids.index("exercise-row-means")
    assert [id_.partition("-")[0] for id_ in ids[first : first + 10]] == 2 * [
        *("exercise", "stub", "check", "hint", "solution")
    ]
    assert ids[first + 10 :] == ["what-to-remember", "sources"]
    setup = next(cell for cell in notebook.cells if cell.id == notebooks.SETUP_ID)
    assert "\nfrom helpers import attention, checks\n" in setup.source


@pytest.mark.slow
def test_a_new_chapter_with_exercises_passes_every_test_as_a_chapter(copy):
    """With exercises, without the draft's line, and in the table of contents."""
    for slug in ("row-means", "row-sums"):
        done = run("-m", "tools.new_exercise", slug, NAME, cwd=copy)
        assert done.returncode == 0, done.stderr
    path = copy / "chapters" / f"{NAME}.ipynb"
    notebook = notebooks.read(path)
    title = notebook.cells[0]
    assert new_chapter.is_draft(notebook)
    title.source = title.source.replace(f"{new_chapter.DRAFT}\n\n", "")
    assert not new_chapter.is_draft(notebook)
    notebooks.write(path, notebook)
    contents, last = copy / "_toc.yml", max(WRITTEN).stem
    listed = contents.read_text(encoding="utf-8")
    entry = f"- file: chapters/{last}\n"
    assert entry in listed
    listed = re.sub(f"( *){entry}", rf"\g<0>\1- file: chapters/{NAME}\n", listed)
    contents.write_text(listed, encoding="utf-8")
    done = run("-m", "tools.notebooks", "run", f"chapters/{NAME}.ipynb", cwd=copy)
    assert done.returncode == 0, done.stderr

    tests = ["tests/book/test_notebooks.py", "tests/book/test_exercises.py"]
    options = ["-v", "-n", "0", "-p", "no:cacheprovider", "-k", CONCERNED]
    chapter = f"chapters/{NAME}.ipynb"
    done = run("-m", "pytest", *tests, chapter, *options, cwd=copy)
    assert done.returncode == 0, done.stdout
    for name in ("anatomy", "answers_folded", "of_five_parts", "two_quizzes"):
        assert re.search(rf"::test_\w*{name}\w*\[{NAME}\] PASSED", done.stdout), name
    done = run("-m", "ruff", "check", ".", cwd=copy)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("module", [new_chapter, new_exercise])
def test_the_examples_name_a_number_that_is_free(module):
    """Else who copies the command is told that the chapter exists."""
    text = pathlib.Path(module.__file__).read_text(encoding="utf-8")
    text += (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    numbers = set(re.findall(r"\b(\d\d)_my_chapter", text))
    assert numbers
    assert numbers.isdisjoint(path.name[:2] for path in WRITTEN)


@pytest.mark.parametrize(
    "name", ["", "my_chapter", "1_my_chapter", "10_My_Chapter", "10", "../10_up"]
)
def test_a_bad_name_is_named(name):
    found = new_chapter.problem(name, TITLE, CHAPTERS)
    assert f"NAME is {name!r}; it must be two digits" in found


def test_a_number_that_is_taken_is_named():
    found = new_chapter.problem("09_more", TITLE, CHAPTERS)
    assert found == "NAME is '09_more', but 09_transformer_block.ipynb exists already"


@pytest.mark.parametrize("title", ["", " ", "two\nlines"])
def test_a_bad_title_is_named(title):
    assert "TITLE is" in new_chapter.problem(NAME, title, CHAPTERS)


def test_the_command_says_it_in_one_line():
    done = run("-m", "tools.new_chapter", "my_chapter", TITLE, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr == f"{new_chapter.problem('my_chapter', TITLE, CHAPTERS)}\n"
