"""experiments.equal_caches: kinds of attention that cache and weigh as much."""

import pytest
import torch

from experiments import block_parts, equal_caches, sweeps
from helpers.models.language_model import TransformerLM
from helpers.models.positions import rotary_angles, rotate
from helpers.models.transformer_block import BlockAttention, TransformerConfig

pytestmark = pytest.mark.usefixtures("one_thread")
RUN = {"text": "little-world", "rate": 0.008, "seed": 1, "steps": 3}
FEW = {"validation": 3, "test": 4}


@pytest.mark.parametrize("side", equal_caches.SIDES)
def test_each_side_caches_as_much(side):
    expected = equal_caches.CACHE
    assert equal_caches.cached(side) == expected
    x = torch.randn(1, 5, block_parts.WIDTH)
    layer = equal_caches.attention_of(side, 5)
    if "latent_dim" in equal_caches.SIDES[side]:
        cache = layer.new_cache()
        layer(x, cache=cache)
        assert cache.bytes == 4 * 5 * expected
    else:
        kept = [layer.W_key(x), layer.W_value(x)]
        assert sum(one.numel() for one in kept) == 5 * expected


def test_all_models_are_about_equally_large():
    each = 2 * block_parts.WIDTH + 1
    sizes = [
        equal_caches.weights_of(side) + each * equal_caches.hidden_of(side)
        for side in equal_caches.SIDES
    ]
    assert max(sizes) - min(sizes) <= each


def test_grouped_queries_are_those_of_a_block():
    T, C, D = 7, block_parts.WIDTH, 12
    torch.manual_seed(0)
    ours = equal_caches.GroupedQueries(C, 2, D)
    config = TransformerConfig(9, T, C, 4, 1, num_kv_heads=2, bias=False)
    theirs = BlockAttention(config)
    theirs.load_state_dict(ours.state_dict())
    angles = rotary_angles(0, T, D)

    def rotation(heads):
        return rotate(heads, angles.cos(), angles.sin())

    x = torch.randn(2, T, C)
    torch.testing.assert_close(ours(x), theirs(x, rotation=rotation))


@pytest.mark.parametrize("side", ["MQA", "MLA"])
def test_a_side_is_what_is_trained(side, monkeypatch):
    seen = []

    def train(model, data, config, **_):
        assert isinstance(model, TransformerLM)
        seen.append((model, config))

    monkeypatch.setattr(block_parts, "train", train)
    run = equal_caches.train_one(RUN | {"side": side}, **FEW)
    assert set(run) == {"validation", "test"}
    ((model, config),) = seen
    assert config.learning_rate == 0.008
    for block in model.blocks:
        kind = type(equal_caches.attention_of(side, 1))
        assert type(block.attention.attention) is kind
        assert block.mlp[0].out_features == equal_caches.hidden_of(side)


def test_a_run_repeats_itself():
    settings = RUN | {"side": "MLA"}
    run = equal_caches.train_one(settings, **FEW)
    assert run == equal_caches.train_one(settings, **FEW)
    assert run != equal_caches.train_one(settings | {"seed": 2}, **FEW)


def test_every_side_is_swept():
    asked = equal_caches.wanted({"runs": []})
    assert {one["side"] for one in asked} == {*equal_caches.SIDES}
    assert {one["seed"] for one in asked} == {sweeps.SEEDS[0]}
    assert len(asked) == 3 * len(equal_caches.SIDES)
