"""The measure of what a page cuts off notices each way in which one can."""

import pytest

from tests.book.test_book import CHAPTERS
from tests.browser.watched import Watched
from tests.browser.widths import WIDTHS, cut_off

WIDE = "<p style='width: 2000px'>wide</p>"
SVG = '<div class="drawing"><svg width="{0}" height="9" class="{1}">{2}</svg></div>'
# What is put into a page, what is said of it, and at which widths.
WAYS = {
    "hidden": (f'<div style="overflow: hidden">{WIDE}</div>', "hidden", WIDTHS),
    "no shade": (f'<div style="overflow: auto">{WIDE}</div>', "no shade", WIDTHS),
    "sticks out": (f"<div>{WIDE}</div>", "sticks out", WIDTHS),
    "columns": (f"<pre style='font-size: 2em'>{'x' * 80}</pre>", "scrolls", WIDTHS[:4]),
    "a picture": (SVG.format(900, "", ""), "picture", WIDTHS[:4]),
    "a plot": (SVG.format(600, "picture", ""), "picture", WIDTHS[4:5]),
    "letters": (SVG.format(30, "", "<text>longer</text>"), "letters", WIDTHS),
}


@pytest.fixture(scope="module")
def chapter(chromium, site):
    """A chapter's page."""
    watched = Watched(chromium, site.as_uri())
    watched.page.goto(f"{site.as_uri()}/{CHAPTERS[0]}.html")
    watched.page.wait_for_selector("mjx-container", state="attached")
    yield watched.page
    watched.close()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("put", "said", "widths"), WAYS.values(), ids=WAYS)
def test_what_is_cut_is_noticed(chapter, put, said, widths):
    chapter.evaluate(
        """(put) => {
            const place = document.createElement("div");
            place.id = "put";
            place.innerHTML = put;
            document.querySelector(".bd-article > section").append(place);
            for (const one of place.querySelectorAll("svg"))
                one.style.cssText = "max-width: none; overflow: hidden; "
                    + `min-width: ${one.getAttribute("width")}px`;
        }""",
        put,
    )
    found = [one.split(": ")[:2] for one in cut_off(chapter)]
    chapter.evaluate("document.querySelector('#put').remove()")
    assert {int(width) for width, how in found if how == said} == set(widths)


def test_a_chapter_is_whole(chapter):
    assert cut_off(chapter) == []
