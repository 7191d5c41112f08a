"""A page of each kind and every view in Firefox, where it is installed."""

import json
import os
import re
import shutil
import time

import pytest

from helpers.models.head_reading import HeadReader
from helpers.views import real_model
from tests.book.test_book import CHAPTERS, PAGES
from tests.browser.conftest import VALUES
from tests.browser.firefox import Firefox
from tests.browser.test_pages import VIEWS, WIDTHS
from tests.browser.test_real_model import card_of
from tests.browser.test_views import KEYS, kind
from tests.samples import tiny_llama
from tests.samples.views import SAMPLES

pytestmark = pytest.mark.slow
# BiDi's code for each key of test_views.KEYS.
CODES = {
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "Enter": "\ue007",
    "Space": " ",
}

# A page of each kind: what is the same on all is not looked at again.
KINDS = [PAGES[0], CHAPTERS[0], CHAPTERS[10], "chapters/api", "chapters/glossary"]
MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def firefox():
    """A headless Firefox."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        required = os.environ.get("BOOK_REQUIRE_BROWSER")
        (pytest.fail if required else pytest.skip)("no Firefox is installed")
    browser = Firefox(program)
    yield browser
    browser.close()


@pytest.mark.parametrize("path", KINDS)
def test_a_page_is_whole_and_its_views_live(firefox, site, path):
    firefox.open((site / f"{path}.html").as_uri())
    for width in WIDTHS:
        firefox.resize(width)
        overflow = firefox.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, f"{overflow} pixels too wide at {width}"
    views = firefox.evaluate(f"({VIEWS})()")
    assert views or path not in CHAPTERS
    assert [view for view in views if view != [True, True, True]] == []
    assert firefox.wrong == []


def texts(values):
    """All places, without the marks of direction that Firefox leaves out."""
    return {name: MARKS.sub("", text) for name, text in dict(values).items()}


# Their numbers come from a worker, whenever they are found.
IN_A_WORKER = ("learning_in_the_page", "real_model")


@pytest.mark.parametrize("name", sorted({*SAMPLES} - {*IN_A_WORKER}))
def test_a_view_shows_the_same_numbers_as_in_chromium(firefox, show_views, name):
    """At first, and after each control has been moved by the keyboard in both."""
    shown = show_views(SAMPLES[name]())
    firefox.open(shown.page.url)
    firefox.resize(1280)
    assert texts(firefox.evaluate(f"({VALUES})()")) == texts(shown.values())
    for control in sorted(shown.controls()):
        place = json.dumps(f'.live [data-control="{control}"]')
        for key in KEYS[kind(shown.control(control))]:
            shown.press(control, key)
            firefox.evaluate(f"document.querySelector({place}).focus()")
            firefox.press(CODES.get(key, key))
            found = texts(firefox.evaluate(f"({VALUES})()"))
            assert found == texts(shown.values()), f"{key} on {control}"
    assert firefox.wrong == []


def test_a_model_learns_the_same_as_in_chromium(firefox, show_views):
    shown = show_views(SAMPLES[IN_A_WORKER[0]]())
    firefox.open(shown.page.url)
    found = {}
    for name, evaluate in (("firefox", firefox.evaluate), ("chromium", page(shown))):
        for press, step in (("anew", 0), ("step", 1), ("step", 2)):
            control = f".live [data-control={press}]"
            evaluate(f"document.querySelector('{control}').click()")
            values = wait_for(evaluate, "found after", str(step))
            found[name] = values["held out"]
    assert found["firefox"] == found["chromium"]
    assert firefox.wrong == []


def test_a_model_is_opened_and_writes_the_same_as_in_chromium(
    firefox, show_views, tmp_path
):
    """Its own number for its speed is left out."""
    path = tiny_llama.write_gguf(tmp_path / "tiny.gguf")
    reader = HeadReader(*tiny_llama.loaded(path))
    readings = [reader.read_without_each("the cat sat on it")]
    shown = show_views(real_model(readings, card_of(path), query=1))
    firefox.open(shown.page.url)
    firefox.resize(1280)
    place = '.live [data-control="open"]'
    firefox.hand_over(place, path)
    shown.hand_over("open", path)
    found = {}
    for name, evaluate in (("firefox", firefox.evaluate), ("chromium", page(shown))):
        wait_for(evaluate, "status", "tokens read")
        for control in ("switch sink", "write"):
            at = json.dumps(f'.live [data-control="{control}"]')
            evaluate(f"document.querySelector({at}).click()")
        wait_for(evaluate, "status", "written")
        wait_for(evaluate, "lost", "in place of")  # and read with everything on
        found[name] = texts(evaluate(f"({VALUES})()"))
        del found[name]["status"]
    assert found["firefox"] == found["chromium"]
    assert firefox.wrong == []


def page(shown):
    return shown.page.evaluate


def wait_for(evaluate, name, text):
    """All places, once one of them shows a text."""
    for _ in range(600):
        values = dict(evaluate(f"({VALUES})()"))
        if text in values.get(name, ""):
            return values
        time.sleep(0.1)
    raise AssertionError(f"{name} never showed {text}, but {values.get(name)}")
