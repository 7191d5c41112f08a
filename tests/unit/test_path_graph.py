"""Paths between heads are drawn by kind, the stronger the thicker."""

import pytest

from helpers.notebook.path_graph import path_graph
from helpers.notebook.plotting import COLOURS

STRENGTHS = {
    ("0.0", "queries", "1.1"): 0.5,
    ("0.1", "queries", "1.0"): 2.0,
    ("0.1", "values", "1.1"): 1.0,
    ("0.0", "values", "1.0"): 0.05,
}


def lines(axes):
    return [line for line in axes.lines if len(line.get_xdata()) == 2]


def test_each_kind_has_a_panel_and_its_colour():
    picture = path_graph(STRENGTHS, title="Paths")
    assert [axes.get_title() for axes in picture.axes] == ["queries", "values"]
    for axes in picture.axes:
        colours = {line.get_color() for line in lines(axes)}
        assert colours == {COLOURS[axes.get_title()]}


def test_a_line_leads_from_its_sender_up_to_its_receiver():
    queries, values = path_graph(STRENGTHS, title="Paths").axes
    ends = [(*line.get_xdata(), *line.get_ydata()) for line in lines(queries)]
    assert ends == [(0, 1, 0, 1), (1, 0, 0, 1)]
    assert [(*line.get_xdata(),) for line in lines(values)] == [(1, 1)]
    heights = {text.get_text(): text.get_position()[1] for text in queries.texts}
    assert heights["0.0"] == heights["0.1"] < 0
    assert heights["1.0"] == heights["1.1"] > 1


def test_widths_go_by_strength_over_all_panels():
    picture = path_graph(STRENGTHS, title="Paths")
    widths = [line.get_linewidth() for axes in picture.axes for line in lines(axes)]
    assert widths == [9 * one / 2 for one in (0.5, 2, 1)]


def test_the_text_names_what_is_drawn_and_the_strongest_first():
    alt = path_graph(STRENGTHS, title="Paths", unit="bits").alt
    assert alt == (
        "Paths. Paths between heads, in bits, strongest first: 0.1 to the queries of "
        "1.0 2.0; 0.1 to the values of 1.1 1.0; 0.0 to the queries of 1.1 0.5"
    )
    weak = path_graph(STRENGTHS, title="Paths", least=3.0)
    assert weak.alt.endswith("none of 3.0 or more")
    assert not any(lines(axes) for axes in weak.axes)


@pytest.mark.parametrize(
    ("strengths", "message"),
    [
        ({}, "strengths must hold at least one path"),
        ({("0.0", "mlp", "1.0"): 1.0}, "a path's kind must be one of .*got 'mlp'"),
    ],
)
def test_what_is_no_path_is_refused(strengths, message):
    with pytest.raises(ValueError, match=message):
        path_graph(strengths, title="Paths")
