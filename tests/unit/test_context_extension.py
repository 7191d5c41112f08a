"""Rotary positions for longer texts, and what only a part of a model turns."""

import math

import pytest
import torch
import transformers
from torch.testing import assert_close
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.gpt_neox import modeling_gpt_neox
from transformers.models.llama import modeling_llama

from helpers import checks
from helpers.models.context_extension import (
    SCALINGS,
    extended_frequencies,
    interpolated,
    ntk_base,
    yarn_shares,
    yarn_temperature,
)
from helpers.models.positions import rotary_frequencies
from helpers.models.transformer_block import TransformerConfig
from tests.samples.models import ids, model

D, TRAINED, FACTOR = 16, 64, 4.0
THEIRS = {
    "none": {"rope_type": "default"},
    "interpolation": {"rope_type": "linear", "factor": FACTOR},
    # Dynamic: it scales by how long the text is, which here is four times as long.
    "ntk": {"rope_type": "dynamic", "factor": 1.0},
    "yarn": {
        "rope_type": "yarn",
        "factor": FACTOR,
        "original_max_position_embeddings": TRAINED,
    },
}


def theirs(scaling, *, width=D, length=TRAINED, base=10_000.0):
    """Frequencies and the factor of cosines and sines, as transformers has them."""
    settings = THEIRS[scaling] | {"rope_theta": base}
    if scaling == "yarn":
        settings["original_max_position_embeddings"] = length
    config = transformers.LlamaConfig(
        hidden_size=2 * width,
        num_attention_heads=2,
        max_position_embeddings=length,
        rope_parameters=settings,
    )
    if scaling == "none":
        return modeling_llama.LlamaRotaryEmbedding(config).inv_freq, 1.0
    compute = ROPE_INIT_FUNCTIONS[settings["rope_type"]]
    return compute(config, device="cpu", seq_len=int(FACTOR) * length)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize(
    ("width", "length", "base"),
    [(16, 64, 10_000.0), (64, 2_048, 100_000.0), (128, 8_192, 500_000.0), (8, 5, 50.0)],
)
def test_frequencies_are_those_of_transformers(scaling, width, length, base):
    ours = extended_frequencies(
        width, scaling, factor=FACTOR, trained_length=length, base=base
    )
    expected, size = theirs(scaling, width=width, length=length, base=base)
    assert_close(ours, expected, rtol=1e-5, atol=0)
    assert size == (yarn_temperature(FACTOR) if scaling == "yarn" else 1)


@pytest.mark.parametrize("scaling", SCALINGS[1:])
def test_no_longer_text_is_no_change(scaling):
    trained = rotary_frequencies(D)
    same = extended_frequencies(D, scaling, factor=1, trained_length=TRAINED)
    assert_close(same, trained)
    assert yarn_temperature(1) == 1


def test_squeezed_positions_turn_as_earlier_ones_did():
    trained = rotary_frequencies(D)
    longest = 4 * (TRAINED - 1)
    assert_close(
        longest * interpolated(trained, FACTOR), torch.tensor(TRAINED - 1.0) * trained
    )


def test_a_larger_base_keeps_the_first_pair_and_interpolates_the_last():
    trained, scaled = (
        rotary_frequencies(D, base=base) for base in (10_000.0, ntk_base(D, FACTOR))
    )
    ratios = trained / scaled
    assert ratios[0] == 1
    assert ratios[-1].item() == pytest.approx(FACTOR, rel=1e-5)
    assert (ratios.diff() > 0).all()


def test_yarn_keeps_pairs_that_turned_often_and_squeezes_those_that_hardly_did():
    shares = yarn_shares(64, 2_048)
    turns = 2_048 * rotary_frequencies(64) / (2 * math.pi)
    assert (shares[turns > 40] == 0).all()
    assert (shares[turns < 0.75] == 1).all()
    between = shares[(shares > 0) & (shares < 1)]
    assert len(between) > 5
    assert_close(between.diff(), between.diff()[:1].expand(len(between) - 1))


# --- in a model -------------------------------------------------------------------

OPTIONS = {
    "interpolation": {"rotary_scaling": "interpolation", "rotary_scaling_factor": 3},
    "ntk": {"rotary_scaling": "ntk", "rotary_scaling_factor": 3},
    "yarn": {
        **{"rotary_scaling": "yarn", "rotary_scaling_factor": 3},
        "trained_length": 5,
    },
    "a half": {"rotary_fraction": 0.5},
    "every other layer": {"no_rope_interval": 2},
}


def rotary(**options):
    return model(positions="rotary", d_model=24, num_heads=3, **options).eval()


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_cache_finds_what_the_whole_text_does(options):
    ours, text = rotary(**options), ids(2, 12)
    cache = ours.new_cache()
    parts = [ours(part, cache=cache) for part in text.split([5, 1, 6], dim=1)]
    assert_close(torch.cat(parts, dim=1), ours(text))
    plain = rotary()
    plain.load_state_dict(ours.state_dict())
    assert not torch.allclose(plain(text), ours(text))


@pytest.mark.parametrize("scaling", ["interpolation", "yarn"])
def test_a_model_reads_as_llama_does_in_transformers(scaling):
    torch.manual_seed(0)
    H, width, T = 2, 8, 24
    config = transformers.LlamaConfig(
        vocab_size=11,
        hidden_size=H * width,
        intermediate_size=20,
        num_hidden_layers=2,
        num_attention_heads=H,
        max_position_embeddings=32,
        rope_parameters=THEIRS[scaling]
        | {"rope_theta": 10_000.0}
        | ({"original_max_position_embeddings": 8} if scaling == "yarn" else {}),
        rms_norm_eps=1e-5,
    )
    llama = transformers.LlamaForCausalLM(config).eval()
    ours = model(
        **{"vocab_size": 11, "context_length": 32, "d_model": H * width},
        **{"num_heads": H, "num_layers": 2, "positions": "rotary", "norm": "rms"},
        **{"activation": "swiglu", "mlp_hidden": 20, "bias": False},
        rotary_scaling=scaling,
        rotary_scaling_factor=FACTOR,
        trained_length=8,
    ).eval()
    copy_llama(llama.state_dict(), ours)
    text = torch.randint(11, (2, T))
    with torch.no_grad():
        assert_close(ours(text), llama(text).logits, rtol=1e-4, atol=1e-5)


def copy_llama(state, ours):
    """Give a model the weights of a Llama."""
    from helpers.models.pretrained.architectures import llama_names

    names = llama_names(ours.config.num_layers) | {"head.weight": "lm_head.weight"}
    ours.load_state_dict({name: state[old] for name, old in names.items()})


def test_a_part_turns_as_in_gpt_neox():
    torch.manual_seed(0)
    ours = rotary(rotary_fraction=0.5)
    heads = torch.randn(2, 3, 7, 8)
    turned = ours._rotation(0, ids(2, 7))(heads)
    angles = torch.outer(torch.arange(7.0), rotary_frequencies(4))
    both = torch.cat([angles, angles], dim=-1)
    expected, _ = modeling_gpt_neox.apply_rotary_pos_emb(
        heads, heads, both.cos()[None], both.sin()[None]
    )
    assert_close(turned, expected)
    assert torch.equal(turned[..., 4:], heads[..., 4:])


def test_a_layer_without_positions_is_one_of_a_model_without():
    ours = rotary(no_rope_interval=1)
    none = model(positions="none", d_model=24, num_heads=3).eval()
    none.load_state_dict(ours.state_dict())
    assert torch.equal(ours(ids(2, 9)), none(ids(2, 9)))


# --- what doesn't fit -------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: extended_frequencies(8, "linear"), r"scaling must be one of .*linear"),
        (lambda: extended_frequencies(8, "yarn"), "trained_length must be given"),
        (lambda: extended_frequencies(7, "none"), "head_dim must be even, got 7"),
        (
            lambda: interpolated(torch.ones(2), 0.5),
            r"factor must be at least 1, got 0\.5",
        ),
        (lambda: ntk_base(2, 4), "head_dim must be above 2, got 2"),
        (lambda: ntk_base(8, math.inf), "factor must be a finite number"),
        (lambda: yarn_shares(8, 0), "trained_length must be an integer"),
        (lambda: yarn_shares(8, 64, base=1), "base must be above 1, got 1"),
        (lambda: yarn_temperature(-1), "factor must be a finite number above 0"),
    ],
)
def test_what_does_not_fit_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rotary_fraction": 0.4}, r"leave an even number .* 0\.4, which leaves 3"),
        ({"rotary_fraction": 0.1}, r"leave an even number .* 0\.1, which leaves 0"),
        ({"rotary_scaling": "yarn"}, "trained_length must be given"),
        (
            {"positions": "alibi", "rotary_scaling": "ntk"},
            "need positions 'rotary', got 'alibi'",
        ),
        (
            {"positions": "none", "no_rope_interval": 2},
            "need positions 'rotary', got 'none'",
        ),
    ],
)
def test_options_that_contradict_each_other_are_named(options, message):
    sizes = {"vocab_size": 9, "context_length": 8, "d_model": 16, "num_heads": 2}
    both = {"positions": "rotary", "num_layers": 1, **options}
    with pytest.raises(ValueError, match=message):
        TransformerConfig(**sizes, **both)


@pytest.mark.parametrize("factor", [1.0, 8.0])
def test_the_exercise_on_llama_is_what_transformers_has(factor):
    config = transformers.LlamaConfig(
        hidden_size=256,
        num_attention_heads=2,
        max_position_embeddings=1_024,
        rope_parameters={
            **{"rope_type": "llama3", "rope_theta": 500_000.0, "factor": factor},
            **{"low_freq_factor": 1.0, "high_freq_factor": 4.0},
            "original_max_position_embeddings": 512,
        },
    )
    theirs, temperature = ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    speeds = extended_frequencies(128, "none", base=500_000.0)
    ours = checks.EXERCISES["llama_frequencies"].reference(speeds, factor, 512)
    torch.testing.assert_close(ours, theirs)
    assert temperature == 1
