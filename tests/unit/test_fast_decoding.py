"""helpers.models.fast_decoding: the model's logits, whatever it is made of."""

import dataclasses

import pytest
import torch
from torch import nn

from helpers.models.fast_decoding import Decoder
from helpers.models.language_model import CharLanguageModel, TransformerLM
from helpers.models.switches import attending_with, eval_mode
from helpers.models.transformer_block import CHOICES, RMSNorm, TransformerConfig
from helpers.tiles.flash import flash_attention

pytestmark = pytest.mark.usefixtures("one_thread")
B, CONTEXT, VOCAB = 3, 12, 7
SIZES = {"vocab_size", "context_length", "d_model", "num_heads", "num_layers"}
PARTS = (5, 1, 1, 2, 3)  # how many characters are read at a time
OPTIONS = [
    {"positions": "none"},
    {"positions": "rotary"},
    *({"activation": one} for one in CHOICES["activation"]),
    *({"norm": one} for one in CHOICES["norm"]),
    {"num_kv_heads": 2},
    {"num_kv_heads": 1, "positions": "rotary", "qk_norm": True},
    {"tie_weights": True},
    {"qkv_bias": True},
    {"mlp_ratio": 2},
    {"pair_embedding": True},
    {"embedding_skip": True},
    {"zero_init": True},
    {"dropout": 0.5},
    {"residual": True, "mlp": True},
    {"window": None, "sinks": 0, "global_interval": None},
    {"attention_gate": False},
    {"rotary_base": 100.0, "positions": "rotary"},
    {"norm_eps": 0.5},
    {"norm_eps": 0.5, "norm": "rms"},
    {"bias": False},
    {"mlp_hidden": 7},
    {"mlp_hidden": 7, "activation": "swiglu"},
    {"activation": "gelu_tanh", "norm_first": True, "causal": True},
    {"attention": "softmax", "full_attention_interval": None, "convolution": 1},
    {"rotary_fraction": 1.0, "rotary_scaling": "none", "no_rope_interval": None},
    {"rotary_scaling_factor": 2.0, "trained_length": 5},  # not asked for
    {"t5_buckets": 4, "t5_max_distance": 9},
]


def make(dtype=torch.float64, **options):
    torch.manual_seed(0)
    config = TransformerConfig(VOCAB, CONTEXT, 16, 4, 2, **options)
    model = TransformerLM(config).to(dtype)
    with torch.no_grad():
        for number in model.parameters():  # no gain of 1, no bias of 0
            number.add_(torch.randn_like(number) / 4)
    return model.eval()


def texts():
    generator = torch.Generator().manual_seed(1)
    return torch.randint(VOCAB, (B, CONTEXT), generator=generator)


def read_in_parts(model, ids):
    """The logits (B, len(PARTS), vocab_size) behind each part."""
    decoder = Decoder(model, len(ids))
    with torch.no_grad():
        found = [decoder.read(part) for part in ids.split(PARTS, dim=1)]
    assert decoder.length == CONTEXT
    return torch.stack(found, dim=1)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_its_logits_are_the_models(options):
    model, ids = make(**options), texts()
    assert Decoder.fits(model)
    ends = torch.tensor(PARTS).cumsum(0) - 1
    expected = model(ids)[:, ends]
    torch.testing.assert_close(read_in_parts(model, ids), expected, rtol=0, atol=1e-12)
    assert expected.diff(dim=1).abs().amin(dim=-1).max() > 0


def test_every_option_is_compared():
    fields = {field.name for field in dataclasses.fields(TransformerConfig)}
    assert {name for options in OPTIONS for name in options} == fields - SIZES


def changed(change):
    """A model whose first block somebody has changed by hand."""
    model = make(qkv_bias=True)
    change(model.blocks[0])
    return model.eval()


@pytest.mark.parametrize(
    "change",
    [
        lambda block: block.mlp.append(nn.Linear(16, 16).double()),
        lambda block: block.mlp.pop(1),
        lambda block: setattr(block, "mlp", nn.Sequential()),
        lambda block: setattr(block, "mlp", nn.Identity()),
        lambda block: setattr(block.attention, "out_proj", nn.Identity()),
        lambda block: setattr(block, "attention_norm", RMSNorm(16).double()),
    ],
    ids=["longer", "shorter", "empty", "no MLP", "no last layer", "another norm"],
)
def test_layers_put_in_by_hand_are_taken_as_they_are(change):
    model, ids = changed(change), texts()
    assert Decoder.fits(model)
    expected = model(ids)[:, torch.tensor(PARTS).cumsum(0) - 1]
    torch.testing.assert_close(read_in_parts(model, ids), expected, rtol=0, atol=1e-12)


def without_bias(block):
    block.attention.W_key.bias = None


@pytest.mark.parametrize(
    "change",
    [
        lambda block: setattr(block, "mlp", None),
        lambda block: setattr(block, "mlp_norm", None),
        lambda block: setattr(block, "residual", False),
        lambda block: setattr(block.attention, "window", 4),
        lambda block: setattr(block.attention, "num_heads", 2),
        lambda block: setattr(block.attention, "W_value", nn.Identity()),
        without_bias,
    ],
    ids=["mlp", "norm", "residual", "window", "heads", "projection", "bias"],
)
def test_what_a_config_no_longer_says_is_left_to_the_model(change):
    assert not Decoder.fits(changed(change))


def test_half_precision_is_that_of_the_model():
    model, ids = make(torch.bfloat16, positions="rotary"), texts()
    found = read_in_parts(model, ids)
    assert found.dtype == torch.bfloat16
    expected = model(ids)[:, torch.tensor(PARTS).cumsum(0) - 1]
    torch.testing.assert_close(found, expected, rtol=0.05, atol=0.05)


def test_another_gelu_is_asked_itself():
    model, ids = make(), texts()
    model.blocks[1].mlp[1] = nn.GELU(approximate="tanh").eval()
    expected = model(ids)[:, -1]
    found = read_in_parts(model, ids)[:, -1]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"window": 4},
        {"window": 4, "global_interval": 2},
        {"attention_gate": True},
        {"positions": "sinusoidal"},
        {"positions": "alibi"},
        {"positions": "t5"},
        {"positions": "rotary", "rotary_fraction": 0.5},
        {"positions": "rotary", "rotary_scaling": "ntk", "rotary_scaling_factor": 2},
        {"positions": "rotary", "no_rope_interval": 2},
        {"residual": False},
        {"mlp": False},
    ],
    ids=str,
)
def test_what_only_the_model_can_compute_is_left_to_it(options):
    assert not Decoder.fits(make(**options))


def test_a_model_that_something_else_sees_is_left_alone():
    model = make()
    assert not Decoder.fits(CharLanguageModel(VOCAB, CONTEXT, 16, 4))
    assert not Decoder.fits(model.train())
    with eval_mode(model):
        assert Decoder.fits(model)
        with torch.autocast("cpu", torch.bfloat16):
            assert not Decoder.fits(model)
        with attending_with(model, flash_attention):
            assert not Decoder.fits(model)
        for add in (
            nn.Module.register_forward_hook,
            nn.Module.register_forward_pre_hook,
        ):
            hook = add(model.blocks[1].mlp[0], lambda *_: None)
            assert not Decoder.fits(model)
            hook.remove()
        for add in (
            torch.nn.modules.module.register_module_forward_hook,
            torch.nn.modules.module.register_module_forward_pre_hook,
        ):
            hook = add(lambda *_: None)  # one that sees every module
            try:
                assert not Decoder.fits(model)
            finally:
                hook.remove()
        assert Decoder.fits(model)
        for layer in (model, model.final_norm, model.blocks[0].attention):
            layer.forward = lambda x: 0 * x
            assert not Decoder.fits(model)
            del layer.forward
        assert Decoder.fits(model)

    class Mine(TransformerLM):
        pass

    class Halved(nn.Linear):
        pass

    assert not Decoder.fits(Mine(model.config).eval())
    model.blocks[0].attention.W_key = Halved(16, 16).eval()
    assert not Decoder.fits(model)
