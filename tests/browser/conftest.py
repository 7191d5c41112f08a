"""Views alone on a page, the network closed, and how a test moves their controls."""

import itertools

import pytest

from tests.browser.watched import Watched

PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A view</title>'
    '<meta name="viewport" content="width=device-width"></head>'
    '<body style="margin: 8px; font-family: sans-serif; {colours}"><main>{views}'
    "</main></body></html>"
)
THEMES = {
    "light": "background: #fff; color: #212529",
    "dark": "background: #121212; color: #ced6dd",
}
VALUES = """() => [...document.querySelectorAll(".live [data-value]")].map(
    (place) => [place.dataset.value, place.innerText ?? place.textContent])"""


class Values(dict):
    """The texts of all places of a view at one moment, by their ``data-value``."""

    def number(self, name):
        """The number in one place."""
        return float(self[name])


class Shown:
    """Views in a browser: their controls are moved, their numbers read."""

    def __init__(self, watched, path, views, theme="light"):
        html = "".join(view._repr_html_() for view in views)
        page = PAGE.format(colours=THEMES[theme], views=html)
        path.write_text(page, encoding="utf-8")
        self.watched, self.page = watched, watched.page
        self.page.goto(path.as_uri())
        self.moved = set()

    def control(self, name):
        """One of the controls, by its ``data-control``."""
        return self.page.locator(f'.live [data-control="{name}"]')

    def press(self, name, key, times=1):
        """Press a key on a control, which is reached by the keyboard alone."""
        control = self.control(name)
        control.focus()
        for _ in range(times):
            self.page.keyboard.press(key)
        self.moved.add(name)

    def type(self, name, text):
        """Write into a field in place of what stands there."""
        self.control(name).fill(text)
        self.moved.add(name)

    def choose(self, name, option):
        """Choose an option of a menu."""
        self.control(name).select_option(option)
        self.moved.add(name)

    def hand_over(self, name, path):
        """Choose a file, as a reader does: the click comes before the choice."""
        self.control(name).dispatch_event("click")
        self.control(name).set_input_files(path)
        self.moved.add(name)

    def values(self):
        """What all places show now, read at once."""
        pairs = self.page.evaluate(VALUES)
        values = Values(pairs)
        assert len(values) == len(pairs), "two places have one data-value"
        return values

    def value(self, name):
        """The text of one place, by its ``data-value``."""
        return self.values()[name]

    def number(self, name):
        """The number in one place."""
        return self.values().number(name)

    def controls(self):
        """The names of all controls on the page."""
        found = self.page.locator(".live [data-control]")
        return set(found.evaluate_all("all => all.map((one) => one.dataset.control)"))


@pytest.fixture(
    scope="module", params=[pytest.param("http", marks=pytest.mark.slow), "file"]
)
def one_page(request, chromium, site):
    """A page in which a module's tests look at the site, one after the other."""
    over_http = request.param == "http"
    origin = request.getfixturevalue("site_over_http") if over_http else site.as_uri()
    watched = Watched(chromium, origin)
    yield watched
    watched.close()


@pytest.fixture(scope="module")
def watched_views(chromium, tmp_path_factory):
    """A module's one page for views, and the places of their files."""
    folder = tmp_path_factory.mktemp("views")
    watched = Watched(chromium, folder.as_uri())
    yield watched, (folder / f"view{number}.html" for number in itertools.count())
    watched.close()


@pytest.fixture
def show_views(watched_views):
    """A function that opens views in Chromium; nothing may go wrong on their page."""
    watched, paths = watched_views
    watched.start_anew()
    yield lambda *views, theme="light": Shown(watched, next(paths), views, theme)
    watched.page.evaluate("0")  # whatever was said before this answer has been noted
    assert watched.wrong == []
