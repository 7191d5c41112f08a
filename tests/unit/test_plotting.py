"""helpers.notebook.plotting: what a picture says, in pixels and in words."""

import base64
import io
import math
import re
import xml.etree.ElementTree

import matplotlib.style
import pytest
import torch
from matplotlib.colors import to_hex, to_rgb
from PIL import Image

from helpers.attention import causal_mask, softmax
from helpers.notebook.plotting import (
    COLOURS,
    LINE_STYLES,
    bars,
    curves,
    dots,
    heatmap,
    weight_graph,
)
from helpers.notebook.trade_off import trade_off

WORDS = ["cat", "sat", "mat"]
AXES = {"x_axis": "x", "y_axis": "y"}
RUNS = {"slow": [[(1, 5), (2, 4)], [(4, 2)]], "fast": [[(3, 3)]]}
TRADED = {"title": "T", **AXES, "start": ("before", (1, 6))}
WEIGHTS = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])


def texts(picture):
    return [text.get_text() for text in picture.axes[0].texts]


def colours_of_cells(picture):
    return [to_hex(cell.get_facecolor()).upper() for cell in picture.axes[0].patches]


def names_of(ticks):
    return [label.get_text() for label in ticks]


def lines_between(axes):
    return [line for line in axes.lines if len(line.get_xdata()) == 2]


def strengths(picture):
    """How opaque each cell is."""
    return [cell.get_facecolor()[3] for cell in picture.axes[0].patches]


def rendered(picture):
    """A picture as points, and as the tree of its drawing."""
    data, metadata = picture._repr_mimebundle_()
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    drawing = data["image/svg+xml"]
    assert data["text/plain"] == metadata["image/png"]["alt"] == picture.alt
    assert metadata["image/svg+xml"]["alt"] == picture.alt
    return image, xml.etree.ElementTree.fromstring(drawing)  # noqa: S314


def every_picture():
    return {
        "heatmap": heatmap(WEIGHTS, title="Weights", rows=WORDS, columns=WORDS),
        "panels": heatmap(torch.stack([WEIGHTS] * 4), title=list("abcd")),
        "graph": weight_graph(WEIGHTS, queries=WORDS, keys=WORDS, title="Lines"),
        "bars": bars(WEIGHTS, labels=WORDS, title=WORDS),
        "curves": curves([1, 2], {"loss": [3, 1]}, title="L", x_axis="n", y_axis="l"),
        "dots": dots({"a": [1, 2], "b": [3]}, title="D", axis="x", reference=("r", 2)),
        "trade-off": trade_off(RUNS, **TRADED),
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", every_picture())
def test_a_picture_is_small_light_and_the_same_each_time(name):
    image, drawing = rendered(every_picture()[name])
    assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert max(image.size) < 1200
    sizes = [float(drawing.get(side)) for side in ("width", "height")]
    assert sizes == pytest.approx(image.size, abs=1)
    again, drawn_again = rendered(every_picture()[name])
    assert image.tobytes() == again.tobytes()
    trees = [xml.etree.ElementTree.tostring(one) for one in (drawing, drawn_again)]
    assert trees[0] == trees[1]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", every_picture())
def test_a_drawing_takes_the_ink_and_the_ground_of_where_it_stands(name):
    """It may bring no rule or name that would hold for a whole page."""
    picture = every_picture()[name]
    _, drawing = rendered(picture)
    assert drawing.get("role") == "img"
    assert drawing.get("aria-label") == picture.alt
    assert "color: #212529; background: white" in drawing.get("style")
    marked = {one.tag.rpartition("}")[2] for one in drawing.iter() if one.get("id")}
    assert marked <= {"path", "clipPath", "pattern"}
    assert [one for one in drawing.iter() if one.tag.endswith("}style")] == []
    words = [one for one in drawing.iter() if one.tag.endswith("}text")]
    assert {"".join(one.itertext()) for one in words} >= {*texts(picture)}
    for one in words:
        assert "fill: currentColor" in one.get("style")
        assert "sans-serif" in one.get("style")
    styles = " ".join(one.get("style", "") for one in drawing.iter())
    fills = set(re.findall(r"fill: ([^;]+)", styles))
    assert fills.isdisjoint({"#ffffff", "#000000", "white", "black"})


def test_each_role_has_its_colour():
    assert COLOURS == {
        "queries": "#0072B2",
        "keys": "#D55E00",
        "values": "#009E73",
        "weights": "#CC79A7",
        "neutral": "#56B4E9",
        "masked": "#8C8C8C",
    }


def test_a_picture_keeps_its_colours_where_it_is_made_small():
    image, _ = rendered(heatmap([[1.0, -1.0]], title="x", role="values"))
    shown = [colour for _, colour in image.convert("RGB").getcolors(10**6)]
    for role in ("values", "keys"):
        wanted = [255 * (0.15 + 0.85 * share) for share in to_rgb(COLOURS[role])]
        assert any(colour == pytest.approx(wanted, abs=3) for colour in shown)


def test_a_heat_map_shows_its_numbers_and_says_them():
    picture = heatmap(WEIGHTS, title="Weights", rows=WORDS, columns=WORDS)
    assert texts(picture) == [f"{w:.2f}" for w in WEIGHTS.flatten().tolist()]
    assert "cat: cat 0.70, sat 0.20, mat 0.10" in picture.alt
    assert picture.alt.startswith("Weights. ")


def test_a_heat_map_greys_and_hatches_what_is_masked():
    scores = torch.randn(3, 3).masked_fill(~causal_mask(3), -torch.inf)
    picture = heatmap(scores, title="Scores", mask=causal_mask(3))
    cells = picture.axes[0].patches
    hatched = torch.tensor([cell.get_hatch() is not None for cell in cells])
    assert hatched.view(3, 3).equal(~causal_mask(3))


def test_a_masked_cell_says_only_what_a_reader_must_know():
    matrix = [[1.0, 0.0, -math.inf, 0.25], [0.0, -math.inf, 1.0, 0.5]]
    hidden = torch.tensor([[True, False, False, False], [True] * 4])
    picture = heatmap(matrix, title="Weights", mask=hidden, columns="abcd")
    assert texts(picture) == ["1.00", "0.25", "0.00", "-inf", "1.00", "0.50"]
    assert "0: a 1.00, b 0.00, c -inf, d 0.25" in picture.alt


def test_colour_follows_the_role_and_the_sign():
    picture = heatmap([[1.0, -1.0, 0.0]], title="x", role="values")
    assert colours_of_cells(picture)[:2] == [COLOURS["values"], COLOURS["keys"]]
    assert strengths(picture) == pytest.approx([0.85, 0.85, 0.0])


def test_hidden_and_infinite_numbers_do_not_set_the_scale():
    allowed = torch.tensor([[True, False], [True, True]])
    matrix = [[1.0, 100.0], [-math.inf, -2.0]]
    picture = heatmap(matrix, title="x", role="keys", mask=allowed)
    half, hidden, infinite, lowest = colours_of_cells(picture)
    assert hidden == infinite == COLOURS["masked"]
    assert (half, lowest) == (COLOURS["keys"], COLOURS["queries"])
    assert strengths(picture) == pytest.approx([0.425, 0.4, 0.4, 0.85])
    hatches = [cell.get_hatch() for cell in picture.axes[0].patches]
    assert hatches == [None, "///", "///", None]


def test_the_largest_magnitude_sets_the_scale_whatever_its_sign():
    picture = heatmap([[-4.0, 1.0]], title="x", role="values")
    assert colours_of_cells(picture)[0] == COLOURS["keys"]
    assert strengths(picture) == pytest.approx([0.85, 0.2125])


def test_a_given_top_makes_two_pictures_comparable():
    one, other = (heatmap([[share, 0.25]], title="x", top=1.0) for share in (1.0, 0.5))
    assert strengths(one) == pytest.approx([0.85, 0.2125])
    assert strengths(other) == pytest.approx([0.425, 0.2125])


def test_a_matrix_without_any_magnitude_has_no_colour_or_is_grey():
    assert strengths(heatmap([[0.0]], title="x")) == [0]
    assert colours_of_cells(heatmap([[-math.inf]], title="x")) == [COLOURS["masked"]]


def test_a_number_that_rounds_to_zero_has_no_sign():
    picture = heatmap([[-0.001, 1.0, -math.inf]], title="x", role="queries")
    assert texts(picture) == ["0.00", "1.00", "-inf"]
    assert "0 0.00, 1 1.00" in picture.alt


def test_a_mask_can_be_drawn_as_numbers():
    assert texts(heatmap(causal_mask(2), title="x")) == ["1.00", "0.00", "1.00", "1.00"]


def test_panels_carry_their_titles_labels_and_axes():
    one = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    two = [[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]
    options = {"rows": "abc", "columns": "xy", "row_axis": "r", "column_axis": "c"}
    picture = heatmap([one, two], title=["first", "second"], decimals=1, **options)
    assert [axes.get_title() for axes in picture.axes] == ["first", "second"]
    for axes in picture.axes:
        assert names_of(axes.get_xticklabels()) == ["x", "y"]
        assert names_of(axes.get_yticklabels()) == ["a", "b", "c"]
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("c", "r")
        bottom, top = axes.get_ylim()
        assert bottom > top  # the first row stands above the others
    assert "first. a: x 1.0, y 2.0; b: x 3.0, y 4.0" in picture.alt
    assert "second. a: x 2.0, y 4.0" in picture.alt


@pytest.mark.parametrize(
    ("shape", "grid"),
    [((3, 2, 3), (1, 3)), ((4, 2, 3), (2, 3)), ((2, 1, 12), (2, 1))],
)
def test_panels_stand_in_a_grid_at_most_nine_columns_wide(shape, grid):
    picture = heatmap(torch.ones(shape), title="x")
    assert picture.axes[0].get_subplotspec().get_geometry()[:2] == grid
    spare = grid[0] * grid[1] - shape[0]
    assert [axes.axison for axes in picture.axes] == [True] * shape[0] + [False] * spare


def test_panels_stand_below_each_other_where_they_are_wide():
    wide = heatmap(torch.rand(2, 6, 6), title=["a", "b"])
    assert len(wide.axes) == 2
    wide.draw_without_rendering()
    first, second = (axes.get_position() for axes in wide.axes)
    assert first.y0 > second.y1


def test_a_weight_graph_draws_thicker_lines_for_larger_weights():
    picture = weight_graph(WEIGHTS, queries=WORDS, keys=WORDS, title="Lines")
    lines = lines_between(picture.axes[0])
    widths = torch.tensor([line.get_linewidth() for line in lines])
    assert widths.argsort().equal(WEIGHTS.flatten().argsort())
    assert "mat to mat 0.40" in picture.alt


def test_a_weight_graph_leaves_out_the_smallest_weights():
    weights = softmax(torch.tensor([[9.0, 0.0], [0.0, 9.0]]))
    picture = weight_graph(weights, queries="ab", keys="ab", title="Peaked")
    assert len(lines_between(picture.axes[0])) == 2


def test_a_weight_graph_leads_from_queries_on_the_left_to_keys_on_the_right():
    weights = torch.tensor([[0.9, 0.1, 0.0], [0.25, 0.25, 0.5]])
    options = {"title": "t", "query_axis": "Q", "key_axis": "K", "least": 0.25}
    axes = weight_graph(weights, queries="ab", keys="xyz", **options).axes[0]
    lines = lines_between(axes)
    assert [tuple(line.get_xdata()) for line in lines] == [(0, 1)] * 4
    ends = [tuple(line.get_ydata()) for line in lines]
    assert ends == [(0.5, 0), (1.5, 0), (1.5, 1), (1.5, 2)]  # in the middle of three
    assert lines[0].get_alpha() > lines[1].get_alpha()
    dots = [line for line in axes.lines if len(line.get_xdata()) == 1]
    colours = {(*dot.get_xdata(), *dot.get_ydata()): dot.get_color() for dot in dots}
    left = {(0, place): COLOURS["queries"] for place in (0.5, 1.5)}
    right = {(1, place): COLOURS["keys"] for place in range(3)}
    assert colours == left | right
    places = {text.get_text(): text.get_position()[0] for text in axes.texts}
    assert places["Q"] == places["a"] == places["b"] < 0
    assert places["K"] == places["x"] == places["z"] > 1
    bottom, top = axes.get_ylim()
    assert bottom > top


def test_a_weight_graph_writes_the_weights_of_one_query_beside_the_keys():
    weights = torch.tensor([[0.9, 0.1, 0.0], [0.25, 0.25, 0.5]])
    options = {"queries": "ab", "keys": "xyz", "title": "t"}
    axes = weight_graph(weights, **options, numbers_of=1).axes[0]
    places = {text.get_text(): text.get_position() for text in axes.texts}
    assert places["0.50"][1] == places["z"][1]
    assert places["0.50"][0] > places["z"][0]
    assert "b gives" in places
    with pytest.raises(ValueError, match="numbers_of must be from 0 to 1, got 2"):
        weight_graph(weights, **options, numbers_of=2)


def test_stacked_bars_stand_below_each_other_on_scales_of_their_own():
    picture = bars([[1, -2], [10, 20]], labels="xy", title=["a", "b"], stacked=True)
    one, other = picture.axes
    assert one.get_ylim()[1] < 10 < other.get_ylim()[1]
    picture.draw_without_rendering()
    assert one.get_position().y0 > other.get_position().y1


def test_bars_stand_as_high_as_their_numbers():
    picture = bars(WEIGHTS[0], labels=WORDS, title="First")
    heights = [bar.get_height() for bar in picture.axes[0].patches]
    assert heights == pytest.approx(WEIGHTS[0].tolist())
    assert "0.70" in texts(picture)


def test_bars_carry_their_titles_labels_and_colour():
    values = [[0.1, -0.001], [0.5, 0.9]]
    options = {"title": ["a", "b"], "axis": "height", "role": "queries"}
    picture = bars(values, labels="xy", **options)
    one, other = picture.axes
    assert {to_hex(bar.get_facecolor()) for bar in one.patches} == {
        COLOURS["queries"].lower()
    }
    assert texts(picture) == ["0.10", "0.00"]
    assert names_of(one.get_xticklabels()) == ["x", "y"]
    assert (one.get_title(), other.get_title()) == ("a", "b")
    assert one.get_ylabel() == "height"
    assert one.get_ylim() == other.get_ylim()


def test_curves_carry_their_axes_names_and_numbers():
    series = {"a": [5, 6, 7], "b": [1, 2, 3]}
    options = {"title": "t", "x_axis": "steps", "y_axis": "nats", "log": "y"}
    picture = curves([1, 2, 4], series, **options)
    axes = picture.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("steps", "nats")
    for line, numbers in zip(axes.lines, series.values(), strict=True):
        assert list(line.get_xdata()) == [1, 2, 4]
        assert list(line.get_ydata()) == numbers
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "log")
    assert axes.yaxis.get_transform().base == 10
    assert names_of(axes.get_legend().get_texts()) == ["a", "b"]
    assert "steps from 1 to 4, nats: a from 5.00 to 7.00; b from" in picture.alt


def test_a_band_goes_as_far_to_either_side_of_its_curve_as_its_spread_says():
    series = {"a": [5, 6], "b": [1, 3]}
    picture = curves([1, 2], series, title="t", **AXES, spread={"b": [0.5, 0.25]})
    [band] = picture.axes[0].collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert corners == {(1, 0.5), (1, 1.5), (2, 2.75), (2, 3.25)}
    assert "a from 5.00 to 6.00; b from 1.00 ± 0.50 to 3.00 ± 0.25" in picture.alt


def test_a_logarithmic_axis_names_its_few_places_as_they_are():
    places = [4, 8, 1024]
    axes = curves(places, {"a": [1, 2, 3]}, title="t", **AXES, log="x").axes[0]
    assert list(axes.get_xticks()) == places
    assert names_of(axes.get_xticklabels()) == ["4", "8", "1024"]


def test_long_labels_of_bars_take_two_lines():
    axes = bars([1, 2], labels=["2 blocks", "n = 1"], title="t").axes[0]
    assert names_of(axes.get_xticklabels()) == ["2\nblocks", "n = 1"]


def test_one_curve_needs_no_legend():
    picture = curves([1], {"a": [1]}, title="t", **AXES)
    assert picture.axes[0].get_legend() is None


def test_curves_show_what_to_compare_with():
    picture = curves(
        [1, 2], {"a": [5, 6]}, reference=("chance", 0.5), title="t", **AXES
    )
    axes = picture.axes[0]
    assert [[0, 0.5], [1, 0.5]] in [line.get_xydata().tolist() for line in axes.lines]
    assert names_of(axes.get_legend().get_texts()) == ["a", "chance"]
    assert picture.alt.endswith("; chance: 0.50")


def test_dots_show_each_number_their_mean_and_what_to_compare_with():
    groups = {"first": [0.25, 0.5, 0.75], "second": [-0.001]}
    picture = dots(groups, title="t", axis="loss", reference=("floor", 0.1))
    axes = picture.axes[0]
    drawn = [line.get_xydata().tolist() for line in axes.lines]
    assert [[0.25, 0], [0.5, 0], [0.75, 0]] in drawn
    assert [[0.5, -0.3], [0.5, 0.3]] in drawn
    assert [[0.1, 0], [0.1, 1]] in drawn
    assert names_of(axes.get_yticklabels()) == ["first  0.50", "second  0.00"]
    assert "first: mean 0.50, from 0.25 to 0.75" in picture.alt
    assert picture.alt.endswith("floor: 0.10")
    assert axes.get_ylim() == (1.5, -0.5)  # the first stands at the top


def test_a_trade_off_shows_each_run_and_joins_the_means_of_settings():
    picture = trade_off(RUNS, **TRADED, within=((0, 5), (1, 7)))
    assert picture.alt == (
        "T. y at x, means of runs. before: 6.00 at 1.00; "
        "slow: 4.50 at 1.50, 2.00 at 4.00; fast: 3.00 at 3.00"
    )
    (axes,) = picture.axes
    drawn = [list(zip(*line.get_data(), strict=True)) for line in axes.lines]
    slow = [[(1.5, 4.5), (4, 2)], [(1, 5), (2, 4), (4, 2)]]
    assert drawn == [*slow, [(3, 3)], [(3, 3)], [(1, 6)]]
    assert [line.get_linestyle() for line in axes.lines][1::2] == ["None", "None"]
    assert [text.get_text() for text in axes.get_legend().texts] == ["slow", "fast"]
    assert texts(picture) == ["before"]
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 5), (1, 7))
    assert axes.get_xlabel() == "x (← better)"


def test_the_words_of_a_drawing_keep_their_decimals():
    _, drawing = rendered(
        dots({"seeds": [0.3012, 0.3148]}, title="t", axis="loss", decimals=4)
    )
    words = [text for element in drawing.iter() for text in element.itertext()]
    assert "seeds  0.3080" in words
    ticks = {word for word in words if re.fullmatch(r"0\.\d+", word)}
    assert min(map(len, ticks)) > len("0.30")
    places = [element.get("d", "") for element in drawing.iter()]
    assert any(places)
    assert not re.search(r"\.\d{3}", " ".join(places))


def test_curves_differ_by_more_than_colour():
    series = {str(n): [n, n + 1] for n in range(4)}
    picture = curves([1, 2], series, title="c", **AXES, log="xy")
    lines = picture.axes[0].lines
    assert len({line.get_marker() for line in lines}) == len(LINE_STYLES)
    assert picture.axes[0].get_xscale() == picture.axes[0].get_yscale() == "log"
    assert "3 from 3.00 to 4.00" in picture.alt


def test_a_picture_reads_the_same_under_a_dark_style():
    light, _ = rendered(every_picture()["heatmap"])
    with matplotlib.style.context("dark_background"):
        dark, _ = rendered(every_picture()["heatmap"])
    assert dark.tobytes() == light.tobytes()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: heatmap(torch.zeros(3), title="x"), r"matrix .*\(T, S\).*\(3,\)"),
        (lambda: heatmap(torch.zeros(0, 3), title="x"), r"matrix .*\(0, 3\)"),
        (lambda: heatmap(WEIGHTS, title="x", rows="ab"), "rows must hold 3 .*got 2"),
        (lambda: heatmap(WEIGHTS, title="x", columns="ab"), "columns must hold 3"),
        (lambda: heatmap(WEIGHTS, title="x", top=0.5), r"top .*0\.8, got 0\.5"),
        (lambda: heatmap(WEIGHTS, title="x", top=-1), "top must be above 0 .*got -1"),
        (lambda: heatmap(WEIGHTS, title=["x", "y"]), "title must hold 1 .*got 2"),
        (lambda: heatmap(WEIGHTS, title="x", role="red"), "role must be .*'red'"),
        (lambda: heatmap(WEIGHTS, title="x", role="masked"), "role must be .*'masked'"),
        (
            lambda: heatmap(WEIGHTS, title="x", mask=causal_mask(2)),
            r"mask .*\(3, 3\).*\(2, 2\)",
        ),
        (
            lambda: weight_graph(WEIGHTS, queries=WORDS, keys="ab", title="x"),
            "keys must hold 3 .*got 2",
        ),
        (
            lambda: weight_graph(WEIGHTS[None], queries=WORDS, keys=WORDS, title="x"),
            r"weights .*\(T, S\).*\(1, 3, 3\)",
        ),
        (
            lambda: bars(torch.zeros(1, 1, 1), labels="a", title="x"),
            r"values .*\(S\) or \(N, S\).*\(1, 1, 1\)",
        ),
        (lambda: bars(WEIGHTS, labels=WORDS, title=["x"]), "title must hold 3"),
        (lambda: bars(WEIGHTS, labels=WORDS, title="x", role="red"), "role must be"),
        (lambda: dots({}, title="x", axis="y"), r"groups must .*got \[\]"),
        (lambda: dots({"a": []}, title="x", axis="y"), r"groups must .*'a'"),
        (
            lambda: dots({"a": [1], "b": [float("nan")]}, title="x", axis="y"),
            r"groups must .*nan.*'b'",
        ),
        (lambda: trade_off({}, **TRADED), "series must hold 1 to 4 names, got 0"),
        (
            lambda: trade_off({key: [[(1, 1)]] for key in "abcde"}, **TRADED),
            "series must hold 1 to 4 names, got 5",
        ),
        (lambda: trade_off({"a": []}, **TRADED), r"finite points, got \[\] in 'a'"),
        (
            lambda: trade_off({"a": [[(1, 2)], []]}, **TRADED),
            r"finite points, got \[\] in 'a'",
        ),
        (
            lambda: trade_off({"a": [[(1, math.nan)]]}, **TRADED),
            r"finite points, got \[\(1.0, nan\)\] in 'a'",
        ),
        (
            lambda: curves([1], {"a": [1, 2]}, title="x", **AXES),
            r"series\['a'\] must hold 1 .*got 2",
        ),
        (
            lambda: curves([1], {}, title="x", **AXES),
            "series must hold 1 to 4 curves, got 0",
        ),
        (
            lambda: curves([1], {key: [1] for key in "abcde"}, title="x", **AXES),
            "series must hold 1 to 4 curves, got 5",
        ),
        (
            lambda: curves([1], {"a": [1]}, title="x", **AXES, spread={"b": [1]}),
            r"spread must name curves of \['a'\], got \['b'\]",
        ),
        (
            lambda: curves([1], {"a": [1]}, title="x", **AXES, spread={"a": []}),
            r"spread\['a'\] must hold 1 .*got 0",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
