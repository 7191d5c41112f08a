"""Write the tables of chapters in README, the first page and the page for teachers.

    python -m tools.tables

What they say of a page stands in its notebook alone: title, minutes and exercises in
its cells, all else in its metadata under "book", which JupyterLab shows in its property
inspector. The order is that of ``_toc.yml``. A table is what lies between
``<!-- table: NAME -->`` and ``<!-- end -->``. In a course's plan, which is written by
hand, the minutes of each row are added up.

    clear          what a chapter makes clear, for README and the first page
    holds          what the reader builds, or what a page beside the chapters holds
    needs          what has to be read first, for teachers
    misconception  which one the page clears up, for teachers
    cure           what clears it up
"""

import argparse
import re
from dataclasses import dataclass

import yaml

from _ext.reading_time import TIME
from tools import notebooks

ROOT = notebooks.ROOT
FACTS = ("clear", "holds", "needs", "misconception", "cure")
# Pages that are no notebooks.
PUBLIC = (
    ("[Layers in use](public_layers.md)", "what the audit finds in public packages"),
    (
        "[A log of public bugs](public_bugs.md)",
        "what people reported, and what finds it",
    ),
)
LEVELS = ("easy", "medium", "hard")
TITLE = re.compile(r"^# (.+)\n")
TASK = re.compile(r"^### Exercise \d: (.+)$", re.MULTILINE)
DIFFICULTY = re.compile(
    r"^\*(Easy|Medium|Hard), about (\d+) minutes\.\*$", re.MULTILINE
)
PLACES = re.compile(r"(<!-- table: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
PART = (
    r"(?:(?:exercises of )?chapters? \d+(?: and \d+)?"
    r"|bug museum|bugs around the layer|the audit)"
)
PLAN = re.compile(rf"^(\| [^|]+ \| )({PART}(?:; {PART})*)( \| )\d+ \|$", re.MULTILINE)
IN_PLANS = {
    "bug museum": "bug_museum.ipynb",
    "bugs around the layer": "bug_museum_behind_the_layer.ipynb",
    "the audit": "audit.ipynb",
}
FILES = ("README.md", "chapters/index.md", "chapters/teaching.md")


@dataclass(frozen=True)
class Page:
    """What the tables say of a notebook.

    Args:
        file: its name, such as "03_scaling.ipynb".
        title: as its first line has it.
        minutes: for reading, and for the exercises.
        exercises: of each the level, the name and the minutes.
        quizzes: how many.
        facts: a dict of ``FACTS``, which may lack some.
    """

    file: str
    title: str
    minutes: tuple[int, int]
    exercises: tuple[tuple[str, str, int], ...]
    quizzes: int
    facts: dict[str, str]

    @property
    def number(self):
        """Of the chapter; None for a page beside the chapters."""
        found = re.match(r"\d+", self.file)
        return int(found[0]) if found else None

    @property
    def short(self):
        """A link that names the chapter by its number, another page by its title."""
        return f"[{self.number or self.title}]({self.file})"

    @property
    def link(self):
        """A link with the whole title."""
        return f"[{self.title}]({self.file})"


def read(path):
    """What a notebook says of itself.

    Raises:
        ValueError: a page without a title or time, or facts of another name.
    """
    notebook = notebooks.read(path)
    first = notebook.cells[0].source
    title, time = TITLE.match(first), TIME.search(first)
    if title is None or time is None:
        raise ValueError(f"the first cell of {path} must have a title and a **Time:**")
    facts = dict(notebook.metadata.get("book", {}))
    facts.pop("models", None)  # what ``tests/real_models.py`` fetches for it
    if unknown := set(facts) - set(FACTS):
        raise ValueError(f"{path} has facts that no table shows: {sorted(unknown)}")
    exercises = [
        (level.lower(), TASK.search(cell.source)[1], int(minutes))
        for cell in notebook.cells
        for level, minutes in DIFFICULTY.findall(cell.source)
    ]
    quizzes = sum(cell.id.startswith("quiz-") for cell in notebook.cells)
    minutes = (int(time[1]), int(time[2] or 0))
    return Page(path.name, title[1], minutes, tuple(exercises), quizzes, facts)


def pages(root=ROOT):
    """The notebooks of the table of contents, in its order."""
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    files = [one["file"] for part in contents["parts"] for one in part["chapters"]]
    paths = [root / f"{file}.ipynb" for file in files]
    return [read(path) for path in paths if path.exists()]


def readme(all_pages):
    """For README: the numbered chapters, and in one row the other pages."""
    links = [(one, f"[{one.title}](chapters/{one.file})") for one in all_pages]
    rows = [(link, one.facts["clear"]) for one, link in links if one.number]
    beside = [link for one, link in links if not one.number]
    beside += [link.replace("](", "](chapters/") for link, _ in PUBLIC]
    return _table(
        ("chapter", "it makes clear"),
        [*rows, (", ".join(beside), "pages that no chapter needs")],
    )


def chapters(all_pages):
    """For the first page: the numbered chapters."""
    return _table(
        ("chapter", "you build", "it makes clear"),
        [
            (page.link, page.facts["holds"], page.facts["clear"])
            for page in all_pages
            if page.number
        ],
    )


def holding(all_pages):
    """For the first page: the other notebooks."""
    rows = [(one.link, one.facts["holds"]) for one in all_pages if not one.number]
    return _table(("page", "it holds"), [*rows, *PUBLIC])


def misconceptions(all_pages):
    """For teachers: what each chapter clears up."""
    return _table(
        ("chapter", "needs", "the misconception", "what clears it up"),
        [
            (one.short, *(one.facts[fact] for fact in FACTS[2:]))
            for one in all_pages
            if one.number
        ],
    )


def others(all_pages):
    """For teachers: the same of the other pages, with their minutes."""
    return _table(
        (
            *("page", "needs", "minutes", "for its exercises"),
            *("the misconception", "what clears it up"),
        ),
        [
            (
                *(one.link, one.facts["needs"], *one.minutes),
                *(one.facts["misconception"], one.facts["cure"]),
            )
            for one in all_pages
            if not one.number
        ],
    )


def minutes(all_pages):
    """For teachers: how long a chapter takes."""
    return _table(
        ("chapter", "minutes", "for its exercises", "quizzes"),
        [(one.short, *one.minutes, one.quizzes) for one in all_pages if one.number],
    )


def exercises(all_pages):
    """For teachers: all exercises, the easy ones first."""
    rows = [
        (level, page.short, name, needed)
        for page in sorted(all_pages, key=lambda page: page.file)
        for level, name, needed in page.exercises
    ]
    rows.sort(key=lambda row: LEVELS.index(row[0]))
    return _table(("difficulty", "chapter", "exercise", "minutes"), rows)


TABLES = {
    make.__name__: make
    for make in (readme, chapters, holding, misconceptions, others, minutes, exercises)
}


def _table(heads, rows):
    first, *others = (f"| {' | '.join(map(str, line))} |\n" for line in (heads, *rows))
    return "".join([first, "|---" * len(heads) + "|\n", *others])


def planned(what, all_pages):
    """The minutes of a plan's cell, such as "chapter 5; exercises of chapter 5".

    Raises:
        ValueError: a page that there is not.
    """
    total = 0
    for part in what.split("; "):
        numbers = [int(number) for number in re.findall(r"\d+", part)]
        for wanted in numbers or [IN_PLANS[part]]:
            found = [page for page in all_pages if wanted in (page.number, page.file)]
            if not found:
                raise ValueError(f"a plan names {part!r}, but there is no {wanted}")
            total += found[0].minutes[part.startswith("exercises")]
    return total


def filled(text, all_pages):
    """A text with every table as the notebooks have it, and every plan added up.

    Raises:
        ValueError: a table that there is not; a page that lacks one of its facts.
    """

    def fill(found):
        if found[2] not in TABLES:
            raise ValueError(f"there is no table {found[2]}; there are {[*TABLES]}")
        try:
            return f"{found[1]}{TABLES[found[2]](all_pages)}{found[4]}"
        except KeyError as error:
            lacking = [one.file for one in all_pages if error.args[0] not in one.facts]
            raise ValueError(
                f"the table {found[2]} needs {error} in the metadata of one of these: "
                f"{', '.join(lacking)}"
            ) from error

    text = PLACES.sub(fill, text)
    return PLAN.sub(
        lambda row: f"{row[1]}{row[2]}{row[3]}{planned(row[2], all_pages)} |", text
    )


def main():
    """Write all tables, and name the files that changed."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    all_pages = pages()
    for name in FILES:
        path = ROOT / name
        before = path.read_text(encoding="utf-8")
        after = filled(before, all_pages)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"{name} has changed")


if __name__ == "__main__":
    main()
