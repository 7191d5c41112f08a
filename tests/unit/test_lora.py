"""LoRA: frozen weights, thin matrices, and one layer again at the end."""

import pytest
import torch
from torch import nn

from helpers.models.language_model import TransformerLM
from helpers.models.lora import LoRALinear, add_lora, merge_lora
from helpers.models.transformer_block import TransformerConfig

CONFIG = TransformerConfig(
    vocab_size=20, context_length=8, d_model=16, num_heads=2, num_layers=2
)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return TransformerLM(CONFIG)


def test_nothing_changes_at_first_and_only_thin_matrices_learn(model):
    ids = torch.randint(20, (2, 8))
    before = model(ids)
    frozen = {name: one.clone() for name, one in model.named_parameters()}
    parameters = add_lora(model, ("W_query", "W_value"), rank=3)
    assert [tuple(one.shape) for one in parameters] == [(3, 16), (16, 3)] * 4
    torch.testing.assert_close(model(ids), before, rtol=0, atol=0)
    optimizer = torch.optim.AdamW(parameters, lr=0.1)
    for _ in range(2):  # the first step moves B alone, since B is zero
        model(ids).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert not torch.allclose(model(ids), before)
    for name, one in model.named_parameters():
        if not name.endswith((".A", ".B")):
            assert torch.equal(one, frozen[name]), name
            assert one.grad is None


def test_merged_weights_give_the_same(model):
    add_lora(model, ("W_query", "out_proj"), rank=2, alpha=5.0)
    for one in model.parameters():
        if one.requires_grad:
            nn.init.normal_(one, std=0.3)
    ids = torch.randint(20, (2, 8))
    before = model(ids)
    merge_lora(model)
    torch.testing.assert_close(model(ids), before)
    assert not any(isinstance(one, LoRALinear) for one in model.modules())
    assert all(one.requires_grad for one in model.parameters())
    assert model.state_dict().keys() == TransformerLM(CONFIG).state_dict().keys()


def test_bad_input_is_named(model):
    layer = nn.Linear(4, 6)
    with pytest.raises(ValueError, match="rank must be at most 4, got 5"):
        LoRALinear(layer, 5)
    with pytest.raises(ValueError, match="layer must be a Linear, got GELU"):
        LoRALinear(nn.GELU(), 2)
    with pytest.raises(ValueError, match="got 'W_q'"):
        add_lora(model, ("W_q",), rank=2)
    assert all(one.requires_grad for one in model.parameters())
