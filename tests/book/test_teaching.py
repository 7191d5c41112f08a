"""The teacher's page: its tables say what the notebooks say, and its plans add up."""

import re

import pytest

from tests.book.test_book import PAGES, TIME
from tests.book.test_exercises import exercises
from tests.book.test_notebooks import BESIDE, CHAPTERS, NUMBERED, WITH_EXERCISES
from tools import notebooks

TEXT = (CHAPTERS / "teaching.md").read_text(encoding="utf-8")
DIFFICULTY = re.compile(r"^\*(Easy|Medium|Hard), about (\d+) minutes\.\*$", re.M)
LEVELS = ("easy", "medium", "hard")
WITHOUT_EXERCISES = {
    "bug museum": "bug_museum.ipynb",
    "bugs around the layer": "bug_museum_behind_the_layer.ipynb",
    "the audit": "audit.ipynb",
}


def rows(text, heading):
    """The rows of the tables below a heading, without each table's two head lines."""
    below = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    tables = re.findall(r"(?:^\|.*\n)+", below, re.M)
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for table in tables
        for line in table.splitlines()[2:]
    ]


def minutes(path):
    """Those of a notebook for reading, and those for its exercises."""
    title = notebooks.read(path).cells[0].source
    return [int(number) for number in TIME.search(title).groups(default=0)]


def exercises_of(path):
    """A page's exercises: difficulty, link to the page, name, minutes."""
    link = f"[{BESIDE.get(path) or int(path.name[:2])}]({path.name})"
    for cells in exercises(notebooks.read(path)).values():
        task = cells["exercise"].source
        name = re.search(r"^### Exercise \d: (.+)$", task, re.M)[1]
        level, needed = DIFFICULTY.search(task).groups()
        yield [level.lower(), link, name, needed]


def planned(what):
    """The minutes of a plan's cell, such as "chapter 5; exercises of chapter 5"."""
    total = 0
    for part in what.split("; "):
        if part in WITHOUT_EXERCISES:
            total += minutes(CHAPTERS / WITHOUT_EXERCISES[part])[0]
            continue
        kind = re.fullmatch(r"(exercises of )?chapters? (\d+)(?: and (\d+))?", part)
        for number in filter(None, kind.groups()[1:]):
            total += minutes(NUMBERED[int(number) - 1])[kind[1] is not None]
    return total


def test_the_table_of_minutes_says_what_the_chapters_say():
    found = rows(TEXT, "How long a chapter takes")
    expected = []
    for path in NUMBERED:
        quizzes = [c for c in notebooks.read(path).cells if c.id.startswith("quiz-")]
        link = f"[{int(path.name[:2])}]({path.name})"
        expected.append([link, *map(str, minutes(path)), str(len(quizzes))])
    assert found == expected


def test_the_pages_beside_the_chapters_are_those_of_the_contents():
    links = [row[0] for row in rows(TEXT, "The pages beside the chapters")]
    found = re.findall(r"\]\((\w+)\.ipynb\)", " ".join(links))
    in_order = [page.removeprefix("chapters/") for page in PAGES]
    beside = {path.stem for path in BESIDE}
    beside |= {file.removesuffix(".ipynb") for file in WITHOUT_EXERCISES.values()}
    assert found == [page for page in in_order if page in beside]


@pytest.mark.parametrize(
    "row", rows(TEXT, "The pages beside the chapters"), ids=lambda row: row[0]
)
def test_a_page_beside_the_chapters_needs_the_minutes_that_it_names(row):
    title, file = re.fullmatch(r"\[(.+)\]\((\w+\.ipynb)\)", row[0]).groups()
    path = CHAPTERS / file
    assert notebooks.read(path).cells[0].source.startswith(f"# {title}\n")
    assert row[2:4] == list(map(str, minutes(path)))


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


def test_the_table_of_exercises_says_what_the_chapters_say():
    expected = [row for path in WITH_EXERCISES for row in exercises_of(path)]
    expected.sort(key=lambda row: LEVELS.index(row[0]))
    assert rows(TEXT, "The exercises") == expected


@pytest.mark.parametrize("path", WITH_EXERCISES, ids=lambda path: path.stem)
def test_a_chapter_says_how_long_its_exercises_take_together(path):
    assert minutes(path)[1] == sum(int(row[-1]) for row in exercises_of(path))


@pytest.mark.parametrize("row", rows(TEXT, "Three courses"), ids=lambda row: row[0])
def test_a_plan_adds_up(row):
    assert int(row[-1]) == planned(row[1])


def test_a_session_leaves_time_for_talk():
    kept = [row for row in rows(TEXT, "Three courses") if row[0].startswith("session")]
    assert len(kept) == 2
    assert all(int(row[-1]) <= 75 for row in kept)  # of ninety minutes


def test_one_term_holds_all_chapters():
    plan = " ".join(row[1] for row in rows(TEXT, "Three courses") if "week" in row[0])
    for kind in (r"(?<!of )chapters?", r"exercises of chapters?"):
        held = re.findall(rf"{kind} (\d+)(?: and (\d+))?", plan)
        numbers = sorted(int(n) for pair in held for n in pair if n)
        assert numbers == list(range(1, len(NUMBERED) + 1))
