"""Attention in tiles: against the explicit one, and by what it keeps."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from helpers.attention import (
    causal_mask,
    mask_between,
    scaled_dot_product_attention,
    sliding_window_mask,
)
from helpers.notebook.memory import peak_bytes
from helpers.tiles.flash import Walk, flash_attention, tile_scores
from helpers.tiles.online_softmax import nothing_seen, see_more

B, H, D, D_V = 2, 3, 4, 6
REACHES = {
    "all": {},
    "causal": {"causal": True},
    "window": {"causal": True, "window": 3},
    "sinks": {"causal": True, "window": 3, "sinks": 2},
    "one position": {"causal": True, "window": 1},
    "wide window": {"causal": True, "window": 50},
}


def inputs(T, S, dtype=torch.float64):
    torch.manual_seed(T * S)
    shapes = ((B, H, T, D), (B, H, S, D), (B, H, S, D_V))
    return [torch.randn(*shape, dtype=dtype).requires_grad_() for shape in shapes]


def explicit(queries, keys, values, causal=False, window=None, sinks=0):
    mask, (T, S) = None, (queries.shape[-2], keys.shape[-2])
    if causal:
        mask = causal_mask(T, S)
    if window is not None:
        mask = sliding_window_mask(T, window, S, sinks=sinks)
    return scaled_dot_product_attention(queries, keys, values, mask=mask)[0]


@pytest.mark.parametrize("tile", [1, 2, 3, 4, 100])
@pytest.mark.parametrize(("T", "S"), [(7, 7), (5, 9), (1, 9), (1, 1)])
@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
def test_tiles_give_the_context_and_the_gradients_of_the_whole(reach, T, S, tile):
    given = inputs(T, S)
    ours = flash_attention(*given, tile=tile, **reach)
    whole = explicit(*given, **reach)
    assert_close(ours, whole, atol=1e-12, rtol=0)
    arriving = torch.randn_like(whole)
    pairs = zip(
        torch.autograd.grad(ours, given, arriving),
        torch.autograd.grad(whole, given, arriving),
        strict=True,
    )
    for found, expected in pairs:
        assert_close(found, expected, atol=1e-12, rtol=0)


def in_groups_of_six(kv_heads):
    """Queries of six heads, and keys and values of fewer."""
    torch.manual_seed(kv_heads)
    shapes = ((B, 6, 5, D), (B, kv_heads, 9, D), (B, kv_heads, 9, D_V))
    return [torch.randn(*one, dtype=torch.float64).requires_grad_() for one in shapes]


@pytest.mark.parametrize("tile", [2, 100])
@pytest.mark.parametrize("kv_heads", [1, 2, 3])
@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
def test_shared_keys_are_repeated_ones(reach, kv_heads, tile):
    queries, *shared = given = in_groups_of_six(kv_heads)
    repeated = [one.repeat_interleave(6 // kv_heads, dim=1) for one in shared]
    ours = flash_attention(*given, tile=tile, **reach)
    whole = explicit(queries, *repeated, **reach)
    assert_close(ours, whole, atol=1e-12, rtol=0)
    arriving = torch.randn_like(whole)
    pairs = zip(
        torch.autograd.grad(ours, given, arriving),
        torch.autograd.grad(whole, given, arriving),
        strict=True,
    )
    for found, expected in pairs:
        assert_close(found, expected, atol=1e-12, rtol=0)


def test_it_equals_pytorchs_own():
    given = inputs(9, 9, torch.float32)
    theirs = F.scaled_dot_product_attention(*given, is_causal=True)
    assert_close(flash_attention(*given, causal=True, tile=4), theirs)


@pytest.mark.slow
def test_finite_differences_agree():
    given = inputs(4, 5)

    def run(*given):
        return flash_attention(*given, causal=True, window=3, tile=2)

    assert torch.autograd.gradcheck(run, given)


def test_large_scores_stay_finite_whatever_comes_first():
    queries, keys, values = inputs(4, 6)
    scale = torch.tensor([1.0, 1e4, 1.0, 1e6, 1e2, 1.0]).double()[:, None]
    for order in ([0, 1, 2, 3, 4, 5], [3, 1, 4, 0, 2, 5]):
        given = (queries, (keys * scale)[..., order, :], values)
        context = flash_attention(*given, tile=2)
        assert_close(context, explicit(*given), atol=1e-12, rtol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_numbers_of_16_bits_are_added_up_in_32(dtype):
    given = [one.detach().to(dtype) for one in inputs(40, 40)]
    ours = flash_attention(*given, causal=True, tile=8)
    assert ours.dtype == dtype
    exact = explicit(*(one.float() for one in given), causal=True)
    assert_close(ours, exact.to(dtype))


def test_inputs_stay_as_they_are_and_a_second_gradient_is_refused():
    given = inputs(5, 5)
    before = [one.detach().clone() for one in given]
    context = flash_attention(*given, causal=True, tile=2)
    with pytest.raises(RuntimeError, match="no second gradient"):
        torch.autograd.grad(context.sum(), given[0], create_graph=True)
    for one, was in zip(given, before, strict=True):
        assert torch.equal(one, was)


# --- memory and tiles -----------------------------------------------------------------


def memory(T, attend):
    given = [torch.randn(1, T, 16).requires_grad_() for _ in range(3)]
    return peak_bytes(lambda: attend(*given).sum().backward())


def test_memory_is_linear_in_the_text_where_the_explicit_ones_is_quadratic():
    tiled = [
        memory(T, lambda *given: flash_attention(*given, causal=True))
        for T in (2048, 4096, 8192)
    ]
    assert tiled[2] - tiled[1] < 2.05 * (tiled[1] - tiled[0])
    assert tiled[2] < 8192 * 4 * (8 * 16 + 4) + 4 * 256**2 * 4
    whole = [memory(T, explicit) for T in (512, 1024)]
    assert whole[1] / whole[0] == pytest.approx(4, rel=0.1)
    assert whole[1] > 6 * 1024**2 * 4


def kept_for_the_way_back(given):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        flash_attention(*given, causal=True, tile=2)
    return kept


def test_what_is_kept_for_the_way_back_is_one_number_a_query_and_the_context():
    kept = kept_for_the_way_back(inputs(6, 6))
    shapes = sorted(tuple(one.shape[-2:]) for one in kept)
    assert shapes == sorted([(6, D), (6, D), (6, D_V), (6, D_V), (6, 1)])


def test_shared_keys_are_kept_as_they_came():
    given = in_groups_of_six(2)
    kept = kept_for_the_way_back(given)
    queries = [B * 6 * 5 * width for width in (D, D_V, 1)]  # context and logs, too
    keys = [B * 2 * 9 * width for width in (D, D_V)]
    assert sorted(one.numel() for one in kept) == sorted(queries + keys)
    assert {one.data_ptr() for one in given} <= {one.data_ptr() for one in kept}


@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
def test_a_tile_is_dark_or_light_exactly_where_its_mask_is(reach):
    for tile, first_query in itertools.product((1, 2, 3), (0, 4)):
        walk = Walk(**reach, tile=tile, first_query=first_query)
        for rows, columns in itertools.product(walk.tiles(9), walk.tiles(13)):
            if not walk.causal:
                assert walk.is_light(rows, columns)
                assert not walk.is_dark(rows, columns)
                continue
            mask = walk.mask(rows, columns, torch.device("cpu"))
            assert walk.is_dark(rows, columns) == (not mask.any()), (rows, columns)
            if walk.is_light(rows, columns):
                assert mask.all()


def test_dark_tiles_are_not_computed(monkeypatch):
    walked = []

    def counted(*given):
        walked.append(given)
        return tile_scores(*given)

    monkeypatch.setattr("helpers.tiles.flash.tile_scores", counted)
    given = inputs(32, 32)
    windowed = {"causal": True, "window": 4}
    for reach, tiles in (({}, 64), ({"causal": True}, 36), (windowed, 15)):
        walked.clear()
        flash_attention(*given, tile=4, **reach)
        assert len(walked) == tiles


# --- masks, and the softmax that goes on ----------------------------------------------


def test_a_window_of_the_whole_text_is_the_causal_mask():
    assert torch.equal(sliding_window_mask(4, 9, 9), causal_mask(4, 9))


def test_each_query_sees_its_window_and_the_sinks():
    mask = sliding_window_mask(4, 2, 7, sinks=1)
    seen = [row.nonzero().flatten().tolist() for row in mask]
    assert seen == [[0, 2, 3], [0, 3, 4], [0, 4, 5], [0, 5, 6]]


def test_a_mask_between_positions_is_a_part_of_the_whole_mask():
    whole = sliding_window_mask(9, 3, sinks=2)
    rows, columns = torch.tensor([3, 7]), torch.tensor([0, 1, 5, 6, 7, 8])
    part = mask_between(rows, columns, window=3, sinks=2)
    assert torch.equal(part, whole[rows][:, columns])


def test_what_was_found_is_the_softmax_of_the_keys_so_far():
    queries, keys, values = (one.detach() for one in inputs(5, 8))
    scores = queries @ keys.mT
    seen = nothing_seen(queries, D_V)
    for start in range(0, 8, 3):
        piece = slice(start, start + 3)
        seen = see_more(seen, scores[..., piece], values[..., piece, :])
        so_far = slice(0, start + 3)
        weights = scores[..., so_far].softmax(dim=-1)
        assert_close(seen.context, weights @ values[..., so_far, :])
        logs = scores[..., so_far].logsumexp(dim=-1, keepdim=True)
        assert_close(seen.logs, logs)


def test_a_piece_that_may_not_be_seen_changes_nothing():
    queries, keys, values = (one.detach() for one in inputs(5, 8))
    scores = queries @ keys.mT
    hidden = torch.full_like(scores, -math.inf)
    first = see_more(nothing_seen(queries, D_V), hidden, values)
    seen = see_more(see_more(first, scores, values), hidden, values)
    assert_close(seen.context, scores.softmax(dim=-1) @ values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"window": 3, "causal": False}, "a window needs causal=True, got window 3"),
        ({"window": 0}, "window must be an integer of at least 1, got 0"),
        ({"sinks": 1}, "got sinks 1 and no window"),
        ({"window": 2, "sinks": -1}, "sinks must be an integer of at least 0, got -1"),
        ({"tile": 0}, "tile must be an integer of at least 1, got 0"),
        ({"causal": 1}, "causal must be True or False, got 1"),
        ({"keys": torch.ones(B, H, 3, D).double()}, "S must be at least T"),
        ({"values": torch.ones(B, H, 2, D).double()}, r"agree in the number of rows"),
        ({"values": torch.ones(B, 1, 4, D).double()}, "agree in the leading axes"),
        ({"keys": torch.ones(B, 2, 4, D).double()}, "divide H = 3 .*, got H_kv = 2"),
        ({"keys": torch.ones(B, 6, 4, D).double()}, "divide H = 3 .*, got H_kv = 6"),
        ({"keys": torch.ones(B, 0, 4, D).double()}, "divide H = 3 .*, got H_kv = 0"),
        ({"keys": torch.ones(1, 1, 4, D).double()}, "agree in the axes before the"),
        ({"keys": torch.ones(H, 4, D).double()}, "agree in the leading axes"),
        ({"queries": torch.ones(B, H, 4, D)}, "queries and keys must share one dtype"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_bad_input_is_named(change, message):
    names = ("queries", "keys", "values")
    given = dict(zip(names, inputs(4, 4), strict=True)) | {"causal": True} | change
    if "keys" in change:
        given["values"] = given["keys"]
    positional = [given.pop(name) for name in names]
    with pytest.raises(ValueError, match=message):
        flash_attention(*positional, **given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"T": 3, "window": 0}, "window must be an integer"),
        ({"T": 3, "window": 2, "S": 2}, "S must be at least T"),
        ({"T": 3, "window": 2, "sinks": 0.5}, "sinks must be an integer"),
    ],
    ids=["window", "S", "sinks"],
)
def test_bad_windows_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        sliding_window_mask(**options)
