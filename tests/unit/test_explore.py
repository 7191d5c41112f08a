"""The frames of ``explore``, their errors, and what a notebook is given of them."""

import asyncio
import concurrent.futures
import functools
import html
import json
import math
import re
import sys

import pytest
import torch
from IPython.core.formatters import DisplayFormatter

from helpers.views import Line, Number, Range, Table, Text, explore
from helpers.views.explore_live import WIDGET


def parts(result, **options):
    """The parts of the first of two equal frames."""
    view = explore(lambda a: result, title="t", a=[0, 1], **options)
    return view.state["frames"][0]


def powers(base, exponent):
    return [base**exponent, {"base": base, "exponent": exponent}]


# --- frames ---------------------------------------------------------------------------


def test_the_function_is_called_once_for_every_combination_in_order():
    called = []

    def note(word, size, flag):
        called.append((word, size, flag))
        return f"{word} {size} {flag}"

    view = explore(
        note, title="t", word=["a", "b"], size=[1, 2.5, 3], flag=[True, False]
    )
    expected = [(w, s, f) for w in "ab" for s in (1, 2.5, 3) for f in (True, False)]
    assert called == expected
    texts = [frame[0]["text"] for frame in view.state["frames"]]
    assert texts == [f"{w} {s} {f}" for w, s, f in expected]
    assert [choice["values"] for choice in view.state["choices"]] == [
        ["a", "b"],
        ["1", "2.5", "3"],
        ["True", "False"],
    ]


@pytest.mark.parametrize(
    ("result", "decimals", "text"),
    [
        ("plain", 4, "plain"),
        (3, 4, "3"),
        (0.44, 4, "0.4400"),
        (0.445, 1, "0.4"),
        (-0.00001, 2, "0.00"),
        (7.9, 0, "8"),
        (torch.tensor(0.25), 4, "0.2500"),
        (torch.tensor([3]).sum().numpy(), 4, "3"),
        (math.inf, 2, "inf"),
        (math.nan, 2, "nan"),
    ],
)
def test_texts_and_numbers_are_written_with_fixed_decimals(result, decimals, text):
    assert parts(result, decimals=decimals)[0]["text"] == text


def test_a_table_keeps_its_own_decimals():
    table = Table(
        "c", [[0.5, "x"], [1, 2.0]], columns=["p", 2], rows=["r", "s"], decimals=1
    )
    assert parts(table) == [
        {
            "kind": "table",
            "caption": "c",
            "cells": [["0.5", "x"], ["1", "2.0"]],
            "columns": ["p", "2"],
            "rows": ["r", "s"],
        }
    ]


def test_bars_share_one_scale_over_all_frames():
    view = explore(lambda a: {"x": a, "y": torch.tensor(0.5)}, title="t", a=[-2, 1, 3])
    frames = [frame[0] for frame in view.state["frames"]]
    assert [frame["reach"] for frame in frames] == [[-2, 3]] * 3
    assert frames[2]["values"] == [3, 0.5]
    assert frames[2]["texts"] == ["3", "0.5000"]


def test_lines_share_one_scale_over_all_frames():
    def curve(end):
        return Line(range(end + 1), [float(x) for x in range(end + 1)], "x", "y")

    view = explore(curve, title="t", end=[2, 4])
    (short,), (long,) = view.state["frames"]
    assert short["places"] == [0, 2500, 5000]
    assert long["places"] == [0, 2500, 5000, 7500, 10_000]
    assert short["reach"] == long["reach"] == [0, 4.0]
    assert short["x_ends"] == ["0", "4"]
    assert (short["from_to"], long["from_to"]) == (["0", "2"], ["0", "4"])
    assert short["y_ends"] == ["0", "4.0000"]
    assert short["curves"] == [
        {"name": "y", "y": [0.0, 1.0, 2.0], "ends": ["0.0000", "2.0000"]}
    ]


def test_a_logarithmic_axis_spaces_ratios_evenly():
    line = Line(
        [0.001, 0.01, 1.0], torch.tensor([1.0, 2.0, 3.0]), "rate", "y", log_x=True
    )
    (part,) = parts(line)
    assert part["places"] == [0, 3333, 10_000]
    assert part["x_ends"] == ["0.001", "1"]


def test_what_is_above_the_limit_is_drawn_at_it_and_named_as_it_is():
    (part,) = parts(Line([0, 1, 2, 3], [1.0, 9.0, math.inf, 7.5], "x", "y", y_limit=4))
    assert part["reach"] == [0, 4]
    (curve,) = part["curves"]
    assert curve["y"] == [1.0, 4, 4, 4]
    assert curve["ends"] == ["1.0000", "7.5000"]


def test_numbers_that_are_not_finite_leave_gaps_and_are_named():
    line = Line([0, 1, 2], {"one": [1.0, math.inf, math.nan]}, "x", "y")
    curve, bars = parts([line, {"a": math.nan, "b": 0.5}])
    assert curve["curves"] == [
        {"name": "one", "y": [1.0, None, None], "ends": ["1.0000", "nan"]}
    ]
    assert curve["reach"] == [0, 1.0]
    assert (bars["values"], bars["texts"]) == ([None, 0.5], ["nan", "0.5000"])


def test_every_combination_stands_in_a_table_that_needs_no_script():
    view = explore(powers, title="t", base=[2, 3], exponent=[1, 2])
    (table,) = view.tables
    assert table.columns == ["base", "exponent", "shown", "base", "exponent"]
    assert table.cells == [
        ["2", "1", "2", "2", "1"],
        ["2", "2", "4", "2", "2"],
        ["3", "1", "3", "3", "1"],
        ["3", "2", "9", "3", "2"],
    ]


def test_parts_of_one_name_have_columns_of_their_own():
    line = Line([0, 1], [0.5, 1.5], "x", "loss")
    view = explore(lambda a: [a, a + 1, line, Table("t", [["x"]])], title="t", a=[1, 2])
    first, second = view.tables
    assert first.columns == ["a", "shown", "shown (2)", "loss, first", "loss, last"]
    assert first.cells[1] == ["2", "2", "3", "0.5000", "1.5000"]
    assert second.cells == [["x"]]


def test_frames_may_differ_in_their_parts():
    view = explore(lambda a: ["x", {"b": 1}, 2][:a], title="t", a=[1, 3])
    assert [len(frame) for frame in view.state["frames"]] == [1, 3]


def test_recorded_results_are_looked_up():
    record = {"plain": {4: 1.5, 8: 1.25}, "muon": {4: 1.0, 8: 0.5}}

    def loss(recipe, layers):
        return record[recipe][layers]

    view = explore(loss, title="t", recipe=record, layers=[4, 8], decimals=2)
    texts = [frame[0]["text"] for frame in view.state["frames"]]
    assert texts == ["1.50", "1.25", "1.00", "0.50"]


# --- ranges and a reader's own inputs, on a page --------------------------------------


@pytest.mark.parametrize(
    ("choice", "values"),
    [
        (Range(0.0, 1.0), [0.0, 0.25, 0.5, 0.75, 1.0]),
        (Range(0, 1, 0.1), [0.0, 0.2, 0.5, 0.8, 1.0]),
        (Range(1, 64), [1, 17, 33, 48, 64]),
        (Range(1, 3), [1, 2, 3]),
        (Range(2, 9, 3), [2, 5, 8]),
        (Range(0, 10, values=[7, 2]), [7, 2]),
        (Range(0.5, 10, values=[7, 2]), [7.0, 2.0]),
        (Number(2, values=[3]), [2, 3]),
        (Number(0.5), [0.5]),
        (Text("a", values=["b", ""]), ["a", "b", ""]),
        (Text("a"), ["a"]),
    ],
)
def test_a_page_offers_some_values_of_what_a_kernel_leaves_open(choice, values):
    called = []
    view = explore(lambda **one: called.append(one["a"]) or "x", title="t", a=choice)
    assert called == values
    assert list(map(type, called)) == list(map(type, values))
    assert view.state["choices"][0]["values"] == list(map(str, values))


# --- errors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({}, r"at least one choice"),
        ({"a": [1]}, r"a must hold at least two values, all distinct, got \[1\]"),
        ({"a": []}, r"a must hold at least two values"),
        ({"a": [1, 2, 1]}, r"all distinct, got \[1, 2, 1\]"),
        ({"a": [1, True]}, r"all distinct"),
        ({"a": [1, "1"]}, r"all distinct"),
        ({"a": "ab"}, r"a must be a list of values, got 'ab'"),
        ({"a": 3}, r"a must be a list of values, got 3"),
        ({"a": [1, None]}, r"a must hold numbers, strings and booleans, got None"),
        ({"a": [1, math.nan]}, r"a must hold numbers, .* got nan"),
        ({"a": range(8), "b": range(8)}, r"at most 60 combinations, got 8 x 8 = 64"),
        ({"a": Range(3, 1)}, r"a must be a Range of numbers from low to high, got "),
        ({"a": Range("b", 1)}, r"a must be a Range of numbers from low to high"),
        ({"a": Range(0, math.inf)}, r"a must be a Range of numbers from low to high"),
        ({"a": Range(0, 1, "b")}, r"a must be a Range of numbers from low to high"),
        ({"a": Range(0, 1, 0)}, r"a must be a Range with a step inside it, got "),
        ({"a": Range(0, 1, 2)}, r"a must be a Range with a step inside it, got "),
        (
            {"a": Range(0, 1, values=[0, 2])},
            r"with values between its ends, got \[0, 2",
        ),
        ({"a": Range(0, 3, values=[1, 1.5])}, r"a must be a Range of integers through"),
        ({"a": Range(0, 1, values=3)}, r"a, a Range, must be a list of values, got 3"),
        ({"a": Range(0, 1, values=[1])}, r"a must hold at least two values"),
        ({"a": Number("b")}, r"a must be a Number of numbers, got \['b'\]"),
        ({"a": Number(1, values=[1])}, r"at least one value, all distinct, got \[1, 1"),
        ({"a": Number(1, values=2)}, r"a, a Number, must be a list of values, got 2"),
        ({"a": Text(1)}, r"a must be a Text of strings, got \[1\]"),
        ({"a": Text("b", values="c")}, r"a, a Text, must be a list of values, got 'c'"),
    ],
)
def test_choices_of_anything_else_are_named(choices, message):
    with pytest.raises(ValueError, match=message):
        explore(lambda **_: 1, title="t", **choices)


def test_sixty_combinations_are_allowed():
    view = explore(lambda **_: 1, title="t", a=range(6), b=range(10))
    assert len(view.state["frames"]) == 60


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"function": 3}, r"function must be callable, got 3"),
        ({"title": 3}, r"title must be a string, got 3"),
        ({"decimals": -1}, r"decimals must be an integer"),
        ({"decimals": 1.5}, r"decimals must be an integer"),
    ],
)
def test_other_arguments_are_checked(options, message):
    options = {"function": lambda a: a, "title": "t", "decimals": 4} | options
    with pytest.raises(ValueError, match=message):
        explore(options.pop("function"), **options, a=[1, 2])


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, r"the result of frame must be a string, .* got NoneType"),
        (True, r"the result of frame must be .* got bool"),
        (torch.zeros(2), r"the result of frame must be .* got Tensor"),
        ([], r"the result of frame must hold something, got \[\]"),
        ([1, [2]], r"the result of frame must be .* got list"),
        ({}, r"the result of frame must have distinct labels, got \[\]"),
        ({1: 2, "1": 3}, r"distinct labels, got \[1, '1'\]"),
        ({"a": "b"}, r"the result of frame at 'a' must be a number, got str"),
        (Line([0, 1], [1], "x", "y"), r"one y for each x, got 2 x and 1 y"),
        (Line([0], [1], "x", "y"), r"finite x that differ, got \[0\]"),
        (Line([1, 1], [1, 2], "x", "y"), r"finite x that differ"),
        (Line([0, math.inf], [1, 2], "x", "y"), r"finite x that differ"),
        (Line([0, 1], [1, 2], "x", "y", log_x=True), r"positive x for log_x"),
        (Line("ab", [1, 2], "x", "y"), r"in its x must hold numbers, got str"),
        (Line([0, 1], [1, "b"], "x", "y"), r"in its y must be a number, got str"),
        (Line([0, 1], {}, "x", "y"), r"1 to 4 curves, got 0"),
        (Line([0, 1], {key: [1, 2] for key in "abcde"}, "x", "y"), r"curves, got 5"),
    ],
)
def test_a_result_that_cannot_be_shown_is_named(result, message):
    def frame(a):
        return 1 if a == 1 else result

    with pytest.raises(ValueError, match=message) as caught:
        explore(frame, title="t", a=[1, 2])
    assert caught.value.__notes__ == ["frame was called with a = 2"]


def test_an_error_inside_the_function_names_the_combination():
    def ratio(above, below):
        return above / below

    with pytest.raises(ZeroDivisionError) as caught:
        explore(ratio, title="t", above=[1, 2], below=[3, 0])
    assert caught.value.__notes__ == ["ratio was called with above = 1, below = 0"]


# --- what a notebook is given ---------------------------------------------------------


@pytest.fixture
def with_kernel(monkeypatch):
    """As in a notebook that is run by a reader, and not by ``make notebooks``."""
    monkeypatch.delenv("BOOK_STATIC", raising=False)


def powers_view():
    return explore(powers, title="Powers", base=[2, 3], exponent=[1, 2])


@pytest.fixture
def displayed(monkeypatch):
    """What IPython sends for a cell's last value: data by MIME type, in order."""

    def send(view):
        sent = []
        monkeypatch.setattr(
            "IPython.display.display", lambda data, raw: sent.append(data)
        )
        last, _ = DisplayFormatter().format(view)
        return sent + ([last] if last else [])

    return send


def test_the_page_gets_no_widget(displayed, monkeypatch):
    monkeypatch.setenv("BOOK_STATIC", "1")
    view = powers_view()
    (page,) = displayed(view)
    assert page == {
        "text/plain": "<view explore: Powers>",
        "text/html": view._repr_html_(),
    }
    assert displayed(powers_view()) == [page]


def test_a_kernel_gets_the_widget_and_then_a_view_that_follows_it(
    displayed, with_kernel
):
    view = powers_view()
    box, page = displayed(view)
    name = view.widget().model_id
    assert box == {
        "text/plain": "<view explore: Powers>",
        WIDGET: {"version_major": 2, "version_minor": 0, "model_id": name},
    }
    assert f'"box":"aos-explore-{name}"' in page["text/html"]
    assert f"aos-explore-{name}" in view.widget()._dom_classes
    assert "aos-explore-" + name not in view._repr_html_()
    assert displayed(view) == [box, page]


def test_without_ipywidgets_the_view_is_left(displayed, with_kernel, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    (page,) = displayed(powers_view())
    assert set(page) == {"text/html", "text/plain"}


def held(box):
    """What explore.js reads from a box: values, a frame, perhaps an error."""
    text = re.search(
        r'<pre hidden class="aos-frame">(.*?)</pre>', box.children[-1].value
    )
    return json.loads(html.unescape(text[1]))


def words(box):
    """What is read in a box where no script runs."""
    return box.children[-1].value.partition("</pre>")[2]


def test_a_kernel_has_a_control_for_every_kind_of_choice():
    view = explore(
        lambda **one: 1,
        title="t",
        learning_rate=[0.001, 0.01],
        word=["a", "b"],
        flag=[True, False],
        share=Range(0, 1, 0.25, values=[0.5, 0]),
        size=Range(1, 9, values=[3, 1]),
        count=Number(2),
        weight=Number(0.5),
        text=Text("hello"),
    )
    *controls, _ = view.widget().children
    assert [(type(one).__name__, one.value) for one in controls] == [
        ("SelectionSlider", 0.001),
        ("Dropdown", "a"),
        ("Checkbox", True),
        ("FloatSlider", 0.5),
        ("IntSlider", 3),
        ("IntText", 2),
        ("FloatText", 0.5),
        ("Text", "hello"),
    ]
    names = "learning rate, word, flag, share, size, count, weight, text"
    assert [one.description for one in controls] == names.split(", ")
    rate, share, size = controls[0], controls[3], controls[4]
    assert [label for label, _ in rate.options] == ["0.001", "0.01"]
    assert (share.min, share.max, share.step) == (0, 1, 0.25)
    assert share.readout_format == ".2f"
    assert (size.min, size.max, size.step) == (1, 9, 1)
    assert explore(lambda a: a, title="t", a=Range(0.0, 1.0)).widget().children[
        0
    ].step == pytest.approx(0.01)


def in_a_thread(test):
    """Run a test where no event loop runs; a browser's may run in the main thread."""

    @functools.wraps(test)
    def run():
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return pool.submit(test).result()

    return run


@in_a_thread
def test_moving_a_slider_calls_the_function_with_what_the_page_does_not_have():
    called = []

    def frame(rate, word):
        called.append((rate, word))
        return [{"rate": rate, "calls": -len(called)}, f"<{word}>"]

    view = explore(
        frame, title="a < b", rate=Range(0.0, 1.0, 0.1, values=[0, 1]), word=Text("a")
    )
    assert called == [(0.0, "a"), (1.0, "a")]
    box = view.widget()
    rate, word, _ = box.children
    assert held(box) == {"values": ["0.0", "a"], "frame": view.state["frames"][0]}
    assert len(called) == 2  # the first frame is known
    rate.value = 0.1 + 0.2
    assert called[2:] == [(0.3, "a")]
    assert held(box)["values"] == ["0.3", "a"]
    word.value = "b"
    assert called[3:] == [(0.3, "b")]
    bars, text = held(box)["frame"]
    assert bars["texts"] == ["0.3000", "-4"]
    assert bars["reach"] == [-4, 1]  # the page's frames and this one on one scale
    assert text == {"kind": "text", "text": "<b>"}
    assert "<td>0.3000</td>" in words(box)
    assert "&lt;b&gt;" in words(box)


@in_a_thread
def test_an_error_is_told_and_the_last_good_result_kept():
    def frame(a):
        if a == "bad":
            raise RuntimeError("<lost>")
        return None if a == "none" else f"seen {a}"

    box = explore(frame, title="t", a=Text("fine")).widget()
    field = box.children[0]
    field.value = "good"
    good = held(box)
    report = "RuntimeError: <lost>\nframe was called with a = 'bad'"
    field.value = "bad"
    assert held(box) == good | {"error": report}
    assert "RuntimeError: &lt;lost&gt;" in words(box)
    assert "seen good" in words(box)
    field.value = "none"
    assert "must be a string, a number" in held(box)["error"]
    assert held(box)["frame"] == good["frame"]
    field.value = "better"
    assert held(box)["values"] == ["better"]
    assert "error" not in held(box)


@in_a_thread
def test_a_slow_function_is_called_for_the_last_of_many_moves():
    called = []

    async def move_quickly():
        now = 0.0
        asyncio.get_running_loop().time = lambda: now  # waits for no busy machine
        box = explore(
            lambda a: called.append(a) or "x", title="t", a=Range(0, 99)
        ).widget()
        called.clear()
        for value in range(1, 50):
            box.children[0].value = value
            now += 0.001
            await asyncio.sleep(0)
        assert called == []
        for _ in range(100):
            now += 0.01
            await asyncio.sleep(0)
        return held(box)

    assert asyncio.run(move_quickly())["values"] == ["49"]
    assert called == [49]
