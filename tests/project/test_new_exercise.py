"""An exercise that was just started works, as it stands."""

import os
import subprocess
import sys

import pytest

from tests import ROOT
from tests.conftest import copy_of_the_book
from tools import new_exercise, notebooks

SLUG, CHAPTER = "row-means", "03_scaling"
TAKEN = ("audit", "verdict", "cases", "exercise", "support", "class", "lambda")


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """A copy of the book in which an exercise was started."""
    book = copy_of_the_book(tmp_path_factory.mktemp("started") / "book")
    paths = new_exercise.start(SLUG, CHAPTER, book)
    assert all(path.is_relative_to(book) for path in paths)
    return book


def run(book, *command):
    return subprocess.run(
        [sys.executable, *command],
        cwd=book,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_the_check_knows_right_answers_and_names_three_mistakes(started):
    program = (
        "import helpers; from helpers import checks; print(helpers.__file__);"
        "from tests.solutions import RIGHT, WRONG;"
        "print([checks.row_means.examine(one).kind for one in RIGHT['row_means']]);"
        "print([checks.row_means.examine(one).mistake == name"
        " for one, name in WRONG['row_means']])"
    )
    done = run(started, "-c", program)
    assert done.returncode == 0, done.stderr
    where, right, named = done.stdout.splitlines()
    assert where.startswith(str(started))
    assert right == str(["right"] * 4)
    assert named == str([True] * 3)


def test_its_cells_stand_behind_the_last_exercise_and_run(started):
    page = started / "chapters" / f"{CHAPTER}.ipynb"
    before = notebooks.read(ROOT / "chapters" / f"{CHAPTER}.ipynb")
    notebook = notebooks.read(page)
    new = [cell for cell in notebook.cells if cell.id.endswith(f"-{SLUG}")]
    assert [cell.id.partition("-")[0] for cell in new] == [
        *("exercise", "stub", "check", "hint", "solution")
    ]
    assert len(notebook.cells) == len(before.cells) + 5
    place = [cell.id for cell in notebook.cells].index(new[0].id)
    assert notebook.cells[place - 1].id.startswith("solution-")
    earlier = sum(cell.id.startswith("exercise-") for cell in before.cells)
    assert new[0].source.startswith(f"### Exercise {earlier + 1}: ")
    assert new[-1].metadata["tags"] == ["hide-cell"]
    code = [cell.source for cell in new if cell.cell_type == "code"]
    done = run(started, "-c", "\n".join(["from helpers import checks", *code]))
    assert done.stdout.startswith("○ my_row_means: not attempted yet.")
    assert "✓ solved_row_means: right." in done.stdout, done.stderr


def test_the_first_exercise_of_a_chapter_has_a_heading_and_its_import():
    notebook = notebooks.nbformat.v4.new_notebook(
        cells=[
            notebooks.nbformat.v4.new_code_cell("import torch", id=notebooks.SETUP_ID)
        ]
    )
    new_exercise.add_cells(notebook, SLUG)
    setup, first, *_ = notebook.cells
    assert setup.source == "import torch\nfrom helpers import checks"
    assert first.source.startswith("## Exercises\n")
    assert "### Exercise 1: " in first.source


def test_an_authors_own_words_above_the_exercises_stay():
    cells = [
        notebooks.nbformat.v4.new_code_cell("import torch", id=notebooks.SETUP_ID),
        notebooks.nbformat.v4.new_markdown_cell("## Exercises\n\nTake your time."),
        notebooks.nbformat.v4.new_markdown_cell("## What to remember"),
    ]
    notebook = notebooks.nbformat.v4.new_notebook(cells=cells)
    new_exercise.add_cells(notebook, SLUG)
    _, first, *_, last = notebook.cells
    assert first.source.startswith(
        "## Exercises\n\nTake your time.\n\n### Exercise 1: "
    )
    assert last.source == "## What to remember"
    assert len(notebook.cells) == 2 + 5


@pytest.mark.parametrize(
    ("chapter", "words"), [(CHAPTER, "chapter 3"), ("muon", "the page muon")]
)
def test_a_check_says_whose_exercise_it_is(tmp_path, chapter, words):
    for folder in ("helpers/checks/exercises", "tests/solutions", "chapters"):
        (tmp_path / folder).mkdir(parents=True)
    page = f"chapters/{chapter}.ipynb"
    (tmp_path / page).write_bytes((ROOT / page).read_bytes())
    listed = "helpers/checks/exercises/__init__.py"
    (tmp_path / listed).write_bytes((ROOT / listed).read_bytes())
    check, *_ = new_exercise.start(SLUG, chapter, tmp_path)
    assert check.read_text().startswith(f'"""Exercise of {words}: ')


def test_a_notebook_may_be_named_by_its_path(tmp_path):
    for folder in ("helpers/checks/exercises", "tests/solutions", "chapters"):
        (tmp_path / folder).mkdir(parents=True)
    for path in (f"chapters/{CHAPTER}.ipynb", "helpers/checks/exercises/__init__.py"):
        (tmp_path / path).write_bytes((ROOT / path).read_bytes())
    *_, page = new_exercise.start(SLUG, f"chapters/{CHAPTER}.ipynb", tmp_path)
    assert page == tmp_path / "chapters" / f"{CHAPTER}.ipynb"
    assert f"exercise-{SLUG}" in {cell.id for cell in notebooks.read(page).cells}


def test_notebooks_run_with_the_library_beside_them(monkeypatch, tmp_path):
    """An environment may have been made for another copy of the book."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
    page = tmp_path / "page.ipynb"
    page.write_bytes((ROOT / "chapters" / f"{CHAPTER}.ipynb").read_bytes())
    found = []
    monkeypatch.setattr(
        notebooks, "execute", lambda *_: found.append(os.environ["PYTHONPATH"])
    )
    monkeypatch.setattr(sys, "argv", ["notebooks", "run", str(page)])
    notebooks.main()
    [paths] = found
    assert paths.split(os.pathsep)[0] == str(ROOT)


@pytest.mark.parametrize(
    ("slug", "chapter", "words"),
    [
        ("row_means", CHAPTER, "the slug must be small letters and hyphens"),
        ("softmax", CHAPTER, "there is an exercise softmax already"),
        ("row-means", "99_nothing", "there is no notebook"),
        # Names of the package that the exercise would take the place of.
        *((name, CHAPTER, f"can't be called {name}") for name in TAKEN),
    ],
)
def test_what_cannot_be_started_is_named_and_nothing_is_written(
    tmp_path, slug, chapter, words
):
    for folder in ("helpers/checks/exercises", "tests/solutions", "chapters"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "chapters" / f"{CHAPTER}.ipynb").touch()
    (tmp_path / "helpers/checks/exercises/softmax.py").touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=words):
        new_exercise.start(slug, chapter, tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
