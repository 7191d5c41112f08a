"""The picture of a dot product, moved by keyboard and compared with PyTorch."""

import math
import re

import pytest
import torch

from helpers.views import dot_product

QUERY, KEY = torch.tensor([1.0, 0.5]), torch.tensor([-0.5, 1.5])


def moved(vector, by):
    return (vector + torch.tensor(by)).clamp(-2, 2)


@pytest.mark.parametrize(
    ("name", "key", "times", "by"),
    [
        ("query", "ArrowRight", 3, (0.3, 0.0)),
        ("query", "ArrowDown", 9, (0.0, -0.9)),
        ("key", "ArrowUp", 20, (0.0, 2.0)),
        ("key", "ArrowLeft", 4, (-0.4, 0.0)),
    ],
)
def test_both_ways_lead_to_the_product(show_views, name, key, times, by):
    shown = show_views(dot_product(QUERY, KEY))
    shown.press(name, key, times)
    query = moved(QUERY, by) if name == "query" else QUERY
    other = moved(KEY, by) if name == "key" else KEY
    values, product = shown.values(), float(query @ other)
    cosine = float(torch.cosine_similarity(query, other, dim=0))
    assert values["entries"].endswith(f"= {product:z.2f}")
    assert values["product"].endswith(f"{cosine:z.2f} = {product:z.2f}")
    found = [float(one) for one in re.findall(r"\d+\.\d\d", values["lengths"])]
    assert found == pytest.approx(
        [float(query.norm()), float(other.norm())], abs=0.0051
    )
    assert f"{math.degrees(math.acos(cosine)):.0f}°" in values["angle"]
    sign = "positive" if product > 0 else "negative"
    assert values["meaning"].endswith(f"so the score is {sign}.")
    shown.press("query" if name == "key" else "key", "ArrowUp")
    assert shown.moved == shown.controls()


def test_a_right_angle_gives_a_score_of_0(show_views):
    shown = show_views(dot_product(torch.tensor([2.0, 0.0]), torch.tensor([0.0, 2.0])))
    values = shown.values()
    assert values["entries"] == "2.00 · 0.00 + 0.00 · 2.00 = 0.00"
    assert values["meaning"].startswith("The score is 0")


def test_a_vector_of_zeros_has_no_direction(show_views):
    shown = show_views(dot_product(torch.zeros(2), KEY))
    assert shown.value("angle").startswith("A vector of zeros has no direction")
    shown.press("query", "ArrowUp", 10)
    assert shown.value("angle").startswith("Angle between them: 18°")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query": torch.ones(3)}, r"query must have shape \(2,\), got \(3,\)"),
        ({"key": torch.ones(2, 1)}, r"key must have shape \(2,\), got \(2, 1\)"),
        ({"key": torch.ones(2).long()}, r"key must be floating point"),
        ({"query": torch.tensor([2.5, 0.0])}, r"query must have coordinates"),
        ({"query": torch.tensor([torch.nan, 0.0])}, r"query must have coordinates"),
        ({"names": ["one"]}, r"names must hold 2 texts, got 1"),
        ({"columns": "xyz"}, r"columns must hold 2 texts, got 3"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"query": QUERY, "key": KEY}
    with pytest.raises(ValueError, match=message):
        dot_product(**arguments | change)
