"""Chapters as nbconvert's HTML, opened from a file with the network closed."""

import json
import re

import nbconvert
import pytest
import torch

from helpers.views.view import STORED
from tests.book.test_notebooks import CHAPTERS, NUMBERED
from tests.browser.watched import Watched
from tools import notebooks

# nbconvert's own template asks for these two; a view needs neither.
ASKED_FOR = ("ajax/libs/mathjax/", "ajax/libs/require.js/")
BLOCKED = "console: Failed to load resource: net::ERR_FAILED"


@pytest.fixture
def exported(chromium, tmp_path):
    """A function that opens a notebook's export; only nbconvert's requests fail."""
    opened = []

    def export(path):
        html, _ = nbconvert.HTMLExporter().from_filename(str(path))
        page = tmp_path / f"{path.stem}.html"
        page.write_text(html, encoding="utf-8")
        opened.append(Watched(chromium, page.as_uri()))
        opened[-1].page.goto(page.as_uri(), wait_until="load")
        return opened[-1].page

    yield export
    for watched in opened:
        watched.wait_for(".*".join([re.escape(BLOCKED)] * len(ASKED_FOR)))
        watched.context.close()
        others = [line for line in watched.wrong if not any(map(line.count, ASKED_FOR))]
        assert others == [BLOCKED] * len(ASKED_FOR)


# Views are tried on each page of the book. Here it is the export: of the first chapter,
# and of the one whose view trains.
@pytest.mark.slow
@pytest.mark.parametrize("path", [NUMBERED[0], NUMBERED[9]], ids=lambda path: path.stem)
def test_every_view_of_an_exported_chapter_is_alive(exported, path):
    page = exported(path)
    wanted = len(list(notebooks.views_of(notebooks.read(path))))
    assert wanted > 0
    assert page.locator(".aos-view[data-live]").count() == wanted
    for view in page.locator(".aos-view").all():
        assert view.locator(".live [data-control]").count() > 0
        assert view.locator("details[open]").count() == 0


def test_a_view_of_an_exported_chapter_computes(exported):
    """A query, moved right and up: its scores are PyTorch's."""
    path = CHAPTERS / "why_the_exponential.ipynb"
    (stored,) = (
        found["state"]
        for data in notebooks.views_of(notebooks.read(path))
        if (found := STORED.fullmatch(data["text/html"]))["module"] == "query_explorer"
    )
    state = json.loads(stored)
    page = exported(path)
    query = page.locator('[data-module="query_explorer"] [data-control="query"]')
    query.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    moved = torch.tensor(state["query"]) + torch.tensor([0.2, 0.1])
    scores = torch.tensor(state["keys"]) @ moved
    for name, numbers in {"score": scores, "weight": scores.softmax(0)}.items():
        for i, number in enumerate(numbers.tolist()):
            place = f'[data-module="query_explorer"] [data-value="{name} {i}"]'
            shown = page.locator(place).inner_text()
            assert float(shown) == pytest.approx(number, abs=0.0051)
