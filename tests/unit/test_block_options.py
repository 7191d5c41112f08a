"""What a block may be made of beside chapter 9's parts."""

import math

import pytest
import torch
from torch.testing import assert_close

from helpers import checks
from helpers.attention import sliding_window_mask
from helpers.models.switches import attending_with
from helpers.models.transformer_block import BlockAttention, TransformerConfig
from helpers.tiles.flash import flash_attention
from helpers.training.config import TrainConfig
from helpers.training.optimizers import make_optimizers
from tests.samples.models import ids, model

B, T = 2, 5


def test_grouped_heads_are_full_ones_with_repeated_keys_and_values():
    grouped = model(num_kv_heads=2, qkv_bias=True)
    full = model(qkv_bias=True)
    state = grouped.state_dict()
    for name, entries in state.items():
        if "W_key" in name or "W_value" in name:
            heads = entries.unflatten(0, (2, 4))
            state[name] = heads.repeat_interleave(3, dim=0).flatten(0, 1)
    full.load_state_dict(state)
    assert_close(full(ids(B, 9)), grouped(ids(B, 9)))


def test_normed_queries_forget_how_long_they_were():
    made = model(qk_norm=True)
    before = made(ids(B, 9))
    for block in made.blocks:
        block.attention.W_query.weight.data *= 100
        block.attention.W_key.weight.data *= 0.1
    assert_close(made(ids(B, 9)), before, atol=1e-3, rtol=1e-3)
    plain = model()
    before = plain(ids(B, 9))
    plain.blocks[0].attention.W_query.weight.data *= 100
    assert not torch.allclose(plain(ids(B, 9)), before, atol=1e-3)


def test_a_gate_multiplies_what_heads_have_found():
    made = model(attention_gate=True, positions="rotary")
    text, layer = ids(B, 9), made.blocks[0].attention
    plain = model(positions="rotary")
    missing = plain.load_state_dict(made.state_dict(), strict=False)
    assert missing.unexpected_keys == [
        f"blocks.{one}.attention.gate.weight" for one in (0, 1)
    ]
    x = torch.randn(B, T, 24)
    plain.blocks[0].attention.out_proj = torch.nn.Identity()
    found = plain.blocks[0].attention(x)  # all heads' contexts, side by side
    gates = (x @ layer.gate.weight.T).sigmoid()
    assert_close(layer(x), layer.out_proj(gates * found))
    for options in ({"return_weights": True}, {}):  # explicit and fused
        result = layer(x, **options)
        assert_close(result[0] if options else result, layer.out_proj(gates * found))
    cache = made.new_cache()
    with torch.no_grad():
        pieces = [made(piece, cache=cache) for piece in text.split([5, 1, 3], 1)]
        assert_close(torch.cat(pieces, dim=1), made(text))


def test_an_mlp_with_a_gate_is_as_large_as_one_without():
    sizes = [
        sum(
            entries.numel()
            for entries in model(activation=one, d_model=48).blocks[0].mlp.parameters()
        )
        for one in ("gelu", "swiglu")
    ]
    assert sizes[1] == pytest.approx(sizes[0], rel=0.03)
    mlp = model(activation="swiglu").blocks[0].mlp
    x = torch.randn(B, T, 24)
    gate = x @ mlp.gate.weight.T
    expected = (gate * gate.sigmoid() * (x @ mlp.up.weight.T)) @ mlp.down.weight.T
    assert_close(mlp(x), expected)


def test_a_llama_like_model_is_its_formula():
    """Zhang and Sennrich 2019, Su et al. 2021 and Shazeer 2020, in complex numbers."""
    base, eps, H, H_kv, D = 500.0, 0.05, 6, 2, 4
    made = model(
        **{"positions": "rotary", "rotary_base": base, "norm": "rms"},
        **{"norm_eps": eps, "activation": "swiglu", "mlp_hidden": 37, "bias": False},
        **{"num_kv_heads": H_kv, "tie_weights": True},
    ).double()
    weights, text = made.state_dict(), ids(B, 9)
    assert not [name for name in weights if name.endswith("bias")]
    assert weights["blocks.0.mlp.gate.weight"].shape == (37, 24)
    x = weights["token_embedding.weight"][text]
    turns = torch.outer(torch.arange(9.0), base ** (-2 * torch.arange(D / 2) / D))
    turns = torch.polar(torch.ones_like(turns), turns)  # (T, D / 2)

    def normed(x, name):
        return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weights[name]

    def heads(x, name):
        return (x @ weights[name].T).unflatten(-1, (-1, D)).transpose(1, 2)

    def turned(heads):
        return torch.complex(*heads.chunk(2, dim=-1)) * turns

    for block in ("blocks.0.", "blocks.1."):
        for name in ("attention_norm", "mlp_norm"):
            weights[f"{block}{name}.weight"].add_(torch.rand(24))
        y = normed(x, f"{block}attention_norm.weight")
        queries, keys, values = (
            heads(y, f"{block}attention.W_{name}.weight")
            for name in ("query", "key", "value")
        )
        keys, values = (one.repeat_interleave(H // H_kv, 1) for one in (keys, values))
        # The real part of a query times a key's conjugate is their dot product.
        scores = (turned(queries) @ turned(keys).mH).real / math.sqrt(D)
        scores = scores + torch.full((9, 9), -math.inf).triu(1)
        context = (scores.softmax(-1) @ values).transpose(1, 2).flatten(2)
        x = x + context @ weights[f"{block}attention.out_proj.weight"].T
        y = normed(x, f"{block}mlp_norm.weight")
        gate, up, down = (
            weights[f"{block}mlp.{name}.weight"] for name in ("gate", "up", "down")
        )
        gated = y @ gate.T
        x = x + (gated * gated.sigmoid() * (y @ up.T)) @ down.T
    x = normed(x, "final_norm.weight")
    expected = x @ weights["token_embedding.weight"].T
    assert_close(made(text), expected, rtol=0, atol=1e-6)  # angles are float32


def test_a_plain_mlp_without_biases_is_its_formula():
    made = model(mlp_hidden=7, bias=False, norm_eps=0.5)
    x, block = torch.randn(B, T, 24), made.blocks[0]
    first, last = block.mlp[0].weight, block.mlp[2].weight
    assert (first.shape, last.shape) == ((7, 24), (24, 7))
    hidden = x @ first.T
    expected = (hidden * (1 + torch.erf(hidden / 2**0.5)) / 2) @ last.T
    assert_close(block.mlp(x), expected)
    assert block.attention.out_proj.bias is None
    assert block.mlp[0].bias is None
    assert block.mlp[2].bias is None
    variance = x.var(-1, keepdim=True, correction=0)
    expected = (x - x.mean(-1, keepdim=True)) / (variance + 0.5).sqrt()
    assert_close(block.attention_norm(x), expected)
    assert_close(made.final_norm(x), expected)


def test_a_width_says_what_a_ratio_says():
    """SmolLM2-135M: C 576 and 1,536 hidden features."""
    sizes = {"d_model": 576, "activation": "swiglu"}
    assert TransformerConfig(9, 9, num_heads=9, num_layers=1, **sizes).hidden == 1_536
    assert model(mlp_hidden=48).config.hidden == 48 == model(mlp_ratio=2).config.hidden


def test_muon_takes_the_new_matrices():
    made = model(activation="swiglu", qk_norm=True, num_kv_heads=2, norm="rms")
    config = TrainConfig(steps=3, batch_size=2, learning_rate=0.01, optimizer="muon")
    adamw, muon = make_optimizers(made, config)
    taken = {id(p) for group in muon.param_groups for p in group["params"]}
    mlp, attention = made.blocks[0].mlp, made.blocks[0].attention
    assert {id(mlp.gate.weight), id(attention.W_key.weight)} <= taken
    assert id(attention.query_norm.weight) not in taken
    assert adamw.param_groups


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "options",
    [
        *({}, {"num_kv_heads": 2}, {"num_kv_heads": 1}, {"qk_norm": True}),
        *({"window": 4}, {"attention_gate": True}),
    ],
    ids=["as it is", "grouped", "one for all", "normed", "windowed", "gated"],
)
@pytest.mark.parametrize("core", [None, flash_attention], ids=["", "flash"])
def test_the_audit_passes_a_blocks_attention(options, core):
    torch.manual_seed(5)
    config = TransformerConfig(11, 10, 24, 6, 1, **options)
    layer = BlockAttention(config)
    layer.core = core
    told = {"num_kv_heads": config.num_kv_heads, "window": config.window}
    found = checks.audit(layer, 24, 10, num_heads=6, **told)
    assert found.ok, found.failed


def test_no_layer_holds_a_mask_and_a_long_context_costs_nothing():
    made = model(context_length=10**6, positions="none")
    assert not list(made.buffers())
    usual = model(positions="none")
    assert_close(made(ids(B, 9)), usual(ids(B, 9)))
    _, weights = made(ids(B, 9), return_weights=True)
    assert torch.equal(
        weights[1] > 0, torch.ones(9, 9).tril().bool().expand(B, 6, 9, 9)
    )


@pytest.mark.parametrize("options", [{}, {"window": 3}], ids=["", "window"])
def test_a_blocks_attention_takes_no_more_than_its_context(options):
    layer = model(context_length=8, **options).blocks[0].attention
    for fused in (True, False):
        layer.fused = fused
        assert layer(torch.randn(B, 8, 24)).shape == (B, 8, 24)
        with pytest.raises(
            ValueError, match="T = 12 tokens, 4 more than context_length"
        ):
            layer(torch.randn(B, 12, 24))


@pytest.mark.parametrize("num_kv_heads", [1, 2])
def test_shared_keys_are_read_where_they_are(num_kv_heads, monkeypatch):
    """A step with a cache would else copy all keys for each group of heads."""
    made, text, seen = model(num_kv_heads=num_kv_heads), ids(B, 9), []
    expected, _ = made(text, return_weights=True)
    fused = torch.nn.functional.scaled_dot_product_attention

    def watched(queries, keys, values, *rest, **options):
        seen.append((keys.shape[1], values.shape[1]))
        return fused(queries, keys, values, *rest, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", watched)
    assert_close(made(text), expected)
    assert seen == [(num_kv_heads, num_kv_heads)] * 2


# --- windows, and other cores --------------------------------------------------------


@pytest.mark.parametrize("core", [None, flash_attention], ids=["", "flash"])
@pytest.mark.parametrize("positions", ["learned", "rotary"])
@pytest.mark.parametrize("sinks", [0, 2])
def test_a_window_hides_what_is_further_back(core, positions, sinks):
    made = model(window=3, sinks=sinks, positions=positions, num_layers=1)
    made.blocks[0].attention.core = core
    text = ids(1, 10)
    changed = text.clone()
    changed[0, 4] = (changed[0, 4] + 1) % 11
    moved = (made(text) - made(changed)).abs().amax(dim=-1)[0] > 0
    assert moved.nonzero().flatten().tolist() == [4, 5, 6]
    changed = text.clone()
    changed[0, 1] = (changed[0, 1] + 1) % 11
    moved = (made(text) - made(changed)).abs().amax(dim=-1)[0] > 0
    seen = [1, 2, 3] if not sinks else list(range(1, 10))
    assert moved.nonzero().flatten().tolist() == seen


@pytest.mark.parametrize("options", [{}, {"sinks": 2}], ids=["window", "sinks"])
@pytest.mark.parametrize("positions", ["learned", "rotary", "alibi"])
def test_a_cache_keeps_what_a_window_can_still_see_and_no_more(positions, options):
    made = model(window=3, positions=positions, **options)
    text = ids(B, 12)
    cache = made.new_cache()
    with torch.no_grad():
        pieces = [made(piece, cache=cache) for piece in text.split([5, 1, 1, 4, 1], 1)]
        assert_close(torch.cat(pieces, dim=1), made(text))
    assert cache.length == 12
    kept = cache.extend(0, *torch.zeros(2, B, 6, 0, 4))[0].shape[2]
    sinks = options.get("sinks", 0)
    assert kept == (12 if sinks and positions == "alibi" else 2 + sinks)


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "alibi"])
def test_a_cache_that_drops_counts_what_it_has_read(positions):
    """Dropping begins at another length for each window, and goes on to the end."""
    text = ids(B, 12)
    for window in range(1, 13):
        made = model(window=window, positions=positions)
        cache = made.new_cache()
        with torch.no_grad():
            rows = [made(one, cache=cache) for one in text.split(1, dim=1)]
            assert_close(torch.cat(rows, dim=1), made(text))


def test_a_window_as_wide_as_the_text_changes_nothing():
    text = ids(B, 9)
    assert_close(model(window=9)(text), model()(text))
    assert not torch.allclose(model(window=5)(text), model()(text), atol=1e-4)


@pytest.mark.parametrize(
    ("interval", "seen"), [(1, [8, 8, 8, 8]), (2, [3, 8, 3, 8]), (3, [3, 3, 8, 3])]
)
def test_every_so_manyth_layer_sees_all(interval, seen):
    made = model(window=3, global_interval=interval, num_layers=4)
    _, weights = made(ids(B, 8), return_weights=True)
    found = [int((one[0, 0, -1] > 0).sum()) for one in weights]
    assert found == seen
    assert [made.config.of_layer(one).window for one in range(4)] == [
        None if count == 8 else 3 for count in seen
    ]


@pytest.mark.parametrize("options", [{}, {"sinks": 2}], ids=["window", "sinks"])
@pytest.mark.parametrize("positions", ["learned", "rotary", "alibi"])
def test_a_cache_keeps_all_for_global_layers_alone(positions, options):
    made = model(window=3, global_interval=2, positions=positions, **options)
    text = ids(B, 12)
    cache = made.new_cache()
    with torch.no_grad():
        pieces = [made(piece, cache=cache) for piece in text.split([5, 1, 1, 4, 1], 1)]
        assert_close(torch.cat(pieces, dim=1), made(text))
    kept = [
        cache.extend(layer, *torch.zeros(2, B, 6, 0, 4))[0].shape[2] for layer in (0, 1)
    ]
    sinks = options.get("sinks", 0)
    assert kept == [12 if sinks and positions == "alibi" else 2 + sinks, 12]


def test_weights_asked_for_are_zero_outside_the_window():
    _, weights = model(window=3, sinks=1)(ids(B, 8), return_weights=True)
    mask = sliding_window_mask(8, 3, sinks=1)
    for one in weights:
        assert torch.equal(one > 0, mask.expand_as(one))


def test_another_core_computes_inside_the_block_alone():
    made, text = model(num_kv_heads=2), ids(B, 9)
    expected = made(text)
    calls = []

    def core(*heads, **options):
        calls.append((heads[1].shape, options))
        return flash_attention(*heads, **options)

    with attending_with(made, core):
        assert_close(made(text), expected)
        with pytest.raises(ValueError, match="num_heads"), attending_with(made, core):
            model(num_heads=5)
    options = {"causal": True, "window": None, "sinks": 0}
    assert calls == [((B, 2, 9, 4), options)] * 2
    made(text)
    assert len(calls) == 2


@pytest.mark.parametrize("options", [{}, {"window": 3, "sinks": 2}], ids=["", "window"])
@pytest.mark.parametrize("num_kv_heads", [1, 2, 6])
def test_a_core_takes_shared_keys_as_they_are(num_kv_heads, options):
    made = model(num_kv_heads=num_kv_heads, positions="rotary", **options).double()
    parameters, text = list(made.parameters()), ids(B, 9)
    outputs = [made(text)]
    with attending_with(made, flash_attention):
        outputs.append(made(text))
    assert_close(*outputs, atol=1e-12, rtol=0)
    arriving = torch.randn_like(outputs[0])
    plain, ours = (torch.autograd.grad(one, parameters, arriving) for one in outputs)
    assert_close(ours, plain, atol=1e-12, rtol=0)


def test_what_a_core_cannot_compute_is_named():
    text = ids(B, 9)
    for made, lacks in (
        (model(positions="alibi"), "a bias"),
        (model(dropout=0.5).train(), "a dropout of 0.5"),
    ):
        with (
            attending_with(made, flash_attention),
            pytest.raises(ValueError, match=f"core computes .* without {lacks}"),
        ):
            made(text)
    with (
        pytest.raises(ValueError, match="BlockAttention in it, got Linear"),
        attending_with(torch.nn.Linear(2, 2), flash_attention),
    ):
        pass


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 0}, "window must be an integer of at least 1, got 0"),
        ({"sinks": 2}, "got sinks 2 and no window"),
        ({"window": 3, "sinks": -1}, "sinks must be an integer of at least 0, got -1"),
        (
            {"global_interval": 2},
            "global_interval needs a window .*got 2 and no window",
        ),
    ],
    ids=["window", "sinks alone", "sinks", "global alone"],
)
def test_bad_windows_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        model(**options)


def test_with_zeros_at_the_start_every_block_passes_on_what_it_got():
    for activation in ("gelu", "swiglu"):
        made = model(zero_init=True, activation=activation)
        embedded = made.token_embedding(ids(B, T)) + made.position_embedding.weight[:T]
        expected = made.final_norm(embedded) @ made.head.weight.T
        assert_close(made(ids(B, T)), expected)
    usual = model()
    assert all(
        layer.weight.any() for block in usual.blocks for layer in block.last_layers()
    )
    assert len(model(mlp=False).blocks[0].last_layers()) == 1
    # All else is drawn as without the zeros.
    assert made.blocks[1].mlp.up.weight.equal(
        model(activation="swiglu").blocks[1].mlp.up.weight
    )


def test_every_block_gets_its_share_of_the_embeddings():
    made, usual = model(embedding_skip=True), model()
    assert_close(made(ids(B, T)), usual(ids(B, T)))  # at first a share of nothing
    got = []
    for block in made.blocks:
        block.register_forward_pre_hook(lambda _, args: got.append(args[0]))
    made.residual_scale.data = torch.tensor([1.0, 0.5])
    made.embedding_scale.data = torch.tensor([0.0, 3.0])
    made(ids(B, T))
    embedded, second = got
    first = made.blocks[0](embedded)
    assert_close(second, 0.5 * first + 3 * embedded)


def test_shares_of_the_embeddings_are_trained_without_decay():
    made = model(embedding_skip=True)
    config = TrainConfig(steps=3, batch_size=2, learning_rate=0.01, weight_decay=0.1)
    (adamw,) = make_optimizers(made, config)
    for group in adamw.param_groups:
        if any(p is made.embedding_scale for p in group["params"]):
            assert group["weight_decay"] == 0
            break
    else:
        raise AssertionError("nobody trains it")
    torch.nn.functional.cross_entropy(
        made(ids(B, T)).flatten(0, 1), ids(B, T).flatten()
    ).backward()
    assert made.embedding_scale.grad.abs().min() > 0


def test_a_cache_knows_the_shares_of_the_embeddings():
    made = model(embedding_skip=True)
    made.embedding_scale.data += 0.7
    cache = made.new_cache()
    parts = [made(one, cache=cache) for one in ids(B, 9).split([4, 1, 4], dim=1)]
    assert_close(torch.cat(parts, dim=1), made(ids(B, 9)))


def test_in_bfloat16_training_attends_without_the_fused_path(monkeypatch):
    made, called = model(), []
    fused = torch.nn.functional.scaled_dot_product_attention

    def counted(*args, **options):
        called.append(torch.is_grad_enabled())
        return fused(*args, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", counted)
    expected = made(ids(B, T))
    assert called == [True, True]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = made(ids(B, T))
        assert len(called) == 2
        with torch.no_grad():
            made(ids(B, T))
    assert called[2:] == [False, False]
    assert_close(found.float(), expected, atol=0.02, rtol=0.02)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_kv_heads": 4}, "num_kv_heads must divide num_heads = 6, got 4"),
        ({"num_kv_heads": 0}, "num_kv_heads"),
        ({"qk_norm": 1}, "qk_norm"),
    ],
)
def test_bad_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        model(**options)
