"""The mask painter, moved by keyboard and compared with PyTorch."""

import math

import pytest
import torch

from helpers.views import mask_painter

WORDS = ["red", "fox", "ran", "fast", "home"]
T = len(WORDS)
GENERATOR = torch.Generator().manual_seed(3)
INPUTS = torch.rand(T, 3, generator=GENERATOR)
W_QUERY = torch.randn(3, 4, generator=GENERATOR)
W_KEY = torch.randn(3, 4, generator=GENERATOR)
W_VALUE = torch.randn(3, 2, generator=GENERATOR)
REPLACEMENT = torch.tensor([1.0, -1.0, 1.0])

t, s = torch.arange(T).unsqueeze(-1), torch.arange(T)
MASKS = {  # (option, size): True = may attend
    ("none", None): torch.ones(T, T, dtype=torch.bool),
    ("causal", None): s <= t,
    ("sliding window", 2): (s <= t) & (t - s < 2),
    ("sliding window", 1): s == t,
    ("padding", 4): (s < 4).expand(T, T),
    ("padding", 5): (s < 5).expand(T, T),
    ("prefix", 3): (s <= t) | (s < 3),
}


@pytest.fixture
def shown(show_views):
    return show_views(
        mask_painter(
            INPUTS,
            W_QUERY,
            W_KEY,
            W_VALUE,
            words=WORDS,
            replacement=REPLACEMENT,
            replacement_word="cat",
        )
    )


def attend(inputs, mask):
    """Contexts and weights by PyTorch; NaN where a row may attend to nothing."""
    queries, keys, values = (inputs @ W for W in (W_QUERY, W_KEY, W_VALUE))
    scores = (queries @ keys.T / math.sqrt(4)).masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ values, weights


def compare(shown, mask, replaced=None):
    """Each number of the view is PyTorch's; a row of nothing has words instead."""
    inputs = INPUTS.clone()
    if replaced is not None:
        inputs[replaced] = REPLACEMENT
    context, weights = attend(inputs, mask)
    change = (context - attend(INPUTS, mask)[0]).abs().amax(dim=-1)
    values = shown.values()
    for i in range(T):
        if not mask[i].any():
            assert {values[f"weight {i} {j}"] for j in range(T)} == {"–"}
            assert values[f"sum {i}"] == values[f"context {i} 0"] == "none"
            continue
        for j in range(T):
            assert values.number(f"weight {i} {j}") == near(weights[i, j])
        assert values.number(f"sum {i}") == near(1.0)
        for d in range(2):
            assert values.number(f"context {i} {d}") == near(context[i, d])
        if replaced is not None:
            moved = pytest.approx(float(change[i]), abs=1.1e-4)
            assert values.number(f"change {i}") == moved
    assert f" {mask.sum()} of {T * T} pairs" in values["sentence"]
    assert "nan" not in shown.page.locator(".live").inner_text().lower()
    return change


def near(number):
    return pytest.approx(float(number), abs=0.0051)


@pytest.mark.parametrize(("option", "size"), MASKS)
def test_weights_sums_and_contexts_follow_the_mask(shown, option, size):
    shown.choose("mask", option)
    if size is not None:
        shown.press("size", "Home")
        shown.press("size", "ArrowRight", size - 1)
    mask = MASKS[option, size]
    compare(shown, mask)
    masked = shown.page.locator(".live td.off").count()
    assert masked == T * T - mask.sum()


def test_a_mask_is_painted_by_keyboard_and_by_click(shown):
    mask = MASKS["causal", None].clone()
    shown.press("cell", "ArrowRight", 3)
    shown.press("cell", "ArrowDown")
    shown.press("cell", "Space")
    mask[1, 3] = True
    compare(shown, mask)
    shown.press("cell", "ArrowUp", 4)  # no further than the first row
    shown.press("cell", "ArrowLeft", 2)
    shown.press("cell", "Space")
    mask[0, 1] = True
    shown.page.locator('[data-value="weight 4 2"]').click()
    mask[4, 2] = False
    compare(shown, mask)
    assert shown.control("mask").input_value() == "your own"
    assert shown.control("cell").get_attribute("data-value") == "weight 4 2"
    assert shown.control("cell").get_attribute("aria-checked") == "false"
    shown.choose("mask", "causal")
    compare(shown, MASKS["causal", None])


def test_the_grid_is_one_stop_of_the_tab_key(shown):
    assert shown.page.locator('.live table [tabindex="0"]').count() == 1
    shown.press("cell", "ArrowDown", 2)
    assert shown.page.locator('.live table [tabindex="0"]').count() == 1
    shown.page.keyboard.press("Tab")
    assert shown.page.evaluate("document.activeElement.closest('table')") is None


def test_a_row_that_may_attend_to_nothing_is_named_in_words(shown):
    mask = MASKS["causal", None].clone()
    assert "nothing" not in shown.value("sentence")
    shown.press("cell", "Space")
    mask[0, 0] = False
    compare(shown, mask)
    assert "Row \u2068red\u2069 may attend to nothing" in shown.value("sentence")
    shown.choose("word", "0: red")
    change = compare(shown, mask, 0)
    moved = [word for word, one in zip(WORDS, change, strict=True) if one > 5e-5]
    assert moved == WORDS[1:]
    assert "4 of 5 contexts move: \u2068fox\u2069" in shown.value("sentence")
    assert shown.value("change 0") == "none"


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("option", "size"), [("none", None), ("causal", None)])
@pytest.mark.parametrize("place", range(T))
def test_a_replaced_word_moves_contexts(shown, option, size, place):
    shown.choose("mask", option)
    shown.choose("word", f"{place}: {WORDS[place]}")
    change = compare(shown, MASKS[option, size], place)
    words = [*WORDS[:place], "cat", *WORDS[place + 1 :]]
    moved = [f"\u2068{words[i]}\u2069" for i in range(T) if change[i] > 5e-5]
    sentence = shown.value("sentence")
    assert len(moved) == (T if option == "none" else T - place)
    assert f"{len(moved)} of {T} contexts move" in sentence
    assert f": {', '.join(moved)}." in sentence
    if place:
        assert f"largest change is {change[:place].max():.4f}" in sentence
        assert ("they see the future" in sentence) == (option == "none")
    shown.choose("word", "no word")
    compare(shown, MASKS[option, size])


def test_every_control_moves_a_number(shown):
    shown.choose("mask", "prefix")
    shown.press("size", "ArrowRight")
    compare(shown, MASKS["prefix", 3])
    shown.choose("word", "4: home")
    compare(shown, MASKS["prefix", 3], 4)
    shown.press("cell", "ArrowDown", 4)
    assert shown.moved == shown.controls()
    shown.press("cell", "Space")
    mask = MASKS["prefix", 3].clone()
    mask[4, 0] = False
    compare(shown, mask, 4)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"words": WORDS[:4]}, "words must hold 5 names, got 4"),
        ({"inputs": INPUTS[0]}, r"inputs must have shape \(..., T, d_in\), got \(3,\)"),
        ({"inputs": INPUTS.unsqueeze(0)}, r"inputs must have shape \(T, d_in\)"),
        ({"W_query": W_QUERY.T}, r"W_query must have shape \(3, D\), got \(4, 3\)"),
        ({"W_value": W_VALUE[0]}, r"W_value must have shape \(3, D_v\), got \(2,\)"),
        ({"W_key": W_VALUE}, r"W_query and W_key must agree in the last axis \(D\)"),
        ({"replacement": REPLACEMENT[:2]}, r"replacement must have shape \(3,\)"),
        ({"inputs": INPUTS.double()}, "must share one dtype"),
    ],
)
def test_bad_input_is_named(changed, message):
    good = {"inputs": INPUTS, "W_query": W_QUERY, "W_key": W_KEY, "W_value": W_VALUE}
    good |= {"words": WORDS, "replacement": REPLACEMENT, "replacement_word": "cat"}
    with pytest.raises(ValueError, match=message):
        mask_painter(**(good | changed))
