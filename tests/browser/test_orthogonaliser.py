"""An ellipse that becomes round, moved by keyboard and compared with PyTorch."""

import math

import pytest
import torch

from helpers import checks
from helpers.views import orthogonaliser


def turn(degrees):
    angle = math.radians(degrees)
    cosine, sine = math.cos(angle), math.sin(angle)
    return torch.tensor([[cosine, -sine], [sine, cosine]], dtype=torch.float64)


def matrix(ratio, angle, rounds):
    """What the view shows, by the reference of the page's exercise."""
    strengths = torch.tensor([ratio, 1.0], dtype=torch.float64)
    gradient = turn(angle) @ strengths.diag() @ turn(50).T
    return checks.EXERCISES["orthogonalise"].reference(gradient, rounds)


def require(shown, ratio, angle, rounds):
    values, expected = shown.values(), matrix(ratio, angle, rounds)
    for place, number in enumerate(expected.flatten().tolist()):
        assert values.number(f"number {place}") == pytest.approx(number, abs=0.0051)
    within = turn(angle).T @ expected @ turn(50)
    found = [values.number(name) for name in ("strong", "weak")]
    assert found == pytest.approx(within.diagonal().tolist(), abs=0.0051)
    assert sorted(within.diagonal().tolist(), reverse=True) == pytest.approx(
        torch.linalg.svdvals(expected).tolist()
    )


def test_the_ellipse_becomes_round_and_keeps_its_axes(show_views):
    shown = show_views(orthogonaliser())
    require(shown, 5, 30, 0)
    assert shown.values().number("strong") > 4 * shown.values().number("weak")

    shown.press("rounds", "ArrowRight", 2)
    require(shown, 5, 30, 2)
    shown.press("rounds", "End")
    require(shown, 5, 30, 5)
    assert all(0.68 <= shown.values().number(one) <= 1.14 for one in ("strong", "weak"))

    lengths = [shown.value(one) for one in ("strong", "weak")]
    shown.press("angle", "ArrowRight", 3)
    require(shown, 5, 45, 5)
    assert [shown.value(one) for one in ("strong", "weak")] == lengths

    shown.choose("ratio", "100 to 1")
    require(shown, 100, 45, 5)
    shown.press("rounds", "Home")
    require(shown, 100, 45, 0)
    assert shown.moved == shown.controls()


def test_the_table_holds_the_singular_values_of_each_round():
    html = orthogonaliser(ratio=20)._repr_html_()
    for rounds in range(6):
        for length in torch.linalg.svdvals(matrix(20, 30, rounds)).tolist():
            assert f"<td>{length:.2f}</td>" in html


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ratios": ()}, "ratios must be whole numbers of at least 1"),
        ({"ratios": (0, 5)}, "ratios must be whole numbers of at least 1"),
        ({"ratios": (2.5, 5)}, "ratios must be whole numbers of at least 1"),
        ({"ratio": 7}, r"ratio must be one of \[2, 5, 20, 100\], got 7"),
        ({"angle": 180}, "angle must be a multiple of 5 from 0 to 175, got 180"),
        ({"angle": 32}, "angle must be a multiple of 5"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        orthogonaliser(**change)
