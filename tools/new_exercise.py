"""Start an exercise: a check, solutions for its tests, and five cells of a chapter.

    python -m tools.new_exercise row-means 19_my_chapter

It works as it stands, on the mean of each row; the author puts the task in its place.
"""

import argparse
import keyword
import pathlib
import re
import sys

import nbformat

from helpers import checks
from helpers.checks import exercises
from tools import notebooks
from tools.new_chapter import NO_EXERCISES

# What asks something of an exercise, beside the notebook's own run.
TESTS = (
    "unit/test_checks",
    "unit/test_right_answers",
    "book/test_exercises",
    "book/test_notebooks",
    "book/test_tables",
    "book/test_teaching",
)
CHECK = '''\
"""Exercise of PAGE: the mean of each row."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _tables():
    """The smallest input first: it is shown to the reader."""
    generator = torch.Generator().manual_seed(1)
    return [
        Case("two rows", {"x": torch.tensor([[1.0, 2.0, 6.0], [0.0, 3.0, 3.0]])}),
        Case("a square", {"x": torch.randn(4, 4, generator=generator)}),
        Case("a batch", {"x": torch.randn(2, 3, 5, generator=generator)}),
    ]


EXERCISE = Exercise(
    name="NAME",
    stub="my_NAME(x)",
    asks="a function of x (..., T, C) that returns the mean of each row, (..., T).",
    returns={"means": "(..., T)"},
    reference=lambda x: x.mean(dim=-1),
    cases=_tables,
    mistakes=(
        Mistake(
            "the mean of each column",
            lambda x: x.mean(dim=-2),
            "A row runs along the last axis, dim=-1. Yours averages over the rows.",
        ),
        Mistake(
            "the sum in place of the mean",
            lambda x: x.sum(dim=-1),
            "Divide by how many numbers a row has, C.",
        ),
        Mistake(
            "one mean for all rows",
            lambda x: x.mean(),
            "Each row has a mean of its own: say dim=-1.",
        ),
    ),
)
'''
SOLUTIONS = '''\
"""The mean of each row."""


def by_mean(x):
    return x.mean(-1)


def by_sum(x):
    return x.sum(dim=-1) / x.shape[-1]


def by_columns(x):
    return sum(x.unbind(-1)) / x.size(-1)


def by_product(x):
    return x @ x.new_full((x.shape[-1],), 1 / x.shape[-1])


def of_columns(x):
    return x.mean(dim=-2)


def undivided(x):
    return x.sum(-1)


def of_everything(x):
    return x.mean()


RIGHT = [by_mean, by_sum, by_columns, by_product]
WRONG = [
    (of_columns, "the mean of each column"),
    (undivided, "the sum in place of the mean"),
    (of_everything, "one mean for all rows"),
]
'''
HEADING = """\
## Exercises

Write your code in place of the three dots, run the cell, then run the check below it.
The check says what your code does, and which mistake it looks like.

"""
# Each cell's kind, what its id begins with, and its text.
CELLS = (
    (
        "markdown",
        "exercise",
        """\
### Exercise NUMBER: The mean of each row

*Easy, about 5 minutes.*

Write `my_NAME(x)`: it returns the mean of each row of `x`.
`x` is `(..., T, C)`, and the means are `(..., T)`.""",
    ),
    (
        "code",
        "stub",
        'def my_NAME(x):\n    """The mean of each row of x (..., T, C)."""\n    ...',
    ),
    ("code", "check", "checks.NAME(my_NAME)"),
    (
        "markdown",
        "hint",
        """\
<details><summary>Hint</summary>

Along which axis does a row run?

</details>""",
    ),
    (
        "code",
        "solution",
        """\
# @title A solution: click to see it { display-mode: "form" }
def solved_NAME(x):
    \"\"\"The mean of each row of x (..., T, C).\"\"\"
    return x.mean(dim=-1)


checks.NAME(solved_NAME)""",
    ),
)


def cells_of(slug, number, heading=""):
    """The five cells of an exercise.

    Args:
        slug: words with hyphens.
        number: of the exercise in its chapter.
        heading: what stands above it in its first cell.
    """
    make = {
        "markdown": nbformat.v4.new_markdown_cell,
        "code": nbformat.v4.new_code_cell,
    }
    cells = []
    for kind, begin, text in CELLS:
        text = text.replace("NAME", name_of(slug)).replace("NUMBER", str(number))
        if begin == "exercise":
            text = heading + text
        cells.append(make[kind](text, id=f"{begin}-{slug}"))
    return cells


def name_of(slug):
    """What the check is called."""
    return slug.replace("-", "_")


def add_cells(notebook, slug):
    """Put an exercise behind those that a notebook has, and import the checks.

    The first one takes the place of the cell "Exercises", as a draft has it; where an
    author has written another text there, it stays above the exercise.
    """
    cells = notebook.cells
    solved = [n for n, cell in enumerate(cells) if cell.id.startswith("solution-")]
    if solved:
        place, heading = solved[-1] + 1, ""
    else:
        place, heading = _cleared(cells)
    cells[place:place] = cells_of(slug, len(solved) + 1, heading)
    setup = next(cell for cell in cells if cell.id == notebooks.SETUP_ID)
    setup.source = _with_checks(setup.source)


def _with_checks(source):
    """A setup cell's text that imports the checks, where ruff wants it."""
    found = re.search(r"^from helpers import (.*)$", source, re.MULTILINE)
    if found:
        names = {*found[1].split(", "), "checks"}
        line = f"from helpers import {', '.join(sorted(names))}"
        return source.replace(found[0], line)
    before, rooms, after = source.partition("\nfrom helpers.")
    return f"{before}\nfrom helpers import checks{rooms}{after}"


def _cleared(cells):
    """Where the first exercise comes, and its heading, whose own cell is taken out."""
    for place, cell in enumerate(cells):
        if cell.source.startswith("## Exercises"):
            own = cell.source.strip()
            del cells[place]
            return place, HEADING if own == NO_EXERCISES else f"{own}\n\n"
        if cell.source.startswith("## What to remember"):
            return place, HEADING
    return len(cells), HEADING


def start(slug, chapter, root=notebooks.ROOT):
    """Write check, solutions, cells, and the name into the list of exercises.

    Args:
        slug: words of small letters with hyphens, such as "row-means".
        chapter: a notebook of chapters, such as "19_my_chapter", or its path.
        root: the folder of the book.

    Returns:
        paths: of the files that were written.

    Raises:
        ValueError: a slug of other letters, an exercise that exists, a name that
            stands for something else, no such notebook.
    """
    if not re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", slug):
        raise ValueError(
            f"the slug must be small letters and hyphens, such as row-means; got {slug}"
        )
    name, chapter = name_of(slug), pathlib.PurePath(chapter).stem
    folder = root / "helpers" / "checks" / "exercises"
    check, listed = folder / f"{name}.py", folder / "__init__.py"
    solutions = root / "tests" / "solutions" / f"{name}.py"
    page = root / "chapters" / f"{chapter}.ipynb"
    for path in (check, solutions):
        if path.exists():
            raise ValueError(f"there is an exercise {name} already: {path}")
    if keyword.iskeyword(name) or any(
        hasattr(one, name) for one in (checks, exercises)
    ):
        raise ValueError(
            f"an exercise can't be called {name}: Python, or helpers.checks, has "
            "something else of that name"
        )
    if not page.exists():
        raise ValueError(f"there is no notebook {page}; name one as 03_scaling")
    number = re.match(r"\d\d", chapter)
    of = f"chapter {int(number[0])}" if number else f"the page {chapter}"
    check.write_text(CHECK.replace("PAGE", of).replace("NAME", name), encoding="utf-8")
    solutions.write_text(SOLUTIONS, encoding="utf-8")
    text = listed.read_text(encoding="utf-8")
    changed = re.sub(r'("\w+",\n)(\)\nEXERCISES)', rf'\1    "{name}",\n\2', text)
    listed.write_text(changed, encoding="utf-8")
    notebook = notebooks.read(page)
    add_cells(notebook, slug)
    notebooks.format_notebook(notebook)
    notebooks.write(page, notebook)
    return [check, solutions, listed, page]


def main():
    """Start an exercise, and say what is left to do."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("slug", help="such as row-means")
    parser.add_argument("chapter", help="such as 19_my_chapter")
    options = parser.parse_args()
    try:
        paths = start(options.slug, options.chapter)
    except ValueError as error:
        sys.exit(str(error))
    print("Written:", *paths, sep="\n  ")
    page, name = paths[-1].relative_to(notebooks.ROOT), name_of(options.slug)
    tests = " ".join(f"tests/{test}.py" for test in TESTS)
    print(
        f"Put your task in their place, and add its minutes to those that the first\n"
        f"cell of {page.name} states for the exercises. Then:\n"
        f"  python -m pytest tests/unit/test_checks.py -k {name}\n"
        f"  python -m tools.notebooks run {page}\n"
        f"  python -m tools.tables\n"
        f"  python -m pytest {page} {tests}"
    )


if __name__ == "__main__":
    main()
