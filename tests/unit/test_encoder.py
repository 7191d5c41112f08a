"""The encoder: both directions, norms behind, padding."""

import pytest
import torch
from torch import nn

from helpers.models.encoder import TransformerEncoder
from helpers.models.fast_decoding import Decoder
from helpers.models.language_model import TransformerLM
from helpers.models.switches import attending_with
from helpers.models.transformer_block import Block, TransformerConfig
from helpers.tiles.flash import flash_attention

SIZES = {
    "vocab_size": 30,
    "context_length": 12,
    "d_model": 16,
    "num_heads": 4,
    "num_layers": 2,
}


def bert(**options):
    return TransformerConfig(
        **SIZES | {"causal": False, "norm_first": False, "qkv_bias": True} | options
    )


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return TransformerEncoder(bert()).eval()


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_block_is_pytorchs_encoder_layer(norm_first):
    torch.manual_seed(1)
    block = Block(bert(norm_first=norm_first)).eval()
    theirs = nn.TransformerEncoderLayer(
        16, 4, 64, activation="gelu", batch_first=True, norm_first=norm_first
    ).eval()
    own = block.attention
    parts = (own.W_query, own.W_key, own.W_value)
    with torch.no_grad():
        for one in block.parameters():
            one.copy_(torch.randn_like(one) * 0.3)
        theirs.self_attn.in_proj_weight.copy_(torch.cat([p.weight for p in parts]))
        theirs.self_attn.in_proj_bias.copy_(torch.cat([p.bias for p in parts]))
    for mine, other in (
        (own.out_proj, theirs.self_attn.out_proj),
        (block.attention_norm, theirs.norm1),
        (block.mlp_norm, theirs.norm2),
        (block.mlp[0], theirs.linear1),
        (block.mlp[2], theirs.linear2),
    ):
        other.load_state_dict(mine.state_dict())
    x = torch.randn(3, 7, 16)
    torch.testing.assert_close(block(x), theirs(x))


def test_a_token_sees_what_stands_behind_it(encoder):
    ids = torch.randint(30, (1, 6))
    other = ids.clone()
    other[0, -1] = (ids[0, -1] + 1) % 30
    assert not torch.allclose(encoder(ids)[0, 0], encoder(other)[0, 0])


def test_padding_changes_nothing(encoder):
    ids = torch.randint(30, (2, 7))
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[1, 4:] = False
    features, weights = encoder(ids, mask=mask, return_weights=True)
    torch.testing.assert_close(features[1, :4], encoder(ids[1:, :4])[0])
    torch.testing.assert_close(features, encoder(ids, mask=mask))
    assert (weights[1][1, :, :, 4:] == 0).all()
    ids[1, 4:] = 0
    torch.testing.assert_close(encoder(ids, mask=mask)[1, :4], features[1, :4])


@pytest.mark.parametrize(
    ("ids", "mask", "message"),
    [
        ((2, 13), None, "ids has T = 13 tokens, 1 more than context_length 12"),
        ((2, 3), torch.ones(2, 3), "mask must be boolean"),
        ((2, 3), torch.ones(2, 4, dtype=torch.bool), r"shape of ids, \(2, 3\)"),
        ((2, 3), torch.tensor([[True] * 3, [False] * 3]), "got none in row 1"),
    ],
)
def test_bad_input_is_named(encoder, ids, mask, message):
    with pytest.raises(ValueError, match=message):
        encoder(torch.zeros(ids, dtype=torch.int64), mask=mask)


def test_ids_and_a_mask_on_another_device_are_named(encoder):
    ids, mask = torch.zeros(2, 3, dtype=torch.int64), torch.ones(2, 3).bool()
    with pytest.raises(ValueError, match=r"ids and the model's weights .*meta and cpu"):
        encoder(ids.to("meta"))
    with pytest.raises(ValueError, match=r"ids and mask .*cpu and meta"):
        encoder(ids, mask=mask.to("meta"))


def test_dropout_acts_on_the_embeddings_while_training():
    encoder, seen = TransformerEncoder(bert(dropout=0.5)), []
    encoder.blocks[0].register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    ids = torch.randint(30, (4, 12))
    encoder(ids)
    encoder.eval()(ids)
    dropped, whole = seen
    assert 0.4 < (dropped == 0).float().mean() < 0.6
    assert whole.all()
    torch.testing.assert_close(dropped, 2 * whole * (dropped != 0))


def test_another_core_attends_in_both_directions_too(encoder):
    ids = torch.randint(30, (2, 7))
    expected = encoder(ids)
    with attending_with(encoder, flash_attention):
        torch.testing.assert_close(encoder(ids), expected)


def test_initial_weights_are_as_documented():
    torch.manual_seed(0)
    encoder = TransformerEncoder(bert(vocab_size=500))
    assert encoder.token_embedding.weight.std().item() == pytest.approx(0.1, rel=0.05)
    assert encoder.position_embedding.weight.std().item() == pytest.approx(0.1, rel=0.2)
    linear = [one for one in encoder.modules() if isinstance(one, nn.Linear)]
    assert not any(one.bias.any() for one in linear)
    for one in linear:
        width = one.in_features**-0.5
        assert 0.9 * width < one.weight.abs().max() <= width


@pytest.mark.parametrize(
    "option", ["pair_embedding", "embedding_skip", "zero_init", "tie_weights"]
)
def test_options_for_language_models_are_refused(option):
    with pytest.raises(
        ValueError, match=f"config must have {option}=False here, got True"
    ):
        TransformerEncoder(bert(**{option: True}))


def test_configs_that_are_for_something_else():
    with pytest.raises(ValueError, match="causal=False and positions 'learned'"):
        TransformerEncoder(TransformerConfig(**SIZES))
    with pytest.raises(ValueError, match="causal=True, got False"):
        TransformerLM(bert())
    with pytest.raises(ValueError, match="a window needs causal=True"):
        bert(window=3)


def test_a_language_model_with_norms_behind():
    torch.manual_seed(2)
    model = TransformerLM(TransformerConfig(**SIZES, norm_first=False)).eval()
    assert isinstance(model.final_norm, nn.Identity)
    assert not Decoder.fits(model)
    ids = torch.randint(30, (1, 9))
    cache = model.new_cache()
    parts = [model(part, cache=cache) for part in ids.split(4, dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), model(ids))


def test_gpt2s_activation():
    block = Block(TransformerConfig(**SIZES, activation="gelu_tanh"))
    x = torch.linspace(-3, 3, 50)
    torch.testing.assert_close(
        block.mlp[1](x), nn.functional.gelu(x, approximate="tanh"), rtol=0, atol=0
    )
