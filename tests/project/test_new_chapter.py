"""Starting a chapter: what is written passes the tests, a bad name gets one line."""

import os
import re
import subprocess
import sys

import pytest

from tests import ROOT
from tests.book.test_notebooks import CHAPTERS, WRITTEN
from tests.conftest import copy_of_the_book
from tools import new_chapter

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
