"""The diagram, stepped through and asked cell by cell, and compared with PyTorch."""

import math
import re

import pytest
import torch
from playwright.sync_api import expect

from tests.browser.conftest import PAGE, THEMES
from tests.browser.test_accessibility import violations
from tests.samples.diagrams import CHAPTERS, INPUTS, WORDS

HEADING = "page-has-heading-one"  # a view alone on its page has no heading
MARKS = """() => [...document.querySelectorAll('.live .mark.from')].map((one) =>
    ['x', 'y', 'width', 'height'].map((name) => Number(one.getAttribute(name))))"""
SEEN = """() => [...document.querySelectorAll('.live [data-part]')]
    .filter((one) => one.classList.contains('part')
        && getComputedStyle(one).visibility === 'visible')
    .map((one) => one.querySelector('.name').textContent)"""
CELL = 16
MEANT = torch.softmax(INPUTS @ INPUTS.T, -1) @ INPUTS


WIDTHS = {
    name: int(re.search(r'<svg [^>]*width="(\d+)"', CHAPTERS[name]().picture)[1])
    for name in CHAPTERS
}


@pytest.fixture
def shown(show_views):
    return show_views(CHAPTERS["dot_products"]())


def plain(text):
    return text.replace("\u2068", "").replace("\u2069", "").replace("−", "-")


def cell(shown):
    return plain(shown.value("cell"))


def centre(view, name, row, column):
    """Where a cell of a part lies in the picture."""
    part = next(one for one in view.state["parts"] if one["name"] == name)
    return part["x"] + CELL * (column + 0.5), part["y"] + CELL * (row + 0.5)


def point(shown, x, y):
    """Move the mouse to a place of the picture."""
    shown.page.locator(".live svg").scroll_into_view_if_needed()
    box = shown.page.locator(".live svg").bounding_box()
    shown.page.mouse.move(box["x"] + x, box["y"] + y)


def test_the_picture_grows_step_by_step(shown):
    everything = ["inputs", "scores", "weights", "context"]
    assert shown.page.evaluate(SEEN) == everything
    assert shown.value("step") == "all 3 steps"
    for step, said in enumerate(["a row of inputs", "shares", "a column"], start=1):
        shown.press("next", "Enter")
        assert shown.page.evaluate(SEEN) == everything[: step + 1]
        assert shown.value("step") == f"step {step} of 3"
        assert said in shown.value("sentence")
    shown.press("next", "Enter")
    assert shown.value("step") == "step 1 of 3"
    shown.press("back", "Space")
    assert shown.value("step") == "step 3 of 3"
    now = shown.page.locator(".live .now .name")
    assert now.all_text_contents() == ["inputs", "weights", "context"]
    past = shown.page.locator(".live .past .name")
    assert past.all_text_contents() == ["scores"]  # weights and inputs are used now
    shown.press("all", "Enter")
    assert shown.value("step") == "all 3 steps"
    assert shown.control("all").get_attribute("aria-pressed") == "true"
    assert shown.page.evaluate(SEEN) == everything
    shown.press("all", "Enter")
    assert shown.value("step") == "step 3 of 3"
    shown.press("all", "Enter")
    shown.press("back", "Enter")
    assert shown.value("step") == "step 3 of 3"


def test_each_cell_says_its_number_and_where_it_comes_from(shown):
    shown.control("cell").focus()
    shown.press("cell", "ArrowDown", 2)
    shown.press("cell", "ArrowRight", 4)
    one, other = INPUTS[2], INPUTS[4]
    products = " + ".join(f"{a:.2f} × {b:.2f}" for a, b in zip(one, other, strict=True))
    assert cell(shown) == (
        "scores[starts, one] = row starts of inputs · row one of inputs = "
        f"{products} = {one @ other:.2f}"
    )
    x, y = centre(CHAPTERS["dot_products"](), "inputs", 0, 0)
    left, top = x - CELL / 2, y - CELL / 2
    rows = [[left, top + CELL * row, 3 * CELL, CELL] for row in (2, 4)]
    assert shown.page.evaluate(MARKS) == rows
    shown.press("cell", "PageDown")
    weight = torch.softmax(INPUTS @ INPUTS.T, -1)[0, 0]
    assert cell(shown) == f"weights[Your, Your] = {weight:.2f}, from row Your of scores"
    shown.press("cell", "PageDown")
    shown.press("cell", "ArrowRight")
    assert cell(shown).startswith(
        "context[Your, 1] = row Your of weights · column 1 of inputs = "
    )
    assert cell(shown).endswith(f" = {MEANT[0, 1]:.2f}")
    assert shown.control("cell").get_attribute("aria-valuetext") == shown.value("cell")
    shown.press("cell", "PageUp")
    shown.press("cell", "ArrowLeft")  # the edge stays the edge
    shown.press("cell", "ArrowUp")
    assert cell(shown).startswith("weights[Your, Your]")
    shown.press("next", "Enter")
    shown.press("back", "Enter")
    shown.press("all", "Enter")
    assert shown.moved == shown.controls()


def test_keys_reach_no_part_that_is_not_there_yet(shown):
    shown.press("next", "Enter")
    shown.press("cell", "PageDown")
    assert cell(shown).startswith("scores[")
    shown.press("next", "Enter")
    shown.press("cell", "PageDown")
    assert cell(shown).startswith("weights[")


def test_keys_pass_over_parts_that_are_not_there_yet(show_views):
    shown = show_views(CHAPTERS["projections"]())
    shown.press("next", "Enter")
    for key, name in (
        ("PageUp", "W_query"),
        ("PageUp", "inputs"),
        ("PageUp", "inputs"),
    ):
        shown.press("cell", key)
        assert cell(shown).startswith(f"{name}[")
    for name in ("W_query", "queries", "queries"):
        shown.press("cell", "PageDown")
        assert cell(shown).startswith(f"{name}[")


def test_the_mouse_asks_a_cell(shown):
    view = CHAPTERS["dot_products"]()
    for row, word in enumerate(WORDS):
        point(shown, *centre(view, "context", row, 2))
        assert cell(shown).startswith(f"context[{word}, 2] = ")
        assert cell(shown).endswith(f" = {MEANT[row, 2]:.2f}")
    point(shown, 2, 2)
    assert cell(shown) == ""
    assert shown.page.locator(".live .mark").count() == 0
    point(shown, *centre(view, "inputs", 1, 0))
    assert cell(shown) == f"inputs[journey, 0] = {INPUTS[1, 0]:.2f}"


def test_a_finger_asks_a_cell(chromium, tmp_path):
    view = CHAPTERS["dot_products"]()
    path = tmp_path / "view.html"
    page = PAGE.format(colours=THEMES["light"], views=view._repr_html_())
    path.write_text(page, encoding="utf-8")
    size = {"width": 375, "height": 800}
    context = chromium.new_context(has_touch=True, viewport=size)
    try:
        page = context.new_page()
        page.goto(path.as_uri())
        drawing, said = page.locator(".live svg"), page.locator("[data-value=cell]")
        drawing.scroll_into_view_if_needed()
        for row, word in enumerate(WORDS[:2]):
            x, y = centre(view, "inputs", row, 0)
            drawing.tap(position={"x": x, "y": y})
            expect(said).to_have_text(re.compile(rf"inputs\[\W?{word}\W?, 0\] = "))
            assert page.locator(".live .mark").count() == 1
        drawing.tap(position={"x": 2, "y": 2})
        expect(said).to_have_text("")
    finally:
        context.close()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "part", "row", "column", "words"),
    [
        ("masking", "masked", 0, 3, r"masked\[Your, with\] = -∞, from scaled "),
        (
            "masking",
            "scaled",
            1,
            0,
            r"from row journey of queries and row Your of keys",
        ),
        (
            "many_heads",
            "head_keys",
            1,
            1,
            r"\[head 0, journey, 1\] = .* from keys -?\d",
        ),
        ("many_heads", "merged", 1, 3, r"from contexts \(head 1\) "),
        (
            "many_heads",
            "weights",
            1,
            0,
            r"from row journey of head_queries .* and head_k",
        ),
        ("characters", "tokens", 1, 0, r"from row e of ids and row e of token_table"),
        ("characters", "ids", 1, 0, r"^ids\[e\] = 0$"),
        ("characters", "context", 0, 0, r"from x$"),
        ("second_sequence", "queries", 1, 0, r"row chat of x · column 0 of W_query = "),
        ("dropping", "dropped", 1, 1, r", from weights "),
        ("block", "middle", 2, 1, r"from x .*\d and update .*\d$"),
    ],
)
def test_every_operation_names_its_cells(show_views, name, part, row, column, words):
    view = CHAPTERS[name]()
    shown = show_views(view)
    point(shown, *centre(view, part, row, column))
    assert re.search(words, cell(shown)), cell(shown)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", CHAPTERS)
def test_a_picture_is_legible_and_accessible(show_views, name, theme):
    shown = show_views(CHAPTERS[name](), theme=theme)
    for width in (1280, 375):
        shown.page.set_viewport_size({"width": width, "height": 800})
        assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        drawing = shown.page.locator(".live svg").bounding_box()
        assert drawing["width"] == WIDTHS[name]
        sizes = shown.page.locator(".live svg text").evaluate_all(
            "all => all.map((one) => parseFloat(getComputedStyle(one).fontSize))"
        )
        assert min(sizes) >= 12
    found = [one for one in violations(shown.page) if one[0] != HEADING]
    assert found == []


def test_wide_tables_scroll_in_a_frame_of_their_own(show_views):
    shown = show_views(CHAPTERS["many_heads"]())
    shown.page.set_viewport_size({"width": 320, "height": 800})
    shown.page.locator("summary").click()
    table = shown.page.locator("table").first
    expect(table).to_be_visible()
    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    sentence = table.locator("tr").nth(-1).locator("td").nth(3)
    assert sentence.bounding_box()["height"] > 40  # it takes several lines


@pytest.mark.parametrize("name", CHAPTERS)
def test_words_stay_within_their_frames(show_views, name):
    shown = show_views(CHAPTERS[name]())
    outside = shown.page.evaluate(
        """() => [...document.querySelectorAll('.live .part')].flatMap((part) => {
            const frame = part.querySelector('.hull').getBoundingClientRect();
            return [...part.querySelectorAll('text[text-anchor=start]')]
                .filter((one) => one.getBoundingClientRect().right > frame.right)
                .map((one) => one.textContent);
        })"""
    )
    assert outside == []


def test_without_scripts_the_whole_picture_is_there(chromium, tmp_path):
    view = CHAPTERS["masking"]()
    path = tmp_path / "view.html"
    page = PAGE.format(colours=THEMES["light"], views=view._repr_html_())
    path.write_text(page, encoding="utf-8")
    context = chromium.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(path.as_uri())
        drawing = page.locator("svg")
        expect(drawing).to_be_visible()
        assert drawing.locator(".name").all_text_contents() == [
            part["name"] for part in view.state["parts"]
        ]
        assert page.locator("table").first.is_visible()
        sizes = [math.prod(part["shape"]) for part in view.state["parts"]]
        assert drawing.locator(".cells rect").count() == sum(sizes)
    finally:
        context.close()


def test_shade_and_shape_follow_the_number(show_views):
    shown = show_views(CHAPTERS["masking"]())
    read = """all => all.map((one) => {
        const { fillOpacity, rx } = getComputedStyle(one);
        return [one.style.getPropertyValue('--v'), fillOpacity, rx].map(parseFloat);
    })"""
    cells = shown.page.locator(".live .cells rect").evaluate_all(read)
    assert {value < 0 for value, _, _ in cells} == {True, False}
    for value, opacity, radius in cells:
        assert opacity == pytest.approx(abs(value), abs=1e-4)
        assert radius == (7 if value < 0 else 1.5)


def test_in_print_the_picture_is_whole(shown):
    shown.press("next", "Enter")
    shown.page.set_viewport_size({"width": 375, "height": 800})
    shown.page.emulate_media(media="print")
    assert shown.page.evaluate(SEEN) == ["inputs", "scores", "weights", "context"]
    assert not shown.control("next").is_visible()
    assert shown.page.evaluate(
        """() => { const frame = document.querySelector('.live .scroll');
            return frame.scrollWidth <= frame.clientWidth; }"""
    )
    shown.page.emulate_media(media="screen")
    assert shown.page.evaluate(SEEN) == ["inputs", "scores"]
