"""How many minutes a page takes to read, by one formula for all pages.

    python -m tools.minutes            # each notebook, in the order of the contents

A minute for 150 words of the main text, 4.5 seconds for a line of code, 2 seconds for
a line that is printed, and 2 minutes for each prediction, view and quiz. Of the first
eight chapters as they stood on 2026-11-26, that gives 541 minutes; readers took 510.
The main text is all but exercises and sources. Folded text counts, folded code only
where later cells use its names.
"""

import argparse
import ast
import re
from dataclasses import dataclass

from tools import notebooks, tables

WORDS_A_MINUTE = 150
SECONDS_A_LINE_OF_CODE = 4.5
SECONDS_A_LINE_PRINTED = 2
MINUTES_A_PAUSE = 2
ASIDE = ("## Exercises", "## Sources")
FOLDED = {"hide-input", "hide-cell"}
UNREAD = re.compile(r"<[^>]*>|(?<=\])\([^)]*\)")  # tags, and where a link leads to
WORD = re.compile(r"\S*\w\S*")
HEADING = re.compile(r"^## .*$", re.MULTILINE)


@dataclass(frozen=True)
class Reading:
    """What there is to read on a page.

    Args:
        words: of the main text.
        code: lines of code that aren't blank.
        printed: lines below the code.
        pauses: predictions, views and quizzes.
    """

    words: int = 0
    code: int = 0
    printed: int = 0
    pauses: int = 0

    def __add__(self, other):
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Reading(*map(sum, pairs))

    @property
    def minutes(self):
        """By the formula, as a float."""
        seconds = self.code * SECONDS_A_LINE_OF_CODE
        seconds += self.printed * SECONDS_A_LINE_PRINTED
        pauses = self.pauses * MINUTES_A_PAUSE
        return self.words / WORDS_A_MINUTE + seconds / 60 + pauses


def of_page(notebook):
    """The reading of a notebook."""
    total, aside, main = Reading(), False, []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            part, aside = _of_text(cell.source, aside)
            total += part
        elif not aside and cell.id != notebooks.SETUP_ID:
            main.append(cell)
    needed = set()  # names that later cells use, and don't define
    for cell in reversed(main):
        defined, used = _names(cell.source)
        total += _of_code(cell, needed=bool(defined & needed))
        needed = (needed - defined) | (used - defined)
    return total


def _of_text(text, aside):
    """The reading of a text cell; and whether what follows it is an aside."""
    total, begin = Reading(), 0
    for heading in [*HEADING.finditer(text), None]:
        end = heading.start() if heading else len(text)
        if not aside:
            part = text[begin:end]
            words = len(WORD.findall(UNREAD.sub(" ", part)))
            total += Reading(words, pauses=part.count("**Predict:**"))
        if heading:
            begin, aside = end, heading[0].strip() in ASIDE
    return total, aside


def _of_code(cell, needed):
    """The reading of a code cell and of what it prints."""
    folded = FOLDED & set(cell.metadata.get("tags", []))
    lines = [] if folded and not needed else cell.source.splitlines()
    printed = [one.text for one in cell.outputs if one.output_type == "stream"]
    return Reading(
        code=sum(bool(line.strip()) for line in lines),
        printed=len("".join(printed).splitlines()),
        pauses=cell.id.startswith(("view-", "quiz-")),
    )


def _names(code):
    """The names that code defines, and those that it uses."""
    lines = [line for line in code.splitlines() if not line.startswith(("%", "!"))]
    defined, used = set(), set()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
    return defined, used


def main():
    """Print the reading and the minutes of each notebook."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    print("minutes  words  code  printed  pauses")
    for page in tables.pages():
        found = of_page(notebooks.read(tables.ROOT / "chapters" / page.file))
        numbers = f"{found.minutes:7.1f}{found.words:7}{found.code:6}"
        print(f"{numbers}{found.printed:9}{found.pauses:8}  {page.file}")


if __name__ == "__main__":
    main()
