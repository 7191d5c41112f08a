"""Dropout's view: draws and means, against PyTorch and a port of its generator."""

import re

import pytest
import torch

from helpers.views import dropout_sampler

T = 5
NAMES = ["the", "cat", "sat", "on", "it"]
SEED = 7


@pytest.fixture(scope="module")
def weights():
    """Causal weights (T, T)."""
    scores = torch.randn(T, T, generator=torch.Generator().manual_seed(0))
    future = torch.ones(T, T).triu(1).bool()
    return scores.masked_fill(future, -torch.inf).softmax(-1)


def uniforms(seed, count):
    """The first random numbers of the views' generator (mulberry32), in Python."""
    bits, numbers = 0xFFFFFFFF, []
    state = seed
    for _ in range(count):
        state = (state + 0x6D2B79F5) & bits
        t = ((state ^ (state >> 15)) * (state | 1)) & bits
        t ^= (t + (t ^ (t >> 7)) * (t | 61)) & bits
        numbers.append((t ^ (t >> 14)) / 2**32)
    return torch.tensor(numbers, dtype=torch.float64)


def expected(weights, p, draws, seed=SEED):
    """The latest draw, whether each entry is kept in it, and the mean of all draws."""
    keep = uniforms(seed, draws * T * T).view(draws, T, T) >= p
    dropped = weights.double() * keep / (1 - p)
    return dropped[-1], keep[-1], dropped.mean(dim=0)


def read(shown, name):
    values = shown.values()
    cells = [[values.number(f"{name} {i} {j}") for j in range(T)] for i in range(T)]
    return torch.tensor(cells, dtype=torch.float64)


def assert_shown(shown, weights, p, draws, seed=SEED):
    now, keep, mean = expected(weights, p, draws, seed)
    drawn = read(shown, "draw")
    torch.testing.assert_close(drawn, now, atol=0.0055, rtol=0)
    kept = drawn != 0
    torch.testing.assert_close(
        drawn[kept], (weights / (1 - p)).double()[kept], atol=0.0055, rtol=0
    )
    torch.testing.assert_close(read(shown, "mean"), mean, atol=0.0055, rtol=0)
    largest = float((mean - weights).abs().max())
    assert shown.number("difference") == pytest.approx(largest, abs=3e-4)
    dropped = [
        [i, j] for i in range(T) for j in range(T) if weights[i, j] and not keep[i, j]
    ]
    found = shown.page.locator(".live td[data-dropped]").all()
    names = [cell.get_attribute("data-value") for cell in found]
    assert names == [f"draw {i} {j}" for i, j in dropped]
    future = int((weights == 0).sum())  # hatched beside the draw and beside the mean
    assert shown.page.locator(".live td.off").count() == 2 * future
    captions = shown.page.locator(".live caption").all_inner_texts()
    assert captions[0] == f"Draw {draws:,}"
    assert f"Mean over {draws:,} draw" in captions[1]
    sentence = shown.value("sentence")
    assert f"{len(dropped)} of 15 weights are dropped" in sentence
    lost = [NAMES[i] for i in range(T) if not now[i].any()]
    stated = re.search(r"Nothing is left in rows? (.*?)\.", sentence)
    assert ([] if stated is None else re.findall(r"\w+", stated[1])) == lost


def test_the_generator_is_the_one_of_the_page(show_views, weights):
    """At a high p few entries stay, so that one wrong number would show."""
    for seed in (1, SEED, 2**32 - 1):
        shown = show_views(dropout_sampler(weights, NAMES, p=0.9, seed=seed))
        shown.press("thousand", "Enter")
        assert_shown(shown, weights, 0.9, 1001, seed)


def test_every_control_moves_the_draw_and_the_mean(show_views, weights):
    shown = show_views(dropout_sampler(weights, NAMES, seed=SEED))
    assert_shown(shown, weights, 0.5, 1)
    shown.press("one", "Enter", 3)
    assert_shown(shown, weights, 0.5, 4)
    shown.press("thousand", "Enter", 2)
    assert_shown(shown, weights, 0.5, 2004)
    shown.press("p", "ArrowLeft", 2)
    assert_shown(shown, weights, 0.3, 2004)
    shown.press("one", "Space")
    assert_shown(shown, weights, 0.3, 2005)
    shown.choose("mode", "eval")
    for name in ("draw", "mean"):
        found = read(shown, name)
        torch.testing.assert_close(found, weights.double(), atol=0.0055, rtol=0)
    assert shown.number("difference") == 0
    assert shown.page.locator(".live td[data-dropped]").count() == 0
    assert "In eval mode nothing is dropped" in shown.value("sentence")
    shown.choose("mode", "train")
    assert_shown(shown, weights, 0.3, 2005)
    shown.press("restart", "Enter")
    assert_shown(shown, weights, 0.3, 1)
    shown.press("p", "End")
    assert_shown(shown, weights, 0.9, 1)
    shown.press("p", "Home")
    assert_shown(shown, weights, 0.0, 1)
    assert shown.moved == shown.controls()


def test_more_draws_bring_the_mean_closer(show_views, weights):
    shown = show_views(dropout_sampler(weights, NAMES, seed=SEED))
    first = shown.number("difference")
    shown.press("thousand", "Enter", 4)
    assert shown.number("difference") < first / 10


def test_the_tables_hold_the_weights_and_the_kept_ones(weights):
    before, after = dropout_sampler(weights, NAMES, p=0.2).tables
    torch.testing.assert_close(torch.tensor(before.cells), weights)
    torch.testing.assert_close(torch.tensor(after.cells), weights / 0.8)
    assert before.rows == before.columns == NAMES


EYE = torch.eye(2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.ones(2, 3) / 3, ["a", "b"]), r"shape \(T, T\), got \(2, 3\)"),
        ((torch.ones(0, 0), []), r"shape \(T, T\), got \(0, 0\)"),
        ((2 * EYE, ["a", "b"]), r"rows of at least 0 that sum to 1"),
        ((torch.tensor([[2.0, -1.0], [0.0, 1.0]]), ["a", "b"]), r"at least 0 that"),
        ((torch.full((2, 2), torch.nan), ["a", "b"]), r"at least 0 that"),
        ((EYE, ["a"]), r"names must hold 2 names, got 1"),
        ((EYE.int(), ["a", "b"]), r"weights must be floating point"),
        ((EYE, ["a", "b"], 1.0), r"p must be a probability in \[0, 1\), got 1.0"),
        ((EYE, ["a", "b"], 0.25), r"p must be one of \[0.0, .* got 0.25"),
        ((EYE, ["a", "b"], 0.5, 0), r"seed must be an integer of at least 1, got 0"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        dropout_sampler(*arguments)
