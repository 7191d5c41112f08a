"""axe finds nothing to mend on a page of each kind, in either theme, by all its rules.

What differs from page to page is asked of every page on its one visit, in
``test_pages``; every view is looked at alone, in ``test_views``.
"""

import pytest

from tests.book.test_book import CHAPTERS, PAGES
from tests.browser.axe import ALIKE, COLOURS, violations
from tests.browser.watched import hold_still
from tests.browser.widths import OPEN

# One is looked at as a whole, with its code and its tables.
WHOLE = CHAPTERS[0]
KINDS = [PAGES[0], WHOLE, "chapters/bug_museum", "chapters/glossary"]


# Colours and sizes of some thousand elements: 5 to 15 seconds a page.
@pytest.mark.slow
@pytest.mark.parametrize("path", KINDS)
def test_a_page_is_accessible_in_both_themes(chromium, site, path):
    page = chromium.new_page()
    page.goto(f"{site.as_uri()}/{path}.html")
    # The tables that views fold away belong to the page, too.
    page.evaluate(OPEN)
    context = None if path == WHOLE else ALIKE
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.locator(f'html[data-theme="{theme}"]').wait_for()
        # An opened one fades in, and what is half visible has too little contrast.
        hold_still(page)
        options = {} if theme == "light" else {"runOnly": COLOURS}
        assert violations(page, context, **options) == []
    page.close()


def test_a_picture_without_words_is_noticed(chromium):
    page = chromium.new_page()
    page.set_content('<html lang="en"><title>A page</title><main><img src="x"></main>')
    assert "image-alt" in [rule for rule, *_ in violations(page)]
    page.close()
