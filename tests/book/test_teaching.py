"""The teacher's page: what it says of needs and minutes is so, and its plans add up."""

import re

import pytest

from tests.book.test_exercises import exercises
from tests.book.test_notebooks import CHAPTERS, NUMBERED, WITH_EXERCISES
from tools import notebooks, tables

TEXT = (CHAPTERS / "teaching.md").read_text(encoding="utf-8")


def rows(text, heading):
    """The rows of the tables below a heading, without each table's two head lines."""
    below = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    tables = re.findall(r"(?:^\|.*\n)+", below, re.M)
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for table in tables
        for line in table.splitlines()[2:]
    ]


def names_first(path):
    """The chapters that a page names as what to know first."""
    title = notebooks.read(path).cells[0].source
    first = re.search(r"\*\*Know first:\*\*.+", title)[0]
    return sorted(re.findall(r"\]\(0?(\d+)_\w+\.ipynb[#\w-]*\)", first))


def test_the_needs_are_the_chapters_that_a_page_names():
    chapters = rows(TEXT, "What each chapter clears up")
    beside = rows(TEXT, "The pages beside the chapters")
    files = [re.search(r"\((\w+\.ipynb)\)", row[0])[1] for row in beside]
    paths = [*NUMBERED, *(CHAPTERS / file for file in files)]
    for (_, needs, *_), path in zip([*chapters, *beside], paths, strict=True):
        assert sorted(re.findall(r"\d+", needs)) == names_first(path), path.stem


@pytest.mark.parametrize("path", WITH_EXERCISES, ids=lambda path: path.stem)
def test_a_chapter_says_how_long_its_exercises_take_together(path):
    page = tables.read(path)
    together = sum(needed for *_, needed in page.exercises)
    assert page.minutes[1] == together, "the minutes of the exercises in the first cell"
    # Every exercise is one with a check.
    assert len(page.exercises) == len(exercises(notebooks.read(path)))


@pytest.mark.parametrize("row", rows(TEXT, "Four courses"), ids=lambda row: row[0])
def test_a_plan_is_added_up_by_the_command_for_tables(row):
    assert tables.PLAN.fullmatch(f"| {' | '.join(row)} |")


def test_a_session_leaves_time_for_talk():
    kept = [row for row in rows(TEXT, "Four courses") if row[0].startswith("session")]
    assert len(kept) == 2 + 4
    assert all(int(row[-1]) <= 75 for row in kept)  # of ninety minutes


def test_one_term_holds_all_chapters():
    plan = " ".join(row[1] for row in rows(TEXT, "Four courses") if "week" in row[0])
    for kind in (r"(?<!of )chapters?", r"exercises of chapters?"):
        held = re.findall(rf"{kind} (\d+)(?: and (\d+))?", plan)
        numbers = sorted(int(n) for pair in held for n in pair if n)
        assert numbers == [int(path.name[:2]) for path in NUMBERED]
