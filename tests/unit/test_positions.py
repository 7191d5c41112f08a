"""Positions: what is added, turned or taken off, and models that are made with each."""

import math

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from helpers.attention import scaled_dot_product_attention
from helpers.models.positions import (
    alibi_bias,
    alibi_slopes,
    halves_from_pairs,
    rotary_angles,
    rotate,
    sinusoidal_positions,
)
from tests.samples.models import ids, model

B, T, S, H, D = 2, 5, 7, 3, 4
KINDS = ("learned", "sinusoidal", "rotary", "alibi", "t5", "none")
each_kind = pytest.mark.parametrize("positions", KINDS)
each_layout = pytest.mark.parametrize("interleaved", [False, True])


def turned(heads, *, start=0, interleaved=False):
    angles = rotary_angles(start, heads.shape[-2], heads.shape[-1]).to(heads.dtype)
    return rotate(heads, angles.cos(), angles.sin(), interleaved=interleaved)


def test_a_projection_of_pairs_becomes_one_of_halves():
    torch.manual_seed(0)
    weight, x = torch.randn(2 * D, 3, dtype=torch.float64), torch.randn(T, 3).double()

    def scores(projection, *, interleaved):
        heads = (x @ projection.T).unflatten(-1, (2, D)).transpose(0, 1)  # (2, T, D)
        heads = turned(heads, interleaved=interleaved)
        return heads @ heads.mT

    assert_close(
        scores(halves_from_pairs(weight, 2), interleaved=False),
        scores(weight, interleaved=True),
    )
    with pytest.raises(ValueError, match=r"rows for 3 heads .* got shape \(8, 3\)"):
        halves_from_pairs(weight, 3)


# --- vectors ----------------------------------------------------------------------


def test_sinusoidal_positions_are_those_of_the_paper():
    vectors = sinusoidal_positions(3, T, 2 * D)
    for row in range(T):
        for i in range(D):
            angle = (3 + row) / 10_000 ** (2 * i / (2 * D))
            assert vectors[row, 2 * i] == pytest.approx(math.sin(angle), abs=1e-6)
            assert vectors[row, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-6)


def test_products_of_sinusoidal_positions_depend_on_the_distance_alone():
    vectors = sinusoidal_positions(0, 40, 16)
    products = vectors @ vectors.T
    for distance in (0, 1, 7, 20):
        assert_close(
            products.diagonal(distance), products[0, distance].expand(40 - distance)
        )


# --- turns ------------------------------------------------------------------------


def test_interleaved_pairs_turn_as_complex_numbers_do():
    heads = torch.randn(B, H, T, D, dtype=torch.float64)
    angles = rotary_angles(0, T, D).double()
    numbers = torch.view_as_complex(heads.unflatten(-1, (-1, 2)))
    expected = torch.view_as_real(
        numbers * torch.polar(torch.ones_like(angles), angles)
    )
    assert_close(turned(heads, interleaved=True), expected.flatten(-2))


def test_the_two_layouts_differ_by_an_order_of_the_features():
    heads = torch.randn(B, H, T, D)
    order = torch.tensor([0, 2, 1, 3])  # first and second halves, one of each in turn
    assert_close(turned(heads)[..., order], turned(heads[..., order], interleaved=True))
    assert not torch.allclose(turned(heads), turned(heads, interleaved=True))


@each_layout
def test_a_turn_keeps_lengths_and_scores_of_equal_distances(interleaved):
    query, key = torch.randn(2, 1, D, dtype=torch.float64)

    def score(i, j):
        both = zip((query, key), (i, j), strict=True)
        one, other = (
            turned(x, start=place, interleaved=interleaved) for x, place in both
        )
        return (one @ other.T).item()

    assert score(5, 2) == pytest.approx(score(9, 6), rel=1e-5)
    assert score(5, 2) != pytest.approx(score(5, 3), rel=1e-3)
    heads = torch.randn(B, H, T, D)
    lengths = turned(heads, interleaved=interleaved).norm(dim=-1)
    assert_close(lengths, heads.norm(dim=-1))


# --- biases -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("num_heads", "powers"),
    [
        (1, [8]),
        (2, [4, 8]),
        (8, [1, 2, 3, 4, 5, 6, 7, 8]),
        (6, [2, 4, 6, 8, 1, 3]),
        (3, [4, 8, 2]),
    ],
)
def test_slopes_of_any_number_of_heads(num_heads, powers):
    expected = torch.tensor([2.0**-power for power in powers])
    assert_close(alibi_slopes(num_heads), expected)


def test_the_bias_is_minus_the_distance_times_the_slope():
    bias, slopes = alibi_bias(H, T, S), alibi_slopes(H)
    for h in range(H):
        for t in range(T):
            for s in range(S):
                expected = -slopes[h] * abs(S - T + t - s)
                assert bias[h, t, s] == pytest.approx(expected.item())


def test_a_bias_is_added_before_the_mask():
    queries, keys, values = (torch.randn(B, H, n, D) for n in (T, S, S))
    bias = torch.randn(T, S)
    mask = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    _, weights = scaled_dot_product_attention(
        queries, keys, values, mask=mask, bias=bias
    )
    scores = queries @ keys.mT / D**0.5 + bias
    assert_close(weights, scores.masked_fill(~mask, -math.inf).softmax(-1))


# --- models -----------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize(
    "options",
    [{}, {"num_kv_heads": 2}, {"num_kv_heads": 1, "qk_norm": True, "norm": "rms"}],
    ids=["as it is", "grouped", "one key head, normed"],
)
def test_both_paths_and_a_cache_agree(positions, options):
    made = model(positions=positions, **options)
    text = ids(B, 12)
    fused, (explicit, weights) = made(text), made(text, return_weights=True)
    assert_close(fused, explicit, atol=1e-5, rtol=1e-4)
    assert weights[0].shape == (B, 6, 12, 12)
    cache = made.new_cache()
    parts = [made(one, cache=cache) for one in text.split([4, 1, 1, 6], dim=1)]
    assert_close(torch.cat(parts, dim=1), fused, atol=1e-5, rtol=1e-4)


def test_only_some_positions_tell_where_a_text_begins():
    for positions in KINDS:
        made = model(positions=positions, num_layers=1)
        x = torch.randn(1, 6, 24)
        scores = [self_scores(made, x, start) for start in (0, 5)]
        same = torch.allclose(*scores, atol=1e-5)
        assert same == (positions in ("rotary", "alibi", "t5", "none")), positions


def self_scores(made, x, start):
    """The weights of the first layer for embeddings x that begin at a position."""
    positions = made.config.positions
    if positions == "learned":
        x = x + made.position_embedding.weight[start : start + 6]
    if positions == "sinusoidal":
        x = x + sinusoidal_positions(start, 6, 24)
    rotation = (
        made._rotation(start, torch.zeros(1, 6)) if positions == "rotary" else None
    )
    bias = (lambda T, S: alibi_bias(6, T, S)) if positions == "alibi" else None
    block = made.blocks[0]
    _, weights = block.attention(
        block.attention_norm(x), return_weights=True, rotation=rotation, bias=bias
    )
    return weights


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rotary_angles(0, T, 3), "even"),
        (lambda: rotary_angles(-1, T, D), "start"),
        (lambda: rotary_angles(np.float64(1), T, D), "start"),
        (lambda: rotary_angles(True, T, D), "start"),
        (lambda: rotary_angles(0, 0, D), "T"),
        (lambda: alibi_slopes(0), "num_heads"),
        (lambda: alibi_bias(2, 5, 4), "S must be at least T = 5, got 4"),
        (
            lambda: model(positions="sinusoidal", d_model=25, num_heads=5),
            "even d_model",
        ),
        (lambda: model(positions="rotary", d_model=18), "even width"),
        (lambda: model(positions="relative"), "positions must be one of"),
        (
            lambda: scaled_dot_product_attention(
                *torch.randn(3, T, D), bias=torch.zeros(T, T + 1)
            ),
            "bias must broadcast",
        ),
        (
            lambda: scaled_dot_product_attention(
                *torch.randn(3, T, D), bias=torch.zeros(T, T).double()
            ),
            "bias",
        ),
        (lambda: scaled_dot_product_attention(*torch.randn(3, T, D), bias=0.5), "bias"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
