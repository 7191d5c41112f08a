"""Hands of clocks, moved by keyboard and compared with PyTorch."""

import math

import pytest
import torch

from helpers.models.positions import alibi_slopes, rotary_angles, rotate
from helpers.views import rotary_clocks

QUERY, KEY = torch.tensor([1.0, 0.5, 0.8, -0.6]), torch.tensor([0.6, 0.9, 1.0, 0.2])
START = {"names": ("step", "journey"), "places": (5, 1)}


def products(query_at, key_at):
    """Of each pair, turned as helpers turns it."""
    turned = []
    for vector, place in ((QUERY, query_at), (KEY, key_at)):
        angles = rotary_angles(place, 1, 4)
        turned.append(
            rotate(vector[None], angles.cos(), angles.sin(), interleaved=True)
        )
    return (turned[0] * turned[1]).unflatten(-1, (2, 2)).sum(-1)[0].tolist()


def require(shown, expected, score):
    values = shown.values()
    for pair, product in enumerate(expected):
        assert values.number(f"product {pair}") == pytest.approx(product, abs=0.0051)
    assert values.number("score") == pytest.approx(score, abs=0.0051)


def test_the_score_follows_the_distance_alone(show_views):
    shown = show_views(rotary_clocks(QUERY, KEY, **START))
    at_first = products(5, 1)
    require(shown, at_first, sum(at_first) / 2)
    assert (
        shown.value("distance")
        == "\u2068journey\u2069 stands 4 before \u2068step\u2069."
    )

    shown.press("on", "Enter", 30)
    shown.press("back", "Enter", 2)
    assert products(33, 29) == pytest.approx(at_first, abs=1e-5)
    require(shown, at_first, sum(at_first) / 2)

    shown.press("queries", "ArrowRight", 3)
    shown.press("keys", "ArrowLeft", 5)
    moved = products(36, 24)
    assert sum(moved) != pytest.approx(sum(at_first), abs=0.1)
    require(shown, moved, sum(moved) / 2)

    shown.choose("scheme", "none")
    plain = products(0, 0)
    require(shown, plain, sum(plain) / 2)

    shown.choose("scheme", "ALiBi")
    bias = -alibi_slopes(8)[0].item() * 12
    require(shown, plain, sum(plain) / 2 + bias)
    assert shown.value("sum").endswith(" / √4 − 0.5 · 12 =")
    assert shown.moved == shown.controls()


def test_both_words_stay_in_the_text(show_views):
    shown = show_views(rotary_clocks(QUERY, KEY, **START))
    shown.press("back", "Enter", 4)
    assert "stands 4 before" in shown.value("distance")
    shown.press("queries", "Home")
    assert shown.value("distance") == "Both stand at the same place."
    shown.press("keys", "End")
    assert "causal mask would hide it" in shown.value("distance")
    shown.press("on", "Enter", 3)
    assert shown.value("distance").startswith("\u2068journey\u2069 comes later")
    expected = products(0, 63)
    require(shown, expected, sum(expected) / 2)


def test_the_table_holds_the_scores_of_all_three():
    html = rotary_clocks(QUERY, KEY, **START)._repr_html_()
    plain = (QUERY @ KEY).item() / math.sqrt(4)
    for score in (sum(products(5, 1)) / 2, plain, plain - 0.5 * 4):
        assert f"<td>{score:.2f}</td>" in html


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": torch.ones(3)}, r"query must have shape \(D,\) .*, got \(3,\)"),
        ({"query": torch.ones(10)}, r"query must have shape"),
        ({"key": torch.ones(6)}, r"key must have shape \(4,\) .*, got \(6,\)"),
        ({"key": KEY.long()}, r"key must be floating point"),
        ({"key": KEY * torch.inf}, r"must be finite"),
        ({"names": ("step",)}, r"names must hold 2 texts, got 1"),
        ({"places": (5, 64)}, r"places must be two whole numbers from 0 to 63"),
        ({"places": (5, 0.5)}, r"places must be two whole numbers"),
        ({"places": (5,)}, r"places must be two whole numbers"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"query": QUERY, "key": KEY, **START}
    with pytest.raises(ValueError, match=message):
        rotary_clocks(**arguments | change)
