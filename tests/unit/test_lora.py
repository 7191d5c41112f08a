"""LoRA: frozen weights, thin matrices, and one layer again at the end."""

import dataclasses

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


def drawn(layer, rank, **options):
    """A pair whose product isn't zero."""
    both = LoRALinear(layer, rank, **options)
    nn.init.normal_(both.B)
    return both


@pytest.mark.parametrize(("alpha", "scale"), [(None, 1.0), (5.0, 2.5)])
def test_a_layer_is_its_formula_and_so_is_the_merged_one(alpha, scale):
    torch.manual_seed(1)
    layer, x = nn.Linear(4, 6), torch.randn(3, 7, 4)
    both = drawn(layer, 2, alpha=alpha)
    expected = x @ layer.weight.T + scale * (x @ both.A.T @ both.B.T) + layer.bias
    torch.testing.assert_close(both(x), expected)
    merged = both.merged()
    torch.testing.assert_close(merged(x), expected)
    assert not any(one.requires_grad for one in layer.parameters())
    merged.bias.data.zero_()  # a copy of its own
    assert layer.bias.all()


def test_a_is_drawn_as_a_linear_layers_weight_is():
    A = LoRALinear(nn.Linear(25, 100, bias=False), 20).A
    assert 0.95 / 5 < A.abs().max() <= 1 / 5  # uniform up to 1 / √d_in
    assert abs(A.mean()) < 0.02


def test_a_second_pair_beside_other_layers_leaves_the_first_trained(model):
    first = add_lora(model, ("W_query",), rank=2)
    both = add_lora(model, ("W_value",), rank=2)
    assert len(both) == 2 * len(first)
    assert all(one is other for one, other in zip(first, both, strict=False))
    trained = {one for one in model.parameters() if one.requires_grad}
    assert trained == set(both)


@pytest.mark.parametrize("apart", [False, True])
def test_a_shared_layer_stays_shared(apart):
    model = one = other = nn.Module()
    if apart:
        one, other = nn.Module(), nn.Module()
        model = nn.ModuleList([one, other])
    one.a = other.b = nn.Linear(4, 4)
    parameters = add_lora(model, ("a", "b"), rank=2)
    assert len(parameters) == 2
    assert one.a is other.b
    assert isinstance(one.a, LoRALinear)
    merge_lora(model)
    assert one.a is other.b
    assert type(one.a) is nn.Linear


def test_a_model_keeps_its_mode(model):
    for training in (False, True):
        model.train(training)
        add_lora(model, ("W_query",), rank=2)
        assert {one.training for one in model.modules()} == {training}
        merge_lora(model)
        assert {one.training for one in model.modules()} == {training}


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (("W_query", "W_key"), {"rank": 12}, "rank must be at most 8, got 12"),
        (("W_query",), {"rank": 2, "alpha": -1}, "alpha must be .* got -1"),
        (("W_query",), {"rank": 0}, "rank must be .* got 0"),
        (("W_query", "W_q"), {"rank": 2}, "linear layers, got 'W_q'"),
        (("W_query", "attention"), {"rank": 2}, "linear layers, got 'attention'"),
        (("W_value", "W_query"), {"rank": 2}, "plain Linear, got a LoRALinear"),
        ((), {"rank": 2}, "names must be at least one, got none"),
        ("W_value", {"rank": 2}, "names must be several names, got 'W_value'"),
        (None, {"rank": 2}, "names must be several names, got None"),
    ],
    ids=str,
)
def test_a_call_that_is_refused_leaves_the_model_as_it_was(names, options, message):
    model = TransformerLM(dataclasses.replace(CONFIG, num_kv_heads=1))
    if "LoRALinear" in message:
        add_lora(model, ("W_query",), rank=2)
    before = [type(one) for one in model.modules()]
    trained = [one.requires_grad for one in model.parameters()]
    with pytest.raises(ValueError, match=message):
        add_lora(model, names, **options)
    assert [type(one) for one in model.modules()] == before
    assert [one.requires_grad for one in model.parameters()] == trained


def test_bad_input_is_named():
    layer = nn.Linear(4, 6)
    with pytest.raises(ValueError, match="rank must be at most 4, got 5"):
        LoRALinear(layer, 5)
    with pytest.raises(ValueError, match="layer must be a Linear, got GELU"):
        LoRALinear(nn.GELU(), 2)
    with pytest.raises(ValueError, match="plain Linear, got a LoRALinear"):
        LoRALinear(LoRALinear(layer, 2), 2)
    for change in (lambda: add_lora(None, ("a",), 2), lambda: merge_lora(None)):
        with pytest.raises(ValueError, match="model must be a Module, got NoneType"):
            change()
