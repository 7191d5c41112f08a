"""The figure of vectors in the plane says what it draws, and refuses what it can't."""

import pytest
import torch

from helpers.notebook.arrows import arrows
from helpers.notebook.plotting import COLOURS

PANEL = {"query of it": torch.tensor([0.0, 6.0]), "key of food": [0, 1]}


def drawn(picture):
    """Of each panel, the tips of its arrows with their colours."""
    return [
        [
            (text.xy, text.arrow_patch.get_facecolor())
            for text in axes.texts
            if text.arrow_patch is not None
        ]
        for axes in picture.axes
    ]


def test_each_arrow_is_drawn_in_its_colour_and_told():
    from matplotlib.colors import to_rgba

    picture = arrows(
        [PANEL, {"it": [-1.5, 1]}],
        title=["right", "words"],
        axes=[("person", "thing"), ("a", "b")],
        decimals=1,
    )
    first, second = drawn(picture)
    assert [xy for xy, _ in first] == [(0.0, 6.0), (0.0, 1.0)]
    assert [xy for xy, _ in second] == [(-1.5, 1.0)]
    roles = [COLOURS["queries"], COLOURS["keys"]]
    assert [colour for _, colour in first] == [to_rgba(role) for role in roles]
    for told in (
        "right. Arrows from the origin. query of it: person 0.0, thing 6.0",
        "key of food: person 0.0, thing 1.0",
        "words. Arrows from the origin. it: a -1.5, b 1.0",
    ):
        assert told in picture.alt
    for axes, panel in zip(picture.axes, (first, second), strict=True):
        (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
        assert all(left < x < right and bottom < y < top for (x, y), _ in panel)


@pytest.mark.parametrize(
    ("panels", "title", "axes"),
    [([], [], []), ([PANEL], [], [("a", "b")]), ([PANEL], ["t"], [])],
)
def test_titles_and_axes_count_the_panels(panels, title, axes):
    with pytest.raises(ValueError, match="of one length above 0"):
        arrows(panels, title=title, axes=axes)


def test_a_vector_has_two_numbers():
    with pytest.raises(ValueError, match=r"it must have shape \(2,\), got \(3,\)"):
        arrows([{"it": [1, 2, 3]}], title=["t"], axes=[("a", "b")])


def test_all_panels_have_one_scale():
    axes = [("a", "b")] * 2
    first, second = arrows([PANEL, {"it": [0, 1]}], title="tu", axes=axes).axes
    assert first.get_xlim() == second.get_xlim()
    assert first.get_ylim() == second.get_ylim()


def test_names_of_arrows_along_one_line_stand_above_and_below():
    along = {"query": [3, 0], "key": [2, 0]}
    (axes,) = arrows([along], title=["t"], axes=[("a", "b")]).axes
    heights = {t.get_text(): t.xyann[1] for t in axes.texts if t.get_text()}
    assert heights["query"] > 0 > heights["key"]
