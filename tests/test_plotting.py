"""helpers.plotting: what a picture says, in pixels and in words."""

import base64
import io

import pytest
import torch
from PIL import Image

from helpers.attention import causal_mask, softmax
from helpers.plotting import COLOURS, LINE_STYLES, bars, curves, heatmap, weight_graph

WORDS = ["cat", "sat", "mat"]
WEIGHTS = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])


def texts(picture):
    return [text.get_text() for text in picture.axes[0].texts]


def rendered(picture):
    data, metadata = picture._repr_mimebundle_()
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert data["text/plain"] == metadata["image/png"]["alt"] == picture.alt
    return image


def every_picture():
    return {
        "heatmap": heatmap(WEIGHTS, title="Weights", rows=WORDS, columns=WORDS),
        "panels": heatmap(torch.stack([WEIGHTS] * 4), title=list("abcd")),
        "graph": weight_graph(WEIGHTS, queries=WORDS, keys=WORDS, title="Lines"),
        "bars": bars(WEIGHTS, labels=WORDS, title=WORDS),
        "curves": curves([1, 2], {"loss": [3, 1]}, title="L", x_axis="n", y_axis="l"),
    }


@pytest.mark.parametrize("name", every_picture())
def test_a_picture_is_small_light_and_the_same_each_time(name):
    image = rendered(every_picture()[name])
    assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert max(image.size) < 1200
    again = rendered(every_picture()[name])
    assert image.tobytes() == again.tobytes()


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
    assert "-inf" in texts(picture)


def test_colour_follows_the_role_and_the_sign():
    picture = heatmap([[1.0, -1.0, 0.0]], title="x", role="values")
    shown = [cell.get_facecolor() for cell in picture.axes[0].patches]
    values, keys = (Image.new("RGB", (1, 1), COLOURS[r]) for r in ("values", "keys"))
    expected = [values.getpixel((0, 0)), keys.getpixel((0, 0)), (255, 255, 255)]
    for colour, target in zip(shown, expected, strict=True):
        assert [round(255 * c) for c in colour[:3]] == pytest.approx(target, abs=2)


def test_panels_share_a_scale_and_wrap_where_they_are_wide():
    wide = heatmap(torch.rand(2, 6, 6), title=["a", "b"])
    first, second = (axes.get_position() for axes in wide.axes)
    assert len(wide.axes) == 2
    wide.draw_without_rendering()
    first, second = (axes.get_position() for axes in wide.axes)
    assert first.y0 > second.y1


def test_a_weight_graph_draws_thicker_lines_for_larger_weights():
    picture = weight_graph(WEIGHTS, queries=WORDS, keys=WORDS, title="Lines")
    lines = [line for line in picture.axes[0].lines if len(line.get_xdata()) == 2]
    widths = torch.tensor([line.get_linewidth() for line in lines])
    assert widths.argsort().equal(WEIGHTS.flatten().argsort())
    assert "mat to mat 0.40" in picture.alt


def test_a_weight_graph_leaves_out_the_smallest_weights():
    weights = softmax(torch.tensor([[9.0, 0.0], [0.0, 9.0]]))
    picture = weight_graph(weights, queries="ab", keys="ab", title="Peaked")
    assert (
        len([line for line in picture.axes[0].lines if len(line.get_xdata()) == 2]) == 2
    )


def test_bars_stand_as_high_as_their_numbers():
    picture = bars(WEIGHTS[0], labels=WORDS, title="First")
    heights = [bar.get_height() for bar in picture.axes[0].patches]
    assert heights == pytest.approx(WEIGHTS[0].tolist())
    assert "0.70" in texts(picture)


def test_curves_differ_by_more_than_colour():
    series = {str(n): [n, n + 1] for n in range(4)}
    picture = curves([1, 2], series, title="c", x_axis="x", y_axis="y", log="xy")
    lines = picture.axes[0].lines
    assert len({line.get_marker() for line in lines}) == len(LINE_STYLES)
    assert picture.axes[0].get_xscale() == picture.axes[0].get_yscale() == "log"
    assert "3 from 3.00 to 4.00" in picture.alt


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: heatmap(torch.zeros(3), title="x"), r"matrix .*\(T, S\).*\(3,\)"),
        (lambda: heatmap(WEIGHTS, title="x", rows="ab"), "rows must hold 3 .*got 2"),
        (lambda: heatmap(WEIGHTS, title=["x", "y"]), "title must hold 1 .*got 2"),
        (lambda: heatmap(WEIGHTS, title="x", role="red"), "role must be .*'red'"),
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
        (
            lambda: curves([1], {"a": [1, 2]}, title="x", x_axis="x", y_axis="y"),
            r"series\['a'\] must hold 1 .*got 2",
        ),
        (
            lambda: curves([1], {}, title="x", x_axis="x", y_axis="y"),
            "series must hold 1 to 4 curves, got 0",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
