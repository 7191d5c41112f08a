"""What the studies of a real model share: heads by name, and runs without some."""

import random

import pytest
import torch

from experiments.real_model import copying_losses, heads, reading
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, watched
from helpers.models.transformer_block import TransformerConfig

B, T, V, L, H, D = 2, 5, 11, 2, 4, 6


@pytest.fixture
def model():
    torch.manual_seed(0)
    options = {"num_kv_heads": 2, "positions": "rotary"}
    return TransformerLM(TransformerConfig(V, T, H * D, H, L, **options)).eval()


@pytest.fixture
def ids():
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(1))


def test_others_are_drawn_from_the_same_layers_and_are_never_the_heads():
    chosen = [(2, 0), (2, 1), (5, 8)]
    draws = [heads.drawn(chosen, random.Random(seed)) for seed in range(30)]
    for draw in draws:
        assert [layer for layer, _ in draw] == [2, 2, 5]
        assert not set(draw) & set(chosen)
        assert len(set(draw)) == 3
    assert {one for draw in draws for one in draw} == {
        (layer, head) for layer in (2, 5) for head in range(9)
    } - set(chosen)
    assert copying_losses.beside(chosen, 7) == draws[7]
    most = [(1, head) for head in range(7)]
    assert len(heads.drawn(most, random.Random(0))) == 2  # there are no more others


@torch.no_grad()
def test_means_are_over_the_places_that_count_in_all_batches(model, ids):
    kept = torch.tensor([[True] * T, [False, True, True, False, False]])
    batches = [(ids[:1], kept[:1]), (ids[1:, :4], kept[1:, :4])]
    found = heads.mean_contexts(model, batches)
    assert found.keys() == {(layer, head) for layer in range(L) for head in range(H)}
    for (layer, head), mean in found.items():
        part = Part("context", layer, head)
        with watched(model, [part]) as given:
            model(ids)
        torch.testing.assert_close(mean, given[part][kept].mean(dim=0))


@torch.no_grad()
def test_without_heads_their_layer_adds_what_the_others_do(model, ids):
    layer, head = 1, 2
    own = heads.features(model, head)
    assert (own.start, own.stop) == (2 * D, 3 * D)
    part = Part("context", layer)
    with watched(model, [part]) as given:
        model(ids)
    context = given[part].clone()
    context[..., own] = 0.5
    attended = []
    hook = model.blocks[layer].attention.out_proj.register_forward_hook(
        lambda _, __, output: attended.append(output)
    )
    with heads.without(model, {(layer, head): 0.5}):
        model(ids)
    hook.remove()
    out = model.blocks[layer].attention.out_proj
    expected = context @ heads.output_of(model, layer).T
    if out.bias is not None:
        expected = expected + out.bias
    torch.testing.assert_close(attended[0], expected)


def test_names():
    assert heads.head_name((13, 8)) == "13.8"


class Letters:
    """A token for each letter, and for a space."""

    def encode(self, text):
        return [ord(one) for one in text.removeprefix(" ")]


def test_a_word_of_one_token_is_that_token():
    assert reading.single_tokens(["a", "c"], Letters()).tolist() == [97, 99]


def test_a_word_of_several_tokens_is_named():
    with pytest.raises(ValueError, match="of one token each, got 'ab'"):
        reading.single_tokens(["a", "ab"], Letters())
