"""The training run's slider, moved by keyboard and compared with what went in."""

import pytest
import torch

from helpers.views import training_scrubber

T, N = 5, 41
STEPS = [0, 10, 20, 41]
GENERATOR = torch.Generator().manual_seed(2)
SCORES = 3 * torch.randn(4, T, T, generator=GENERATOR)
SCORES[0] = 0
CAUSAL = torch.ones(T, T).tril().bool()
MAPS = SCORES.masked_fill(~CAUSAL, -1e9).softmax(dim=-1)
LOSSES = (2 / (1 + torch.arange(N))).tolist()
TOKENS = ["h", "o", "l", "o", " "]
CLOSE = 0.0051  # shown with two decimals


def assert_shows(shown, step, kept):
    values = shown.values()
    assert values.number("loss") == pytest.approx(LOSSES[step], abs=CLOSE)
    assert values.number("kept") == STEPS[kept]
    for i in range(T):
        for j in range(T):
            expected = pytest.approx(float(MAPS[kept, i, j]), abs=CLOSE)
            assert values.number(f"weight {i} {j}") == expected
    sentence = values["sentence"]
    assert f"At step {step} the loss is {LOSSES[step]:.2f}." in sentence
    moved = (MAPS[kept] - MAPS[0]).abs()
    if kept == 0:
        assert "No weight has moved since step 0." in sentence
    else:
        row = int(moved.amax(dim=1).argmax())
        name = TOKENS[row].replace(" ", "␣")
        assert f"The row of \u2068{name}\u2069" in sentence
        assert (f"at {row} has" in sentence) == (name == "o")
        size = float(sentence.rstrip(".").rpartition(" ")[2])
        assert size == pytest.approx(float(moved.max()), abs=0.011)


def test_the_slider_leads_through_the_run(show_views):
    shown = show_views(training_scrubber(STEPS, LOSSES, MAPS, TOKENS))
    assert_shows(shown, 0, 0)
    place = 0
    for presses, kept in ((5, 0), (1, 1), (10, 2), (14, 2), (1, 3), (9, 3)):
        shown.press("step", "ArrowRight", presses)
        place += presses
        assert_shows(shown, place, kept)
    shown.press("step", "Home")
    assert_shows(shown, 0, 0)
    shown.press("step", "End")
    assert_shows(shown, N - 1, 3)
    assert shown.moved == shown.controls()


def test_the_marker_follows_the_curve(show_views):
    shown = show_views(training_scrubber(STEPS, LOSSES, list(MAPS), TOKENS))
    points = shown.page.locator(".live polyline").get_attribute("points").split()
    assert len(points) == N
    marker = shown.page.locator(".live circle")
    for step in (0, 7, N - 1):
        shown.press("step", "Home")
        shown.press("step", "ArrowRight", step)
        at = [float(marker.get_attribute(name)) for name in ("cx", "cy")]
        expected = [float(x) for x in points[step].split(",")]
        assert at == pytest.approx(expected, abs=0.011)


@pytest.mark.parametrize("causal", [True, False])
def test_the_future_is_hatched_where_all_maps_are_causal(show_views, causal):
    maps = MAPS if causal else SCORES.softmax(dim=-1)
    shown = show_views(training_scrubber(STEPS, LOSSES, maps, TOKENS))
    assert shown.page.locator(".live td.off").count() == (10 if causal else 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": [0, 10, 20]}, r"steps must hold 4 rising whole numbers"),
        ({"steps": [0, 20, 10, 41]}, r"steps must hold 4 rising whole numbers"),
        ({"steps": [0, 10, 20, 30.5]}, r"steps must hold 4 rising whole numbers"),
        ({"steps": [0, 10, 20, 42]}, r"steps must lie from 0 to 41"),
        ({"steps": [-1, 10, 20, 30]}, r"steps must lie from 0 to 41"),
        ({"losses": []}, r"losses must be an integer of at least 1, got 0"),
        ({"losses": [float("nan")] * N}, r"losses must be finite"),
        ({"maps": MAPS[:, :3]}, r"maps must be tensors of one shape \(T, T\)"),
        ({"maps": []}, r"maps must be tensors of one shape"),
        ({"maps": MAPS.tolist()}, r"each of maps must be a torch.Tensor, got list"),
        ({"maps": MAPS / 0}, r"maps must hold finite weights"),
        ({"tokens": "hol"}, r"tokens must hold 5 names, got 3"),
    ],
)
def test_bad_input_is_named(options, message):
    usual = {"steps": STEPS, "losses": LOSSES, "maps": MAPS, "tokens": TOKENS}
    with pytest.raises(ValueError, match=message):
        training_scrubber(**(usual | options))
