"""A notebook that is only opened in JupyterLab: its views live, or show tables.

One notebook holds a view of each kind, since opening costs more than looking.
"""

import html
import json
import pathlib
import re
import subprocess
import sys
import time

import nbformat
import pytest

from tests import ROOT
from tests.conftest import LONGEST_WAIT
from tests.jupyterlab.lab import IDLE
from tests.samples.gallery import gallery, one_of_each
from tools import notebooks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def each():
    """A view of each kind."""
    return one_of_each(gallery())


# JupyterLab starts, 10 seconds, and a notebook of all kinds is walked down.
def test_views_are_alive_in_a_notebook_that_is_only_opened(lab, each):
    notebooks.write(lab.folder / "trusted.ipynb", each)
    lab.trust([lab.folder / "trusted.ipynb"])
    opened = lab.open("trusted.ipynb")
    wanted = len(list(notebooks.views_of(each)))
    assert len(opened.live_views(wanted)) == wanted
    opened.close()


def test_a_model_learns_in_a_notebook_that_is_only_opened(lab, each):
    cells = [cell for cell in each.cells if "learning_in_the_page(" in cell.source]
    assert len(cells) == 1
    alone = nbformat.v4.new_notebook(metadata=notebooks.METADATA, cells=cells)
    notebooks.write(lab.folder / "learning.ipynb", alone)
    lab.trust([lab.folder / "learning.ipynb"])
    opened = lab.open("learning.ipynb")
    assert len(opened.live_views(1)) == 1
    opened.page.locator('.live [data-control="step"]').click()
    opened.page.wait_for_function(
        "() => ['step', 'found after'].map((name) => document.querySelector("
        "`.live [data-value='${name}']`)?.innerText).join() === '1 of 900,1'",
    )
    opened.close()


def test_a_notebook_that_is_not_trusted_shows_every_table(lab, each):
    texts = [data["text/html"] for data in notebooks.views_of(each)]
    stored = re.findall(r"<table>.*?</table>", "\n".join(texts), re.DOTALL)
    missing = {letters(html.unescape(re.sub(r"<[^>]*>", "", one))) for one in stored}
    assert missing
    # A signature is of the content, so that the one above would vouch for this.
    each.cells[0].source += " "
    notebooks.write(lab.folder / "untrusted.ipynb", each)
    opened = lab.open("untrusted.ipynb")
    deadline = time.monotonic() + LONGEST_WAIT
    while missing and time.monotonic() < deadline:
        missing -= set(map(letters, opened.walk("details[open] table")))
    alive = opened.page.locator(".live").count()
    opened.close()
    assert missing == set()
    assert alive == 0


AUTOSAVE_SECONDS = 2
COMPLETE = (
    "import sys, pathlib, tools.my_book as m; m.complete(pathlib.Path(sys.argv[1]))"
)


def test_a_chapter_that_is_only_opened_stays_as_it_is(lab):
    """In a reader's own copy; and a change is saved by itself."""
    settings = pathlib.Path(lab.environment["HOME"], ".jupyter/lab/user-settings")
    settings = settings / "@jupyterlab/docmanager-extension"
    settings.mkdir(parents=True)
    text = json.dumps({"autosaveInterval": AUTOSAVE_SECONDS})
    (settings / "plugin.jupyterlab-settings").write_text(text)
    command = [sys.executable, "-c", COMPLETE, lab.folder]
    subprocess.run(command, cwd=ROOT, env=lab.environment, check=True)
    path = lab.folder / "09_transformer_block.ipynb"
    before = path.read_bytes()
    opened = lab.open(path.name)
    opened.page.get_by_text(IDLE).wait_for()
    opened.page.wait_for_timeout(5_000 * AUTOSAVE_SECONDS)
    assert path.read_bytes() == before

    opened.page.locator(".jp-CodeCell .cm-content").first.click()
    opened.page.keyboard.type("# mine")
    deadline = time.monotonic() + LONGEST_WAIT
    while path.read_bytes() == before and time.monotonic() < deadline:
        opened.page.wait_for_timeout(500)
    opened.close()
    assert path.read_bytes() != before


def letters(text):
    """A text without its spaces."""
    return "".join(text.split())
