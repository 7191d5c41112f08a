"""The query explorer, moved by keyboard and compared with PyTorch."""

import pytest
import torch

from helpers.views import query_explorer

KEYS = torch.tensor([[1.5, 0.5], [-1.0, 1.2], [0.3, -1.4]])
NAMES = ["cat", "mat", "sat"]


@pytest.mark.parametrize(
    ("key", "times", "moved"),
    [
        ("ArrowRight", 3, (0.3, 0.0)),
        ("ArrowLeft", 30, (-2.4, 0.0)),
        ("ArrowUp", 5, (0.0, 0.5)),
        ("ArrowDown", 1, (0.0, -0.1)),
    ],
)
def test_scores_weights_and_context_follow_the_query(show_views, key, times, moved):
    shown = show_views(query_explorer(KEYS, NAMES, torch.tensor([0.4, 0.6])))
    shown.press("query", key, times)
    query = (torch.tensor([0.4, 0.6]) + torch.tensor(moved)).clamp(-2, 2)
    scores = KEYS @ query
    weights = scores.softmax(0)
    values = shown.values()
    for i in range(3):
        score, weight = float(scores[i]), float(weights[i])
        assert values.number(f"score {i}") == pytest.approx(score, abs=0.0051)
        assert values.number(f"weight {i}") == pytest.approx(weight, abs=0.0051)
    x, y = (weights @ KEYS).tolist()
    best = NAMES[scores.argmax()]
    assert f"context is ({x:z.2f}, {y:z.2f})" in values["sentence"]
    assert f"hand over \u2068{best}\u2069 alone" in values["sentence"]
    x, y = query.tolist()
    place = f"Query ({x:z.2f}, {y:z.2f}), length {query.norm():.2f}"
    assert values["place"] == place
    assert shown.moved == shown.controls()


def test_in_the_middle_all_weights_are_equal(show_views):
    shown = show_views(query_explorer(KEYS, NAMES, torch.tensor([0.4, 0.6])))
    shown.press("query", "ArrowLeft", 4)
    shown.press("query", "ArrowDown", 6)
    assert [shown.value(f"weight {i}") for i in range(3)] == ["0.3333"] * 3
    assert [shown.value(f"maximum {i}") for i in range(3)] == ["tie"] * 3
    assert shown.value("sentence").startswith("All get the same: 0.3333.")


def test_two_keys_share_the_most(show_views):
    keys = torch.tensor([[1.0, 1.0], [1.0, 1.0], [-1.0, 0.0]])
    shown = show_views(query_explorer(keys, NAMES, torch.tensor([0.5, 0.5])))
    assert [shown.value(f"maximum {i}") for i in range(3)] == ["tie", "tie", "0"]
    weight = torch.tensor([1.0, 1.0, -0.5]).softmax(0)[0]
    start = f"2 keys get the most: {weight:.4f} each."
    assert shown.value("sentence").startswith(start)


def test_a_slightly_larger_score_wins(show_views):
    keys = torch.tensor([[1.0, 0.0], [0.99, 0.0]])
    shown = show_views(query_explorer(keys, ["cat", "mat"], torch.tensor([1.0, 0.0])))
    assert [shown.value(f"maximum {i}") for i in range(2)] == ["1", "0"]


def test_a_tiny_weight_is_not_shown_as_none(show_views):
    keys = torch.tensor([[2.0, 2.0], [-2.0, -2.0]])
    shown = show_views(query_explorer(keys, ["cat", "mat"], torch.tensor([2.0, 2.0])))
    assert shown.value("weight 0") == "1.0000"
    assert shown.value("weight 1") == "< 0.0001"


def test_with_never_wins(show_views):
    """What chapter 1 says of its keys: one lies between the others."""
    words = ["journey", "starts", "with", "one", "step"]
    keys = torch.tensor([[1.2, 1.2], [1.5, 0.6], [0.3, 0.3], [0.6, -1.5], [-1.4, 0.8]])
    shown = show_views(query_explorer(keys, words, torch.tensor([2.0, 0.0])))
    won = set()
    around = (("ArrowUp", 4), ("ArrowLeft", 8), ("ArrowDown", 8), ("ArrowRight", 4))
    for key, times in (*around, ("ArrowUp", 5)):  # around, then through the middle
        for _ in range(times):
            shown.press("query", key, 5)
            values = shown.values()
            won |= {i for i in range(5) if values[f"maximum {i}"] == "1"}
    assert won == {0, 1, 3, 4}


def test_the_query_is_dragged(show_views):
    shown = show_views(query_explorer(KEYS, NAMES, torch.tensor([0.4, 0.6])))
    box = shown.control("query").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    shown.page.mouse.move(x, y)
    shown.page.mouse.down()
    shown.page.mouse.move(x + 320 / 4.6, y)  # one unit to the right
    shown.page.mouse.up()
    scores = KEYS @ torch.tensor([1.4, 0.6])
    assert shown.number("score 0") == pytest.approx(float(scores[0]), abs=0.05)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": torch.ones(3, 3)}, r"shapes \(S, 2\) and \(2,\), got \(3, 3\)"),
        ({"query": torch.ones(3)}, r"shapes \(S, 2\) and \(2,\), got .* and \(3,\)"),
        ({"keys": KEYS.long()}, r"keys must be floating point"),
        ({"names": NAMES[:2]}, r"names must hold 3 names, got 2"),
        ({"query": torch.tensor([2.5, 0.0])}, r"coordinates from -2 to 2"),
        ({"keys": KEYS * torch.nan}, r"coordinates from -2 to 2"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"keys": KEYS, "names": NAMES, "query": torch.zeros(2)}
    with pytest.raises(ValueError, match=message):
        query_explorer(**arguments | change)
