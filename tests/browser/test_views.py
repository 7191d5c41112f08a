"""Every view in a browser: each control works by keyboard, in any theme."""

import pytest
from playwright.sync_api import TimeoutError, expect

from tests.browser.axe import COLOURS, violations
from tests.browser.conftest import THEMES
from tests.browser.widths import OPEN
from tests.samples.views import HOSTILE, SAMPLES

# Keys that move a control of each kind, from wherever it stands.
KEYS = {
    "range": ("ArrowRight", "ArrowLeft"),
    "number": ("ArrowUp", "ArrowDown"),
    "checkbox": ("Space",),
    "radio": ("ArrowRight", "ArrowLeft"),
    "text": ("a",),
    "select": ("ArrowDown", "ArrowUp"),
    "textarea": ("a",),
    "button": ("Enter",),
    "slider": ("ArrowRight", "ArrowLeft"),
    "listbox": ("ArrowDown", "ArrowUp"),
    "file": (b"no model",),  # what stands in it
}
SEEN = """() => [...document.querySelectorAll('.live')].map(
    (live) => live.innerText + live.innerHTML).join()"""


def kind(control):
    """Which keys move it: by its role, its type or its tag."""
    return control.evaluate(
        "(one) => one.getAttribute('role') ?? (one.tagName === 'INPUT'"
        " ? one.type : one.tagName.toLowerCase())"
    )


def changes(shown, name, key):
    """Whether a key on a control changes what is seen; what a worker answers, later."""
    before = shown.page.evaluate(SEEN)
    if isinstance(key, str):
        shown.press(name, key)
        if key != "Enter":
            return shown.page.evaluate(SEEN) != before
    else:
        file = {"name": "a file", "mimeType": "application/octet-stream", "buffer": key}
        shown.control(name).set_input_files(file)
    try:
        shown.page.wait_for_function(f"(before) => ({SEEN})() !== before", arg=before)
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize("name", SAMPLES)
def test_every_control_is_named_and_changes_something(show_views, name):
    shown = show_views(SAMPLES[name]())
    focusable = shown.page.locator(
        ".live :is(input, select, button, textarea, [tabindex='0']):not(.scroll)"
    )
    unnamed = focusable.evaluate_all(
        "all => all.filter((one) => !one.dataset.control).map((one) => one.outerHTML)"
    )
    assert unnamed == []
    # JupyterLab has shortcuts of its own for the keys that move a control.
    unmarked = ".live :is([data-control], [tabindex]):not([data-lm-suppress-shortcuts])"
    assert shown.page.locator(unmarked).count() == 0
    assert shown.controls()
    for control_name in sorted(shown.controls()):
        assert shown.control(control_name).count() == 1, f"several {control_name}"
        keys = KEYS[kind(shown.control(control_name))]
        changed = [changes(shown, control_name, key) for key in keys]
        assert any(changed), f"{control_name} changes nothing"


@pytest.mark.parametrize("name", SAMPLES)
def test_every_control_is_reached_by_tab(show_views, name):
    shown = show_views(SAMPLES[name]())
    wanted, reached = shown.controls(), set()
    for _ in range(4 * len(wanted) + 40):
        shown.page.keyboard.press("Tab")
        found = shown.page.evaluate("document.activeElement.dataset.control ?? ''")
        reached.add(found)
    # Of a group of radio buttons, Tab reaches the one that is chosen.
    missed = wanted - reached
    for control_name in missed:
        assert kind(shown.control(control_name)) == "radio", control_name


@pytest.mark.one_in(2)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", SAMPLES)
def test_a_view_fits_a_phone_in_both_themes(show_views, name, theme):
    shown = show_views(SAMPLES[name](), theme=theme)
    assert shown.page.locator(".aos-view.dark").count() == (theme == "dark")
    for width in (1280, 375):
        shown.page.set_viewport_size({"width": width, "height": 800})
        overflow = shown.page.evaluate(
            "document.documentElement.scrollWidth - innerWidth"
        )
        assert overflow <= 0, f"{overflow} pixels too wide at {width}"


# All of axe's rules, for which no page but one of each kind has the time: up to 10
# seconds a view.
@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", SAMPLES)
def test_axe_finds_nothing_to_mend_in_a_view(show_views, name, theme):
    shown = show_views(SAMPLES[name](), theme=theme)
    shown.page.evaluate(OPEN)
    options = {} if theme == "light" else {"runOnly": COLOURS}
    view = {"include": [[".aos-view"]]}
    assert violations(shown.page, view, **options) == []


def test_a_table_that_goes_on_beyond_the_edge_fades_there(show_views):
    shown = show_views(SAMPLES["soft_lookup"]())
    faded = shown.page.locator(".live .scroll.more")
    shown.page.set_viewport_size({"width": 1280, "height": 800})
    expect(faded).to_have_count(0)
    shown.page.set_viewport_size({"width": 375, "height": 800})
    expect(faded).not_to_have_count(0)
    for frame in shown.page.locator(".live .scroll").all():
        frame.evaluate("(frame) => frame.scrollTo(frame.scrollWidth, 0)")
    expect(faded).to_have_count(0)


@pytest.mark.parametrize("name", SAMPLES)
def test_hostile_names_are_shown_as_text(show_views, name):
    shown = show_views(SAMPLES[name]())
    assert shown.page.locator(".aos-view img, .aos-view iframe").count() == 0
    assert shown.page.locator(".aos-view script").count() == 0
    if HOSTILE[0] in str(SAMPLES[name]().state):
        assert HOSTILE[0] in shown.page.locator(".live").first.text_content()


# How many fields a reader may write into.
FIELDS = {
    "model_in_the_page": 1,
    "soft_lookup": 6,
    "memory_state": 2,
    "learning_in_the_page": 3,
    "real_model": 3,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_hostile_texts_that_a_reader_types_run_nothing(show_views, name):
    shown = show_views(SAMPLES[name]())
    fields = shown.page.locator(
        ".live :is(textarea, [contenteditable], input:not([type=range],"
        " [type=checkbox], [type=radio]))"
    )
    assert fields.count() == FIELDS.get(name, 0)
    for i in range(fields.count()):
        for text in [*HOSTILE, "<img src=x>"]:  # the last fits any field
            fields.nth(i).focus()
            shown.page.keyboard.press("Control+a")
            shown.page.keyboard.insert_text(text)
            made = shown.page.locator(".aos-view :is(img, iframe, script)")
            assert made.count() == 0, text


def test_two_equal_views_on_one_page_both_live(show_views):
    view = SAMPLES["query_explorer"]()
    shown = show_views(view, view)
    assert shown.page.locator(".aos-view[data-live] .live").count() == 2
