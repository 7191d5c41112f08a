"""``explore`` on a page: sliders moved by keyboard, frames as Python has them."""

import pytest
import torch

from helpers.views import Line, Table, Text, View, explore

WIDTHS = [2, 8, 32]
KINDS = ["normal", "uniform"]
STEPS = [1, 10, 100]


def numbers_of(width, kind):
    """Three numbers that only PyTorch has."""
    generator = torch.Generator().manual_seed(width)
    draw = torch.randn if kind == "normal" else torch.rand
    return draw(3, generator=generator).mul(width**0.5).tolist()


def frame(width, kind, doubled):
    first, second, third = (
        (1 + doubled) * number for number in numbers_of(width, kind)
    )
    return [
        f"{kind} of {width}",
        first,
        {"second": second, "third": third},
        Table("both", [[first, second]], columns=["one", "two"], rows=["row"]),
        Line(STEPS, {"up": [first, second, third], "down": [third, second, first]},
             "step", "size", log_x=True),
    ]  # fmt: skip


MOVES = [
    ([], (2, "normal", False)),
    ([("width", "ArrowRight", 1)], (8, "normal", False)),
    ([("width", "End", 1), ("width", "ArrowLeft", 1)], (8, "normal", False)),
    ([("kind", "ArrowDown", 3)], (2, "uniform", False)),
    ([("doubled", "Space", 1)], (2, "normal", True)),
    (
        [("width", "End", 1), ("kind", "End", 1), ("doubled", "Space", 1)],
        (32, "uniform", True),
    ),
]


@pytest.fixture
def shown(show_views):
    choices = {"width": WIDTHS, "kind": KINDS, "doubled": [False, True]}
    return show_views(explore(frame, title="Random numbers", decimals=2, **choices))


@pytest.mark.parametrize(("moves", "values"), MOVES)
def test_the_frame_is_what_the_function_returns(shown, moves, values):
    for name, key, times in moves:
        shown.press(name, key, times)
    text, first, bars, table, line = frame(*values)
    assert shown.value("part 0") == text
    assert shown.value("part 1") == f"{first:z.2f}"
    for i, number in enumerate(bars.values()):
        assert shown.value(f"bar 2 {i}") == f"{number:z.2f}"
    for i, number in enumerate(table.cells[0]):
        assert shown.value(f"cell 3 0 {i}") == f"{number:z.4f}"
    for i, y in enumerate(line.y.values()):
        assert shown.value(f"first 4 {i}") == f"{y[0]:z.2f}"
        assert shown.value(f"last 4 {i}") == f"{y[-1]:z.2f}"
    width, kind, doubled = values
    sentence = shown.value("sentence").replace("\u2068", "").replace("\u2069", "")
    doubled = "doubled" if doubled else "not doubled"
    assert f"width {width} and kind {kind} and {doubled}:" in sentence
    best = max(bars, key=bars.get)
    assert f"{best} is largest, {bars[best]:z.2f}" in sentence
    up = line.y["up"]
    assert f"up from {up[0]:z.2f} to {up[-1]:z.2f}" in sentence
    assert shown.page.locator("[aria-live]").count() == 1


def test_all_controls_were_moved(shown):
    for name, key in (("width", "End"), ("kind", "End"), ("doubled", "Space")):
        before = shown.value("part 1")
        shown.press(name, key)
        assert shown.value("part 1") != before
    assert shown.control("width").get_attribute("aria-valuetext") == "32"
    assert shown.control("kind").input_value() == "uniform"
    assert shown.control("doubled").is_checked()
    assert shown.moved == shown.controls()


@pytest.mark.parametrize(
    ("moves", "values"), [MOVES[0], MOVES[5]], ids=["at first", "at last"]
)
def test_bars_and_curves_are_drawn_on_one_scale(shown, moves, values):
    for name, key, times in moves:
        shown.press(name, key, times)
    frames = [frame(w, k, d) for w in WIDTHS for k in KINDS for d in (False, True)]
    bars, line = frame(*values)[2], frame(*values)[4]

    reach = [number for one in frames for number in one[2].values()] + [0]
    low, high = min(reach), max(reach)
    drawn = shown.page.locator(".live td[aria-hidden] > div")
    cell = shown.page.locator(".live td[aria-hidden]").first.evaluate(
        "(td) => { const { paddingLeft, paddingRight, borderLeftWidth } ="
        " getComputedStyle(td); const box = td.getBoundingClientRect(); return"
        " [box.x + parseFloat(paddingLeft), td.clientWidth"
        " - parseFloat(paddingLeft) - parseFloat(paddingRight)]; }"
    )
    for i, number in enumerate(bars.values()):
        box = drawn.nth(i).bounding_box()
        start = cell[0] + cell[1] * (min(number, 0) - low) / (high - low)
        assert box["x"] == pytest.approx(start, abs=2)
        width = cell[1] * abs(number) / (high - low)
        assert box["width"] == pytest.approx(width, abs=2)

    reach = [number for one in frames for y in one[4].y.values() for number in y]
    low, high = min([*reach, 0]), max(reach)
    words = shown.page.locator(".live svg text").all_text_contents()
    assert words == [f"{high:.2f}", f"{low:.2f}", "1", "100", "step"]
    heads = shown.page.locator('.live th[scope="col"]').all_text_contents()
    assert heads == ["one", "two", *(f"\u2068step\u2069 = {end}" for end in (1, 100))]
    for i, y in enumerate(line.y.values()):
        path = shown.page.locator(f'.live [data-value="curve 4 {i}"]').get_attribute(
            "d"
        )
        points = [tuple(map(float, p.split())) for p in path[1:].split("L")]
        assert [x for x, _ in points] == pytest.approx([52, 191, 330], abs=0.1)
        down = [12 + 164 * (high - number) / (high - low) for number in y]
        assert [y for _, y in points] == pytest.approx(down, abs=1)


def test_a_missing_number_leaves_a_gap(show_views):
    line = Line(range(5), [1.0, 2.0, float("nan"), 4.0, 0.0], "x", "y")
    shown = show_views(explore(lambda a: line, title="t", a=[1, 2]))
    path = shown.page.locator('.live [data-value="curve 0 0"]').get_attribute("d")
    assert path == "M52.0 135.0L121.5 94.0M260.5 12.0L330.0 176.0"


def test_words_alone_are_named_by_their_values(show_views):
    shown = show_views(explore(lambda a: f"text {a}", title="t", a=["x", "y"]))
    shown.press("a", "ArrowDown")
    assert shown.value("part 0") == "text y"
    assert "Shown above: \u2068a\u2069 \u2068y\u2069." in shown.value("sentence")


def test_what_cannot_be_chosen_has_no_control(show_views):
    view = explore(lambda a, b: f"{a} {b}", title="t", a=Text("only"), b=[" ", "1"])
    shown = show_views(view)
    assert shown.controls() == {"b"}
    shown.press("b", "ArrowDown")
    assert shown.value("part 0") == "only 1"


# --- with a kernel: what follow() reads in the box of ipywidgets; no kernel is here ---

PUT = """([name, html]) => {
    const box = document.querySelector("." + name) ?? document.createElement("div");
    box.className = "aos-explore " + name;
    box.innerHTML = "<div><div>" + html + "<p>words</p></div></div>";
    document.body.prepend(box);
}"""


@pytest.fixture
def followed(show_views):
    """A view that follows a box, and a function that puts a word's result there."""

    def both(word):
        return [word, {"length": len(word), "share": 1 / len(word)}][
            : 1 + len(word) % 2
        ]

    grid = explore(both, title="t", word=Text("one", values=["two"]))
    state = grid.state | {"box": "aos-explore-7"}
    shown = show_views(View("explore", "t", state, grid.tables))

    def put(word, name="aos-explore-7"):
        shown.page.evaluate(PUT, [name, grid._computed((word,))])

    return shown, put


def test_a_box_that_comes_later_takes_the_place_of_the_controls(followed):
    shown, put = followed
    assert shown.controls() == {"word"}
    shown.press("word", "ArrowDown")
    assert shown.value("part 0") == "two"
    put("<b>")
    assert shown.controls() == set()
    assert (shown.value("part 0"), shown.value("bar 1 0")) == ("<b>", "3")
    assert not shown.page.get_by_text("words", exact=True).is_visible()
    put("other words", name="aos-explore-8")
    assert shown.value("part 0") == "<b>"


def test_an_error_leaves_the_last_result_until_the_next(followed):
    shown, put = followed
    put("fives")
    assert shown.value("wrong") == ""
    put("")
    assert "ZeroDivisionError: division by zero" in shown.value("wrong")
    assert "still that for \u2068word\u2069 \u2068fives\u2069." in shown.value("wrong")
    assert shown.value("part 0") == "fives"
    put("sevenxx")
    assert (shown.value("wrong"), shown.value("part 0")) == ("", "sevenxx")


def test_nothing_below_jumps_when_a_result_is_shorter(followed):
    shown, put = followed
    put("fives")
    before = shown.page.locator('[data-value="sentence"]').bounding_box()["y"]
    put("even")
    assert shown.page.locator('[data-value="bar 1 0"]').count() == 0
    assert shown.page.locator('[data-value="sentence"]').bounding_box()["y"] == before
