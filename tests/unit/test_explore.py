"""The frames of ``explore``, their errors, and what a notebook is given of them."""

import math
import sys

import pytest
import torch
from IPython.core.formatters import DisplayFormatter

from helpers.views import Line, Table, explore
from helpers.views.explore import WIDGET


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


def test_a_kernel_gets_the_widget_and_then_the_view(displayed, with_kernel):
    view = powers_view()
    box, page = displayed(view)
    assert box == {
        "text/plain": "<view explore: Powers>",
        WIDGET: {
            "version_major": 2,
            "version_minor": 0,
            "model_id": view.widget().model_id,
        },
    }
    assert page == {
        "text/plain": "<view explore: Powers>",
        "text/html": view._repr_html_(),
    }
    assert displayed(view) == [box, page]


def test_without_ipywidgets_the_view_is_left(displayed, with_kernel, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    (page,) = displayed(powers_view())
    assert set(page) == {"text/html", "text/plain"}


def test_moving_a_slider_calls_the_function_again():
    called = []

    def frame(learning_rate, positions):
        called.append((learning_rate, positions))
        return [{"rate": learning_rate, "calls": len(called)}, f"positions {positions}"]

    view = explore(
        frame, title="a < b", learning_rate=[0.001, 0.01], positions=[True, False]
    )
    assert len(called) == 4
    title, rate, positions, shown = view.widget().children
    assert title.value == "<b>a &lt; b</b>"
    assert rate.description == "learning rate"
    assert [label for label, _ in rate.options] == ["0.001", "0.01"]
    assert (rate.value, positions.value) == (0.001, True)
    assert "<td>0.0010</td>" in shown.value
    assert len(called) == 4  # the first frame is known
    positions.value = False
    assert called[4:] == [(0.001, False)]
    assert "positions False" in shown.value
    rate.value = 0.01
    assert called[5:] == [(0.01, False)]
    assert "<td>0.0100</td>" in shown.value
    assert "<td>6</td>" in shown.value  # computed now, and not in advance


def test_a_kernel_draws_every_kind_of_part_as_html():
    hostile = "<img src=x onerror=alert(1)>"
    line = Line([0, 1, 2, 3], {hostile: [0.0, math.nan, 2.0, 4.0]}, hostile, hostile)
    table = Table(hostile, [[hostile, 0.5]], columns=[hostile, "c"], rows=[hostile])
    result = [hostile, 0.25, {hostile: -1, "b": 3}, line, table]
    view = explore(lambda a: result, title="t", a=[1, 2])
    text = view.widget().children[-1].value
    assert "<img" not in text
    assert text.count("&lt;img") == 9
    assert "0.2500" in text
    assert '<th scope="row">b</th><td>3</td>' in text
    assert "margin-left: 25.0%; width: 75.0%" in text
    assert "margin-left: 0.0%; width: 25.0%" in text
    # From 0 to 4 over 160 pixels, and from 0 to 3 over 324; one point is missing.
    assert 'd="M8.0 168.0M224.0 88.0L332.0 8.0"' in text
    assert "<td>0.0000 to 4.0000</td>" in text


def test_an_error_behind_a_slider_is_shown_and_raised():
    fine = True

    def frame(a):
        if fine:
            return a
        raise RuntimeError("<lost>")

    view = explore(frame, title="t", a=[1, 2])
    _, slider, shown = view.widget().children
    fine = False
    with pytest.raises(RuntimeError, match="<lost>"):
        slider.value = 2
    assert "RuntimeError: &lt;lost&gt;\nframe was called with a = 2" in shown.value
    fine = True
    slider.value = 1
    assert ">1</p>" in shown.value
