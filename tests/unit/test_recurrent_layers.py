"""Layers whose memory has a fixed size, alone and in a language model."""

import dataclasses
import itertools
import re

import pytest
import torch
import torch.nn.functional as F
from torch.testing import assert_close

from helpers.linear_attention import recurrent_delta_rule, recurrent_linear_attention
from helpers.models import recurrent_layers
from helpers.models.fast_decoding import Decoder
from helpers.models.generation import generate
from helpers.models.kv_cache import KVCache
from helpers.models.language_model import TransformerLM
from helpers.models.paged_cache import PageStore
from helpers.models.recurrent_layers import RULES, LayerState, RecurrentAttention
from helpers.models.transformer_block import BlockAttention, TransformerConfig
from helpers.parallel import tensor_parallel
from tests.samples.models import ids, model

B, T, H, D = 2, 9, 3, 4
C = H * D
KINDS = tuple(itertools.product(RULES, (1, 4)))


def make(rule, convolution=1, *, dtype=torch.float64, **options):
    torch.manual_seed(0)
    layer = RecurrentAttention(C, H, rule, convolution=convolution, **options)
    return layer.to(dtype)


def tokens(length=T, *, dtype=torch.float64):
    torch.manual_seed(1)
    return torch.randn(B, length, C, dtype=dtype)


def heads(x):
    return x.view(B, T, H, D).transpose(1, 2)


@pytest.mark.parametrize("rule", RULES)
def test_a_layer_is_its_steps(rule):
    layer, x = make(rule, qkv_bias=True), tokens()
    queries, keys, values = (
        heads(x @ one.weight.T + one.bias)
        for one in (layer.W_query, layer.W_key, layer.W_value)
    )
    queries, keys = (one / one.norm(dim=-1, keepdim=True) for one in (queries, keys))
    options = {}
    if rule in ("decay", "gated_delta"):
        kept = torch.sigmoid(x @ layer.W_decay.weight.T + layer.decay_bias)
        options["log_decay"] = kept.log().transpose(1, 2)
    if rule in ("delta", "gated_delta"):
        beta = torch.sigmoid(x @ layer.W_beta.weight.T).transpose(1, 2)
        context, _ = recurrent_delta_rule(queries, keys, values, beta, **options)
    else:
        context, _ = recurrent_linear_attention(queries, keys, values, **options)
    root = (context.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
    normed = (context / root * layer.norm.weight).transpose(1, 2).reshape(B, T, C)
    expected = normed @ layer.out_proj.weight.T + layer.out_proj.bias
    assert_close(layer(x), expected, rtol=0, atol=1e-12)


def test_a_convolution_mixes_each_feature_with_its_last_positions():
    layer, x = make("linear", 3), tokens()
    parts = [layer.W_query, layer.W_key, layer.W_value]
    projected = torch.cat([part(x) for part in parts], dim=-1)
    mixed = torch.zeros_like(projected)
    for t, back in itertools.product(range(T), range(3)):
        if t >= back:
            mixed[:, t] += (
                layer.convolution.weight[:, 0, 2 - back] * projected[:, t - back]
            )
    mixed = F.silu(mixed + layer.convolution.bias)
    queries, keys, values = (heads(part) for part in mixed.chunk(3, dim=-1))
    context, _ = recurrent_linear_attention(
        F.normalize(queries, dim=-1), F.normalize(keys, dim=-1), values
    )
    expected = layer.norm(context).transpose(1, 2).reshape(B, T, C)
    assert_close(layer(x), layer.out_proj(expected), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("rule", "convolution"), KINDS)
def test_a_text_may_be_read_in_parts(rule, convolution):
    layer, x, state = make(rule, convolution), tokens(), LayerState()
    parts = [layer(part, state=state) for part in x.split([1, 5, 1, 2], dim=1)]
    assert_close(torch.cat(parts, dim=1), layer(x), rtol=0, atol=1e-12)
    assert state.matrices.shape == (B, H, D, D)


@pytest.mark.parametrize(("rule", "convolution"), KINDS)
def test_a_changed_future_leaves_the_past_as_it_was(rule, convolution):
    layer, x = make(rule, convolution), tokens()
    changed = x.clone()
    changed[:, 5:] = torch.randn(B, T - 5, C, dtype=x.dtype)
    assert_close(layer(x)[:, :5], layer(changed)[:, :5], rtol=0, atol=1e-14)
    assert (layer(x)[:, 5:] - layer(changed)[:, 5:]).abs().amin(dim=(0, 2)).min() > 0


@pytest.mark.parametrize("rule", RULES)
def test_weights_average_the_values_and_are_causal(rule):
    layer, x = make(rule), tokens()
    caught = []
    layer.norm.register_forward_pre_hook(lambda _, args: caught.append(args[0]))
    output, weights = layer(x, return_weights=True)
    assert_close(output, layer(x), rtol=0, atol=0)
    assert weights.shape == (B, H, T, T)
    assert torch.equal(weights, weights.tril())
    values = heads(layer.W_value(x))
    assert_close(weights @ values, caught[0], rtol=0, atol=1e-12)


def test_the_first_head_forgets_soonest_at_the_start():
    layer = make("decay")
    x = torch.zeros(1, 1, C, dtype=torch.float64)
    kept = layer._options(x)["log_decay"].exp().flatten()
    expected = 1 - 0.5 ** (5 + torch.arange(H, dtype=torch.float64))
    assert_close(kept, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("rule", RULES)
def test_chunks_change_nothing(rule, monkeypatch):
    layer, x = make(rule), tokens()
    expected = layer(x)
    monkeypatch.setattr(recurrent_layers, "CHUNK_SIZE", 4)
    assert_close(layer(x), expected, rtol=0, atol=1e-12)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="rule must be one of 'linear', 'decay'"):
        make("softmax")
    with pytest.raises(ValueError, match="num_heads must divide d_model"):
        RecurrentAttention(8, 3, "delta")
    with pytest.raises(ValueError, match="convolution must be an integer"):
        make("delta", 0)
    with pytest.raises(ValueError, match=re.escape("x must be 12 wide (d_in)")):
        make("delta")(tokens()[..., :8])


# --- in a language model -----------------------------------------------------------

SIDES = [{"attention": rule} for rule in RULES]
SIDES += [{"attention": "gated_delta", "full_attention_interval": 2}]
SIDES += [{"attention": "delta", "convolution": 3, "full_attention_interval": 4}]


def small(**options):
    return model(num_layers=4, **options).double()


def test_each_nth_layer_has_softmax():
    made = small(attention="delta", full_attention_interval=2)
    kinds = [type(block.attention) for block in made.blocks]
    assert kinds == [RecurrentAttention, BlockAttention] * 2
    config = dataclasses.replace(made.config, full_attention_interval=4)
    found = [config.attention_of(layer) for layer in range(8)]
    assert found == ["delta", "delta", "delta", "softmax"] * 2


@pytest.mark.parametrize("options", SIDES)
def test_a_model_goes_on_from_its_cache(options):
    made, some = small(**options), ids(B, 9)
    cache = made.new_cache()
    parts = [made(part, cache=cache) for part in some.split([4, 1, 3, 1], dim=1)]
    assert_close(torch.cat(parts, dim=1), made(some), rtol=0, atol=1e-12)


def test_a_call_that_fails_leaves_the_cache_as_it_was():
    made, some = small(attention="delta"), ids(B, 9)
    cache = made.new_cache()
    made(some[:, :4], cache=cache)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made.blocks[2], "forward", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            made(some[:, 4:5], cache=cache)
    assert_close(made(some[:, 4:], cache=cache), made(some)[:, 4:], rtol=0, atol=1e-12)


def test_a_cache_of_other_texts_is_refused():
    made = small(attention="delta")
    cache = made.new_cache()
    made(ids(B, 4), cache=cache)
    with pytest.raises(ValueError, match=re.escape("number of texts (B)")):
        made(ids(B + 1, 1), cache=cache)


@pytest.mark.parametrize("options", SIDES)
def test_generation_is_the_same_with_the_state_and_without(options):
    made, prompt = small(**options), ids(B, 3)
    assert not Decoder.fits(made)
    with_state = generate(made, prompt, 12, temperature=0)
    without = generate(made, prompt, 12, temperature=0, use_cache=False)
    assert torch.equal(with_state, without)


def test_the_state_does_not_grow():
    made = small(attention="delta")
    sizes = []
    for length in (2, 9):
        cache = KVCache(made)
        made(ids(B, length), cache=cache)
        states = cache._states.values()
        sizes.append(sum(state.matrices.numel() for state in states))
    width = made.config.d_model // made.config.num_heads
    assert sizes == [4 * B * made.config.d_model * width] * 2


def test_one_training_step_reaches_every_parameter():
    for options in SIDES:
        made = small(**options)
        made(ids(B, 9)).square().sum().backward()
        missing = [
            name
            for name, one in made.named_parameters()
            if one.grad is None or not one.grad.abs().sum() > 0
        ]
        assert [name for name in missing if "position" not in name] == []


def config(**options):
    return TransformerConfig(
        vocab_size=5, context_length=8, d_model=8, num_heads=2, num_layers=2, **options
    )


BAD = {
    "attention must be one of 'softmax', 'linear'": {"attention": "mamba"},
    "needs causal=True and no window, got causal False and window None": {
        "attention": "delta",
        "causal": False,
    },
    "needs causal=True and no window, got causal True and window 3": {
        "attention": "linear",
        "window": 3,
    },
    "full_attention_interval goes with an attention of fixed memory, got 4": {
        "full_attention_interval": 4
    },
    "convolution goes with an attention of fixed memory, got 4": {"convolution": 4},
    "convolution must be an integer of at least 1, got 0": {
        "attention": "delta",
        "convolution": 0,
    },
    "full_attention_interval must be an integer of at least 1, got 0": {
        "attention": "delta",
        "full_attention_interval": 0,
    },
}


@pytest.mark.parametrize("message", BAD)
def test_options_that_do_not_fit_are_named(message):
    with pytest.raises(ValueError, match=re.escape(message)):
        config(**BAD[message])


def test_pages_have_no_room_for_a_state():
    made = TransformerLM(config(attention="delta"))
    with pytest.raises(ValueError, match="keeps a state of fixed size"):
        PageStore(made, pages=2, page_size=2)


def test_a_text_that_other_processes_have_begun_is_refused():
    with pytest.raises(ValueError, match="start must be 0 where a layer's memory"):
        small(attention="delta")(ids(B, 4), start=3)


def test_heads_with_a_state_are_not_shared_out():
    block = small(attention="delta").blocks[0]
    with pytest.raises(ValueError, match="attention with softmax, got Recurrent"):
        tensor_parallel.parallelize_block(block)
