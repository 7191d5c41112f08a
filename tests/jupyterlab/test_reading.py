"""A notebook that is only opened in JupyterLab: its views live, or show tables."""

import html
import re
import shutil
import time

import pytest

from tests.book.test_notebooks import NUMBERED
from tools import notebooks

pytestmark = pytest.mark.slow
every_chapter = pytest.mark.parametrize("path", NUMBERED, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def chapters(lab):
    """The lab with each chapter twice: one that the reader trusts, and one not."""
    for name in ("trusted", "untrusted"):
        (lab.folder / name).mkdir()
    for path in NUMBERED:
        shutil.copy(path, lab.folder / "trusted")
        notebook = notebooks.read(path)
        # A signature is of the content, so that the copy above would vouch for this.
        notebook.cells[0].source += " "
        notebooks.write(lab.folder / "untrusted" / path.name, notebook)
    lab.trust((lab.folder / "trusted").glob("*.ipynb"))
    return lab


@every_chapter
def test_views_are_alive_in_a_notebook_that_is_only_opened(chapters, path):
    opened = chapters.open(f"trusted/{path.name}")
    wanted = len(list(notebooks.views_of(notebooks.read(path))))
    assert wanted > 0
    assert len(opened.live_views(wanted)) == wanted
    opened.close()


@every_chapter
def test_a_notebook_that_is_not_trusted_shows_every_table(chapters, path):
    texts = [data["text/html"] for data in notebooks.views_of(notebooks.read(path))]
    stored = re.findall(r"<table>.*?</table>", "\n".join(texts), re.DOTALL)
    missing = {letters(html.unescape(re.sub(r"<[^>]*>", "", one))) for one in stored}
    assert missing
    opened = chapters.open(f"untrusted/{path.name}")
    deadline = time.monotonic() + 60
    while missing and time.monotonic() < deadline:
        missing -= set(map(letters, opened.walk("details[open] table")))
    alive = opened.page.locator(".live").count()
    opened.close()
    assert missing == set()
    assert alive == 0


def letters(text):
    """A text without its spaces."""
    return "".join(text.split())
