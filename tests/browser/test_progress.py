"""Folded answers, the switch that opens all, and what the device keeps of a reader."""

import json
import re
import time

import pytest
from playwright.sync_api import expect

from _ext.moved import MOVED
from tests import ROOT
from tests.browser.watched import Watched
from tests.conftest import LONGEST_WAIT
from tools import notebooks

CHAPTER = "chapters/01_dot_product_attention"
NAME = CHAPTER.rpartition("/")[-1]
CELLS = notebooks.read(ROOT / f"{CHAPTER}.ipynb").cells
ANSWERS = len([c for c in CELLS if "hide-output" in c.metadata.get("tags", [])])
QUIZZES = len([c for c in CELLS if c.id.startswith("quiz-")])
KEY = "attention-one-step"
OPEN = ".cell.tag_hide-output > details[open]"
SHOWN = """(selector) => [...document.querySelectorAll(selector)].filter(
    (one) => one.checkVisibility({ contentVisibilityAuto: true })).length"""
# A browser tells of an opened answer a little later, in the order in which all opened.
ALL_TOLD = """() => new Promise((told) => {
    const last = document.createElement("details");
    last.addEventListener("toggle", () => told());
    last.open = true;
})"""
# A page that is loaded at once may still read the old; another tab hears of the new
# when it is stored.
LISTEN = """(name) => {
    window.heard = localStorage.getItem(name);
    addEventListener("storage", ({ key, newValue }) => {
        if (key === name) window.heard = newValue;
    });
}"""
# The theme has keys of its own, and would complain.
REFUSED = """for (const name of ["getItem", "setItem", "removeItem"]) {
    const usual = Storage.prototype[name];
    Storage.prototype[name] = function (key, ...rest) {
        if (key === "attention-one-step") throw new DOMException("refused");
        return usual.call(this, key, ...rest);
    };
}"""


@pytest.fixture
def chapter(chromium, site):
    """A chapter on a device that has seen none of it, and a tab that hears of it."""
    watched = Watched(chromium, site.as_uri())
    listener = watched.context.new_page()
    listener.goto(f"{watched.origin}/_static/logo.svg")
    listener.evaluate(LISTEN, KEY)
    watched.page.goto(f"{watched.origin}/{CHAPTER}.html")
    yield watched
    assert watched.wrong == []
    watched.close()


def kept(page):
    """What is kept, once the page and another tab read the same."""
    page.evaluate(ALL_TOLD)
    _, listener, *_ = page.context.pages
    ends = time.monotonic() + LONGEST_WAIT
    while True:
        here = page.evaluate("(name) => localStorage.getItem(name)", KEY)
        there = listener.evaluate("heard")
        if here == there:
            return None if here is None else json.loads(here)
        assert time.monotonic() < ends, f"here {here}, in another tab {there}"
        page.wait_for_timeout(20)


def keep(page, text):
    page.evaluate("(pair) => localStorage.setItem(...pair)", [KEY, text])
    wait_until_stored(page, text)


def wait_until_stored(page, text):
    _, listener, *_ = page.context.pages
    listener.wait_for_function("(text) => heard === text", arg=text, polling=20)


def open_answer(page, number):
    page.locator(".cell.tag_hide-output > details > summary").nth(number).click()


def readings(page):
    """How many of the sentences that belong to an answer are seen."""
    return page.evaluate(SHOWN, ".cell.tag_hide-output + details p")


def test_an_answer_and_what_it_says_are_folded_until_they_are_asked_for(chapter):
    page = chapter.page
    assert page.locator(OPEN).count() == readings(page) == 0
    open_answer(page, 0)
    assert page.locator(OPEN).count() == 1
    assert page.locator(f"{OPEN} pre").inner_text().startswith("weights of bank")
    assert readings(page) == 1


def test_one_switch_opens_all_and_is_remembered(chapter):
    page = chapter.page
    button = page.get_by_role("button", name="Show all answers")
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    expect(page.locator(OPEN)).to_have_count(ANSWERS)
    assert kept(page)["pages"] == {}  # nothing of it counts as done
    page.reload()
    expect(page.locator(OPEN)).to_have_count(ANSWERS)
    assert button.get_attribute("aria-pressed") == "true"
    assert kept(page)["pages"] == {}
    button.press("Enter")
    expect(page.locator(OPEN)).to_have_count(0)


@pytest.mark.slow
def test_a_finished_chapter_is_marked_and_forgotten_when_asked(chapter):
    page = chapter.page
    mark = page.locator('.bd-sidebar-primary a.current [aria-label="finished"]')
    for number in range(ANSWERS):
        open_answer(page, number)
    for number in range(QUIZZES):
        assert mark.count() == 0
        quiz = page.locator('.aos-view[data-module="quiz"]').nth(number)
        quiz.locator("input").nth(number).check()
    mark.wait_for()
    assert len(kept(page)["pages"][NAME]["done"]) == ANSWERS + QUIZZES
    page.reload()
    expect(page.locator(OPEN)).to_have_count(ANSWERS)
    for number in range(QUIZZES):
        quiz = page.locator('.aos-view[data-module="quiz"]').nth(number)
        assert quiz.locator("input").nth(number).is_checked()
        assert quiz.locator('[data-value="verdict"]').inner_text()[0] in "✓✗"
    expect(mark).to_have_count(1)
    page.goto(f"{chapter.origin}/chapters/02_queries_keys_values.html")
    first = page.locator('.bd-sidebar-primary a[href*="01_dot"]')
    expect(first.locator(".finished")).to_have_count(1)
    # The browser may take it out of its store only after the page is loaded anew.
    page.evaluate("Storage.prototype.removeItem = () => null")
    with page.expect_event("load"):
        page.get_by_role("button", name="Forget it").click()
    wait_until_stored(page, None)
    assert kept(page) is None
    expect(page.locator(".finished")).to_have_count(0)
    page.reload()
    assert kept(page) is None


@pytest.mark.parametrize("asked", ["", "0", "9999999999999"])
def test_a_link_that_asks_to_forget_removes_nothing(chapter, asked):
    page = chapter.page
    open_answer(page, 0)
    before = kept(page)
    page.goto(f"{page.url.partition('?')[0]}?forget={asked}")
    expect(page.locator(OPEN)).to_have_count(1)
    assert "forget" not in page.url
    assert kept(page) == before


def test_on_paper_every_answer_is_seen(chapter):
    page = chapter.page
    page.emulate_media(media="print")
    folded = ".cell.tag_hide-output > details"
    # The browser lays a page out for paper in its own time.
    seen = f"(selector) => ({SHOWN})(selector) === {ANSWERS}"
    page.wait_for_function(seen, arg=f"{folded} pre")
    assert page.evaluate(SHOWN, f"{folded} > summary") == 0
    assert readings(page) >= ANSWERS


def test_an_answer_opened_for_the_paper_is_there_at_once(chapter):
    """The paper shows the moment of opening; a fade begins with nothing."""
    page = chapter.page
    page.emulate_media(media="print")
    shown = page.evaluate(
        """(selector) => {
            dispatchEvent(new Event("beforeprint"));
            return [...document.querySelectorAll(selector)].map(
                (one) => getComputedStyle(one).opacity);
        }""",
        f"{OPEN} > summary ~ *",
    )
    assert shown == ["1"] * ANSWERS


@pytest.mark.slow
def test_printing_folds_again_what_was_folded(chapter):
    page = chapter.page
    open_answer(page, 1)
    for event in ("beforeprint", "beforeprint"):
        page.evaluate("(name) => dispatchEvent(new Event(name))", event)
        assert page.locator(OPEN).count() == ANSWERS
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(OPEN).count() == 1
    assert len(kept(page)["pages"][NAME]["done"]) == 1


@pytest.mark.slow
def test_steps_that_have_other_words_now_finish_nothing(chapter):
    page = chapter.page
    mark = page.locator('.bd-sidebar-primary a.current [aria-label="finished"]')
    open_answer(page, 0)
    ((step, how),) = kept(page)["pages"][NAME]["done"].items()
    done = {step: how} | {f"old{number}": True for number in range(ANSWERS + QUIZZES)}
    keep(page, json.dumps({"pages": {NAME: {"done": done, "of": len(done)}}}))
    page.reload()
    page.locator(OPEN).wait_for()
    assert page.locator(OPEN).count() == 1
    assert mark.count() == 0
    assert kept(page)["pages"][NAME]["done"] == done
    for number in range(1, ANSWERS):
        open_answer(page, number)
    for number in range(QUIZZES):
        assert mark.count() == 0
        quiz = page.locator('.aos-view[data-module="quiz"]').nth(number)
        quiz.locator("input").first.check()
    mark.wait_for()


FORMER = "08_char_language_model"


@pytest.mark.slow
def test_what_was_kept_under_a_pages_former_name_counts_for_the_new_one(chapter):
    page = chapter.page
    (address,) = [new for old, new in MOVED.items() if old.endswith(FORMER)]
    name = address.rpartition("/")[-1]
    page.goto(f"{chapter.origin}/{address}.html")
    open_answer(page, 0)
    some = '(key) => localStorage.getItem(key)?.includes(\'"done":{"\')'
    page.wait_for_function(some, arg=KEY)
    here = kept(page)["pages"][name]
    # As it was kept before the page moved, and beside it something of today's name.
    for pages in ({FORMER: here}, {FORMER: here, name: {"done": {"a": "b"}, "of": 9}}):
        keep(page, json.dumps({"pages": pages}))
        page.reload()
        page.locator(OPEN).wait_for()
        assert page.locator(OPEN).count() == 1
        assert page.locator(".finished").count() == 0
        found = kept(page)["pages"]
        assert list(found) == [name]
        assert found[name]["done"] == here["done"] | pages.get(name, {}).get("done", {})
    finished = {FORMER: {"done": {"a": True, "b": "c"}, "of": 2}}
    keep(page, json.dumps({"pages": finished}))
    page.goto(f"{chapter.origin}/{CHAPTER}.html")
    marks = page.locator(f'.bd-sidebar-primary a[href*="{name}"] .finished')
    expect(marks).to_have_count(1)


def test_an_old_address_leads_on(chapter):
    page = chapter.page
    for former, name in MOVED.items():
        page.goto(f"{chapter.origin}/{former}.html")
        page.wait_for_url(f"**/{name}.html")


def test_progress_follows_the_pages_that_have_moved():
    script = (ROOT / "_ext" / "progress.js").read_text(encoding="utf-8")
    listed = script.partition("const MOVED = new Map([")[2].partition("]);")[0]
    pairs = re.findall(r'\["(\w+)", "(\w+)"\]', listed)
    names = [[page.rpartition("/")[-1] for page in pair] for pair in MOVED.items()]
    assert [list(pair) for pair in pairs] == names


@pytest.mark.slow
def test_an_answer_opened_while_its_code_was_copied_is_found_again(chapter):
    page = chapter.page
    page.locator(".cell.tag_hide-output .copybtn svg title").first.evaluate(
        "(title) => (title.textContent = 'Copied!')"
    )
    open_answer(page, 0)
    assert len(kept(page)["pages"][NAME]["done"]) == 1
    page.reload()
    expect(page.locator(OPEN)).to_have_count(1)


@pytest.mark.slow
def test_what_another_tab_keeps_or_forgets_is_seen(chapter):
    page = chapter.page
    other = chapter.context.new_page()
    other.goto(page.url)
    said = other.locator(".progress-kept p")
    button = other.get_by_role("button", name="Show all answers")
    open_answer(page, 0)
    expect(said).to_have_text(re.compile("^1 answer of yours"))
    page.get_by_role("button", name="Show all answers").click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert other.locator(OPEN).count() == ANSWERS
    with page.expect_event("load"):
        page.get_by_role("button", name="Forget it").click()
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(said).to_be_hidden()


def test_a_page_that_comes_back_is_told_what_is_kept(chapter):
    page = chapter.page
    keep(page, json.dumps({"all": True, "pages": {"a": {"done": {"b": True}}}}))
    page.evaluate(
        "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
    )
    assert page.locator(".progress-kept p").inner_text().startswith("1 answer")
    assert page.locator(OPEN).count() == ANSWERS


@pytest.mark.slow
def test_where_storage_is_refused_nothing_is_said(chapter):
    page = chapter.page
    page.add_init_script(REFUSED)
    page.reload()
    open_answer(page, 1)
    button = page.get_by_role("button", name="Show all answers")
    for expected in (ANSWERS, 1):
        page.evaluate(ALL_TOLD)
        button.click()
        assert page.locator(OPEN).count() == expected
    assert page.locator(".progress-kept").is_hidden()


@pytest.mark.slow
def test_an_answer_opened_by_hand_counts_while_all_are_open(chapter):
    page = chapter.page
    button = page.get_by_role("button", name="Show all answers")
    button.click()
    page.evaluate(ALL_TOLD)
    open_answer(page, 1)  # closes it
    assert page.locator(OPEN).count() == ANSWERS - 1
    page.evaluate(ALL_TOLD)
    open_answer(page, 1)
    expect(page.locator(".progress-kept p")).to_have_text(re.compile("^1 answer of"))
    button.click()
    assert page.locator(OPEN).count() == 1


ODD = (
    "{",
    "5",
    "null",
    '{"pages": [1]}',
    '{"pages": {"a": 1, "b": null}}',
    *(
        json.dumps({"pages": {NAME: {"done": done, "of": 2}}})
        for done in ([1, 2, 3], "abcdefgh", 7, True)
    ),
)


@pytest.mark.slow
def test_what_someone_else_has_kept_does_no_harm(chapter):
    page = chapter.page
    for text in ODD:
        keep(page, text)
        page.reload()
        assert page.locator(".finished").count() == 0, text
        open_answer(page, 2)
        assert page.locator(OPEN).count() == 1, text
        here = kept(page)["pages"][NAME]
        assert list(here["done"].values()) == [True], text
        assert here["of"] == ANSWERS + QUIZZES, text


def test_without_scripts_each_answer_can_be_opened(chromium, site):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.as_uri()}/{CHAPTER}.html")
    assert page.get_by_role("button", name="Show all answers").count() == 0
    open_answer(page, 0)
    assert page.locator(OPEN).count() == 1
    context.close()
