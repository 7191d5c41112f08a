"""helpers.models.sparse_attention: which blocks, and full attention where all are."""

import pytest
import torch
from torch.testing import assert_close

from helpers.attention import causal_mask, scaled_dot_product_attention
from helpers.models.sparse_attention import (
    SparseCore,
    block_scores,
    choose_blocks,
    index_scores,
    sparse_attention,
)
from helpers.models.switches import attending_with
from tests.samples.models import ids, model

B, T, S, H, D, SIZE = 2, 5, 11, 3, 4, 4


def draw(*shape):
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def chosen(query, keys, own, count):
    """The blocks that one query attends to, by a loop."""
    means = [keys[start : start + SIZE].mean(0) for start in range(0, S, SIZE)]
    before = sorted(range(own), key=lambda block: -float(query @ means[block]))
    return {own, *before[: count - 1]}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_query_has_its_own_block_and_the_best_ones_before_it(count):
    queries, keys = draw(B, H, T, D), draw(B, H, S, D)
    scores = block_scores(queries, keys, block_size=SIZE)
    means = [one.mean(-2) for one in keys.split(SIZE, dim=-2)]
    assert_close(scores, queries @ torch.stack(means, dim=-1))
    mask = choose_blocks(scores, S, block_size=SIZE, count=count)
    for b in range(B):
        for h in range(H):
            for t in range(T):
                place = S - T + t
                blocks = chosen(queries[b, h, t], keys[b, h], place // SIZE, count)
                expected = [s <= place and s // SIZE in blocks for s in range(S)]
                assert mask[b, h, t].tolist() == expected


@pytest.mark.parametrize("count", [3, 7])
def test_with_all_blocks_it_is_causal_attention(count):
    heads = [draw(B, H, T, D), draw(B, H, S, D), draw(B, H, S, 6)]
    for one in heads:
        one.requires_grad_()
    found = sparse_attention(*heads, block_size=SIZE, count=count)
    expected = scaled_dot_product_attention(*heads, mask=causal_mask(T, S))
    for ours, full in zip(found, expected, strict=True):
        assert_close(ours, full, atol=1e-12, rtol=0)
    arriving = draw(B, H, T, 6)
    sides = [torch.autograd.grad(one[0], heads, arriving) for one in (found, expected)]
    for ours, full in zip(*sides, strict=True):
        assert_close(ours, full, atol=1e-12, rtol=0)


def test_blocks_of_one_are_the_best_keys():
    queries, keys = draw(B, H, T, D), draw(B, H, S, D)
    _, weights = sparse_attention(queries, keys, keys, block_size=1, count=3)
    assert ((weights > 0).sum(-1) == 3).all()
    products = (queries @ keys.mT).masked_fill(~causal_mask(T, S), -torch.inf)
    own = torch.arange(S - T, S)[:, None]
    products.scatter_(-1, own.expand(B, H, T, 1), torch.inf)
    best = products.topk(3).indices
    assert (weights.gather(-1, best) > 0).all()


def test_what_comes_later_changes_nothing():
    heads = [draw(B, H, S, D) for _ in range(3)]
    changed = [one.clone() for one in heads]
    for one in changed:
        one[..., -1, :] += 100
    before, after = (
        sparse_attention(*one, block_size=SIZE, count=2)[0] for one in (heads, changed)
    )
    assert torch.equal(before[..., :-1, :], after[..., :-1, :])


@pytest.mark.parametrize("num_kv_heads", [2, 6])
def test_as_a_models_core(num_kv_heads):
    made, text = model(num_kv_heads=num_kv_heads, positions="rotary"), ids(B, 9)
    expected = made(text)
    with attending_with(made, SparseCore(4, 3)):
        assert_close(made(text), expected)
        cache = made.new_cache()
        with torch.no_grad():
            pieces = [made(piece, cache=cache) for piece in text.split([5, 1, 3], 1)]
        assert_close(torch.cat(pieces, dim=1), expected)
    with attending_with(made, SparseCore(4, 1)):
        assert not torch.allclose(made(text), expected, atol=1e-4)
    windowed = model(window=3)
    with (
        attending_with(windowed, SparseCore(4, 2)),
        pytest.raises(ValueError, match="no window, got causal=True and window 3"),
    ):
        windowed(text)


def test_the_indexer_is_its_formula():
    heads = draw(B, H, T, D), draw(B, S, D), draw(B, H, T)
    found = index_scores(*heads)
    queries, keys, weights = heads
    for b in range(B):
        for t in range(T):
            for s in range(S):
                products = [float(queries[b, h, t] @ keys[b, s]) for h in range(H)]
                score = sum(
                    float(weights[b, h, t]) * max(0.0, one)
                    for h, one in enumerate(products)
                )
                assert float(found[b, t, s]) == pytest.approx(score, abs=1e-12)


def test_the_indexer_chooses_what_transformers_chooses():
    """Their scores come out as indices alone: those of the two best keys."""
    modeling = pytest.importorskip(
        "transformers.models.deepseek_v32.modeling_deepseek_v32"
    )
    config = modeling.DeepseekV32Config(
        hidden_size=6,
        q_lora_rank=5,
        qk_rope_head_dim=2,
        index_n_heads=H,
        index_head_dim=D,
        index_topk=2,
    )
    torch.manual_seed(2)
    indexer = modeling.DeepseekV32Indexer(config, 0)
    x, compressed = torch.randn(B, S, 6), torch.randn(B, S, 5)
    still = torch.ones(1, S, 2), torch.zeros(1, S, 2)  # no turns
    hidden = torch.full((S, S), -torch.inf).triu(1)[None]
    theirs = indexer(x, compressed, still, hidden, None)
    with torch.no_grad():
        queries = indexer.wq_b(compressed).unflatten(-1, (H, D)).transpose(1, 2)
        keys = indexer.k_norm(indexer.wk(x))
        weights = indexer.weights_proj(x).mT
        scores = index_scores(queries, keys, weights) + hidden
    ours = scores.topk(2).indices
    assert torch.equal(ours[:, 1:].sort().values, theirs[:, 1:].long().sort().values)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: block_scores(draw(T, D), draw(S, D + 1), block_size=2), "keys .*5"),
        (lambda: block_scores(draw(T, D), draw(S, D), block_size=0), "block_size .*0"),
        (lambda: choose_blocks(draw(T, 3), 11, block_size=4, count=0), "count .*0"),
        (
            lambda: choose_blocks(draw(T, 3), 4, block_size=2, count=1),
            r"2 blocks.*5, 3",
        ),
        (lambda: choose_blocks(draw(T, 2), 4, block_size=2, count=1), "S .*5.*4"),
        (lambda: SparseCore(2.0, 1), r"block_size .*2\.0"),
        (lambda: SparseCore(2, True), "count .*True"),
        (
            lambda: index_scores(draw(B, H, T, D), draw(B, S, 3), draw(B, H, T)),
            r"keys must have shape \(2, 11, 4\), got \(2, 11, 3\)",
        ),
        (
            lambda: index_scores(draw(B, H, T, D), draw(B, S, D), draw(B, T, H)),
            r"head_weights must have shape \(2, 3, 5\), got \(2, 5, 3\)",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
