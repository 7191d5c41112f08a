"""Views alone on a page, the network closed, and how a test moves their controls."""

import pytest

from tests.browser.test_pages import Watched

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


class Shown:
    """Views in a browser: their controls are moved, their numbers read."""

    def __init__(self, chromium, folder, views, theme="light"):
        html = "".join(view._repr_html_() for view in views)
        path = folder / "view.html"
        page = PAGE.format(colours=THEMES[theme], views=html)
        path.write_text(page, encoding="utf-8")
        self.watched = Watched(chromium, path.as_uri())
        self.page = self.watched.page
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

    def value(self, name):
        """The text of one place, by its ``data-value``."""
        return self.page.locator(f'.live [data-value="{name}"]').inner_text()

    def number(self, name):
        """The number in one place."""
        return float(self.value(name))

    def controls(self):
        """The names of all controls on the page."""
        found = self.page.locator(".live [data-control]").all()
        return {control.get_attribute("data-control") for control in found}


@pytest.fixture
def show_views(chromium, tmp_path):
    """A function that opens views in Chromium; nothing may go wrong on their page."""
    opened = []

    def show(*views, theme="light"):
        opened.append(Shown(chromium, tmp_path, views, theme))
        return opened[-1]

    yield show
    for shown in opened:
        shown.watched.context.close()
        assert shown.watched.wrong == []
