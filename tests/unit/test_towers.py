"""helpers.notebook.towers: two blocks beside each other, and where they differ."""

import pytest

from helpers.notebook.towers import towers

OLD = ["LayerNorm", "", "attention", "+"]
NEW = ["RMSNorm", "RoPE", "attention", "+"]


def drawn():
    (axes,) = towers({"old": OLD, "new": NEW}, title="Two blocks").axes
    return axes


def test_the_text_alternative_lists_the_steps_of_each_tower():
    picture = towers({"old": OLD, "new": NEW}, title="Two blocks")
    assert picture.alt == (
        "Two blocks. From the bottom up. old: LayerNorm, attention, +; "
        "new: RMSNorm, RoPE, attention, +"
    )


def test_what_differs_is_bold_and_what_is_the_same_is_not():
    weights = {one.get_text(): one.get_weight() for one in drawn().texts}
    bold = {text for text, weight in weights.items() if text and weight == "bold"}
    assert bold == {"old", "new", "LayerNorm", "RMSNorm", "RoPE"}
    frames = [
        one.get_edgecolor() for one in drawn().patches if hasattr(one, "get_boxstyle")
    ]
    assert len(frames) == 5
    assert frames[1] != frames[0] == frames[2] == frames[3] != frames[4] == frames[1]


def test_a_gap_has_no_box_and_its_arrow_goes_on():
    arrows = [one for one in drawn().texts if not one.get_text()]
    left = [(one.xyann[1], one.xy[1]) for one in arrows if one.xy[0] == 0]
    right = [(one.xyann[1], one.xy[1]) for one in arrows if one.xy[0] > 0]
    assert (len(left), len(right)) == (4, 5)
    for tower in (left, right):
        assert all(low < high for low, high in tower)


def test_the_stream_passes_what_is_added_to_it():
    lines = [line.get_xydata() for line in drawn().lines]
    assert len(lines) == 2
    for line in lines:
        (_, first), *_, (_, last) = line
        assert first < 0
        assert last == OLD.index("+")


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match=r"two towers of one height, got .'a': 1"):
        towers({"a": ["x"]}, title="one")
    with pytest.raises(ValueError, match=r"one height, got .'a': 1, 'b': 2"):
        towers({"a": ["x"], "b": ["x", "y"]}, title="uneven")
    with pytest.raises(ValueError, match=r"\"\+\" must stand in all towers.* step 1"):
        towers({"a": ["x", "+"], "b": ["x", "y"]}, title="a sum")
