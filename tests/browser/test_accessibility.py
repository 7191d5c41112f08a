"""axe finds nothing to mend, on any page, in either theme."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.book.test_book import CHAPTERS, PAGES

# Preloading would fetch style sheets again, which fails from file://. Without its list
# of all that is right, axe takes less than half the time.
OPTIONS = {"preload": False, "resultTypes": ["violations"]}
# What a theme can spoil: on one page of each kind, since all have the same style.
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
# Half of a page's elements are coloured words of code and cells of tables, and look the
# same on all pages: one is looked at as a whole.
WHOLE = CHAPTERS[0]
DARK = [PAGES[0], WHOLE, *CHAPTERS[8:11], "chapters/bug_museum", "chapters/glossary"]
ALIKE = {"exclude": [["pre"], ["td"]]}


def violations(page, context=None, **options):
    """What axe has found: the rule, its places and why."""
    ran = Axe().run(page, context=context, options=OPTIONS | options)
    found = ran.response["violations"]
    return [
        (one["id"], node["html"][:200], node["failureSummary"])
        for one in found
        for node in one["nodes"]
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "theme"),
    [(path, "light") for path in PAGES] + [(path, "dark") for path in DARK],
)
def test_a_page_is_accessible(chromium, site, path, theme):
    context = chromium.new_context(color_scheme=theme)
    page = context.new_page()
    page.goto(f"{site.as_uri()}/{path}.html")
    # The tables that views fold away belong to the page, too.
    # An opened one fades in, and what is half visible has too little contrast.
    page.evaluate("document.querySelectorAll('details').forEach((d) => d.open = true)")
    page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished))")
    options = {} if theme == "light" else COLOURS
    assert violations(page, None if path == WHOLE else ALIKE, **options) == []
    context.close()


def test_a_picture_without_words_is_noticed(chromium):
    page = chromium.new_page()
    page.set_content('<html lang="en"><title>A page</title><main><img src="x"></main>')
    assert "image-alt" in [rule for rule, *_ in violations(page)]
    page.close()
