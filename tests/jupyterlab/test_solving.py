"""The exercises solved in JupyterLab, wrongly first, as a reader does it."""

import inspect
import pathlib
import re

import nbformat
import pytest

from tests.book.test_exercises import called, exercises
from tests.book.test_notebooks import NUMBERED
from tests.unit.test_checks import RIGHT, WRONG
from tools import notebooks

pytestmark = pytest.mark.slow
# Between them: functions, classes, and several tasks in one cell. What a check says of
# each exercise is tested without a browser.
CHAPTERS = [path for path in NUMBERED if path.stem[:2] in ("04", "09")]


def worksheet(notebook):
    """A chapter's setup cell, and the stub and the check of each exercise."""
    found = exercises(notebook).values()
    setup = next(cell for cell in notebook.cells if cell.id == notebooks.SETUP_ID)
    cells = [setup, *(cells[part] for cells in found for part in ("stub", "check"))]
    for cell in cells:
        cell.outputs, cell.execution_count = [], None
    return nbformat.v4.new_notebook(cells=cells, metadata=notebooks.METADATA)


def attempt(solution, name):
    """A solution as a reader might paste it into the cell of a stub."""
    text = pathlib.Path(inspect.getsourcefile(solution)).read_text(encoding="utf-8")
    return f"{text.partition('RIGHT = ')[0]}\n\n{name} = {solution.__name__}"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_exercises_can_be_solved_in_jupyterlab(lab, path):
    notebooks.write(lab.folder / path.name, worksheet(notebooks.read(path)))
    opened = lab.open(path.name)
    opened.run_all()
    page = opened.page
    for number, cells in enumerate(exercises(notebooks.read(path)).values()):
        stub = page.locator(".jp-Notebook .jp-Cell").nth(1 + 2 * number)
        shown = page.locator(".jp-Notebook .jp-Cell").nth(2 + 2 * number)
        shown = shown.locator(".jp-OutputArea-output")
        tasks = called(cells["check"].source)
        for _, mine in tasks:
            shown.get_by_text(f"○ {mine}: not attempted").wait_for()
        wrong = [
            next(pair for pair in WRONG[name] if pair[1] is not None)
            for name, _ in tasks
        ]
        right = [(RIGHT[name][0], None) for name, _ in tasks]
        for solutions in (wrong, right):
            texts = [
                attempt(solution, mine)
                for (solution, _), (_, mine) in zip(solutions, tasks, strict=True)
            ]
            stub.locator(".cm-content").click()
            page.keyboard.press("Control+a")
            page.keyboard.insert_text("\n\n".join(texts))
            page.keyboard.press("Shift+Enter")
            page.keyboard.press("Shift+Enter")
            for solution, mistake in solutions:
                verdict = "right." if mistake is None else f"behaves like {mistake}."
                expected = re.compile(
                    r"\s+".join(
                        map(re.escape, f"{solution.__name__}: {verdict}".split())
                    )
                )
                shown.get_by_text(expected).wait_for()
    opened.close()
