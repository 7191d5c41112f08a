"""T5's relative position biases: their ranges, and a model that has them."""

import pytest
import torch
from torch.testing import assert_close
from transformers.models.t5.modeling_t5 import T5Attention

from helpers.attention import scaled_dot_product_attention
from helpers.models.relative_biases import T5Bias, t5_buckets
from tests.samples.models import ids, model


@pytest.mark.parametrize(
    ("num_buckets", "max_distance"), [(32, 128), (8, 20), (2, 2), (5, 9), (16, 32)]
)
def test_buckets_are_those_of_transformers(num_buckets, max_distance):
    distances = torch.arange(-5, 400)
    expected = T5Attention._relative_position_bucket(
        -distances,
        bidirectional=False,
        num_buckets=num_buckets,
        max_distance=max_distance,
    )
    found = t5_buckets(distances, num_buckets, max_distance)
    assert torch.equal(found, expected)
    assert set(found.tolist()) == set(range(num_buckets))
    assert found[distances >= max_distance].unique().tolist() == [num_buckets - 1]


def test_the_bias_is_that_of_each_distances_bucket():
    torch.manual_seed(0)
    bias = T5Bias(3, 8, 20)
    found = bias(4, 30)
    assert found.shape == (3, 4, 30)
    for t in range(4):
        for s in range(30):
            bucket = t5_buckets(torch.tensor(26 + t - s), 8, 20)
            assert torch.equal(found[:, t, s], bias.table.weight[bucket])


def test_a_model_adds_it_to_the_scores_of_every_layer_and_trains_it():
    ours = model(positions="t5", t5_buckets=8, t5_max_distance=20).eval()
    found, bias = {}, ours.position_bias
    for layer, block in enumerate(ours.blocks):
        block.attention.register_forward_hook(
            lambda _, inputs, output, layer=layer: found.update(
                {layer: (*inputs, output)}
            )
        )
    text = ids(2, 10)
    ours(text).sum().backward()
    assert bias.table.weight.grad.abs().sum() > 0
    for layer, block in enumerate(ours.blocks):
        x, output = found[layer]
        attention = block.attention
        heads = [
            projection(x).unflatten(-1, (attention.num_heads, -1)).transpose(1, 2)
            for projection in (attention.W_query, attention.W_key, attention.W_value)
        ]
        mask = torch.ones(10, 10, dtype=torch.bool).tril()
        context, _ = scaled_dot_product_attention(
            *heads, mask=mask, bias=bias(10, 10)[None]
        )
        expected = attention.out_proj(context.transpose(1, 2).flatten(-2))
        assert_close(output, expected)


@pytest.mark.parametrize("options", [{}, {"window": 5}, {"window": 3, "sinks": 2}])
def test_a_cache_finds_what_the_whole_text_does(options):
    ours = model(positions="t5", t5_buckets=4, t5_max_distance=6, **options).eval()
    text, cache = ids(2, 12), ours.new_cache()
    parts = [ours(part, cache=cache) for part in text.split([5, 1, 1, 5], dim=1)]
    assert_close(torch.cat(parts, dim=1), ours(text))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: t5_buckets([1], 8, 20), "distances must be a torch.Tensor"),
        (lambda: t5_buckets(torch.ones(2), 8, 20), "must be int64, got torch.float32"),
        (lambda: t5_buckets(torch.ones(2).long(), 1, 20), "at least 2, got 1"),
        (lambda: t5_buckets(torch.ones(2).long(), 8, 4), r"above half of .* 8, got 4"),
        (lambda: T5Bias(0, 8, 20), "num_heads must be an integer"),
        (lambda: T5Bias(2, 8, 3), "max_distance must be above half of num_buckets"),
    ],
)
def test_what_does_not_fit_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
