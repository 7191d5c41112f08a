"""The 70 tensors that the book's sources printed, computed again through helpers.

Each function below is a figure's recipe, in the order of
tests/data/textbook_figures.json. It may set weights, choose the order in which layers
are made, concatenate, or apply a given mask; the mathematics is the helpers'.
"""

import json
import math
import sys

import pytest
import torch
from torch import nn

from helpers.attention import (
    CausalAttention,
    MultiHeadAttention,
    SelfAttentionV1,
    SelfAttentionV2,
    causal_mask,
    dot_product_scores,
    merge_heads,
    scaled_dot_product_attention,
    softmax,
    split_heads,
)
from tests import ROOT
from tests.samples.six_words import INPUTS

FIGURES = json.loads((ROOT / "tests/data/textbook_figures.json").read_text("utf-8"))
PRINTED_TO = 5.1e-5  # half of the fourth decimal, and the rounding of float32
DROPOUT = {"causal.dropout03", "dropout.ones_seed123", "dropout.weights_seed123"}
RECIPES = {}


def figure(name):
    """Register a recipe under the figure's name."""

    def register(recipe):
        RECIPES[name] = recipe
        return recipe

    return register


def expected(name):
    """The printed tensor; "-inf" stands for minus infinity."""

    def number(entry):
        return [number(e) for e in entry] if isinstance(entry, list) else float(entry)

    return torch.tensor(number(FIGURES[name]["expected"]))


def seeded(seed, make):
    """What ``make`` gives right after the seed."""
    torch.manual_seed(seed)
    with torch.no_grad():
        return make()


def attend(queries, keys, values, **options):
    """Context and weights, by name."""
    context, weights = scaled_dot_product_attention(queries, keys, values, **options)
    return {"context": context, "weights": weights}


# Source 0 and 1: dot products of the words themselves

figure("naive.scores")(lambda: dot_product_scores(INPUTS, INPUTS))
figure("naive.weights")(lambda: softmax(dot_product_scores(INPUTS, INPUTS)))
figure("naive.context")(lambda: softmax(dot_product_scores(INPUTS, INPUTS)) @ INPUTS)


# Queries, keys and values with the weights of V1 at seed 123


def v1():
    return seeded(123, lambda: SelfAttentionV1(3, 2))


def v1_parts():
    layer = v1()
    names = ("query", "key", "value")
    return [INPUTS @ getattr(layer, f"W_{name}").detach() for name in names]


for part in ("W_query", "W_key", "W_value"):
    figure(f"qkv.{part}")(lambda part=part: getattr(v1(), part))
for place, part in enumerate(("query_2", "key_2", "value_2")):
    figure(f"qkv.{part}")(lambda place=place: v1_parts()[place][1])
figure("qkv.keys")(lambda: v1_parts()[1])
figure("qkv.values")(lambda: v1_parts()[2])


@figure("qkv.scores")
def v1_scores():
    queries, keys, _ = v1_parts()
    return dot_product_scores(queries, keys)


@figure("qkv.scores_2")
def v1_scores_2():
    queries, keys, _ = v1_parts()
    return dot_product_scores(queries[1:2], keys)[0]


figure("qkv.score_22")(lambda: v1_scores_2()[1])


def v1_word_2():
    queries, keys, values = v1_parts()
    return attend(queries[1:2], keys, values)


figure("qkv.weights_2")(lambda: v1_word_2()["weights"][0])
figure("qkv.context_2")(lambda: v1_word_2()["context"][0])
figure("self_attention_v1.seed123")(lambda: v1()(INPUTS))


@figure("qkv.two_keys")
def two_keys():
    keys = torch.tensor([[[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]])
    return attend(torch.tensor([[[1.0, 2.0, 3.0]]]), keys, keys)["context"]


# V2, and causal weights from it


def v2(seed):
    return seeded(seed, lambda: SelfAttentionV2(3, 2))


def causal_weights(layer):
    queries, keys, values = (
        projection(INPUTS).detach()
        for projection in (layer.W_query, layer.W_key, layer.W_value)
    )
    return attend(queries, keys, values, mask=causal_mask(6))["weights"]


figure("self_attention_v2.seed123")(lambda: v2(123)(INPUTS))
figure("self_attention_v2.seed789")(lambda: v2(789)(INPUTS))


@figure("causal.dropout03")
def dropout03():
    v2(123)
    return nn.Dropout(0.3)(causal_weights(SelfAttentionV2(3, 2)))


@figure("causal.weights_unmasked")
def weights_unmasked():
    return v2(789)(INPUTS, return_weights=True)[1]


figure("causal.tril")(lambda: causal_mask(6).float())
figure("causal.masked_simple")(lambda: weights_unmasked() * causal_mask(6))


@figure("causal.renormalised")
def renormalised():
    masked = weights_unmasked() * causal_mask(6)
    return masked / masked.sum(dim=-1, keepdim=True)


@figure("causal.scores")
def causal_scores():
    layer = v2(789)
    return dot_product_scores(layer.W_query(INPUTS), layer.W_key(INPUTS))


@figure("causal.scores_masked")
def causal_scores_masked():
    return causal_scores().masked_fill(~causal_mask(6), -math.inf)


figure("causal.weights")(lambda: causal_weights(v2(789)))
figure("dropout.ones_seed123")(
    lambda: seeded(123, lambda: nn.Dropout(0.5)(torch.ones(6, 6)))
)


@figure("dropout.weights_seed123")
def dropout_on_weights():
    weights = causal_weights(v2(789))
    return seeded(123, lambda: nn.Dropout(0.5)(weights))


SMALL_SCORES = torch.tensor([0.1, -0.2, 0.3, -0.2, 0.5])
figure("softmax.plain")(lambda: softmax(SMALL_SCORES))
figure("softmax.times8")(lambda: softmax(8 * SMALL_SCORES))


# What the sources printed without a working mask


@figure("bug.causal_without_mask")
def causal_without_mask():
    return v2(123)(torch.stack([INPUTS, INPUTS]))


@figure("bug.wrapper_without_mask")
def wrapper_without_mask():
    heads = seeded(123, lambda: [SelfAttentionV2(3, 2) for _ in range(2)])
    return torch.cat([head(INPUTS) for head in heads], dim=-1)


# The walk through splitting heads, from given weights


def split_module():
    """MultiHeadAttention with the walk's weights; nn.Linear keeps them transposed."""
    module = MultiHeadAttention(6, 6, 3, 0.5, num_heads=2)
    for name in ("W_query", "W_key", "W_value"):
        getattr(module, name).weight = nn.Parameter(expected(f"split.{name}").T)
    return module


def split_projected():
    module, x = split_module(), expected("split.inputs")
    layers = {
        "queries": module.W_query,
        "keys": module.W_key,
        "values": module.W_value,
    }
    return {name: layer(x) for name, layer in layers.items()}


for name in ("W_query", "W_key", "W_value"):
    # Given, not computed: what the module does to each feature alone.
    figure(f"split.{name}")(
        lambda name=name: getattr(split_module(), name)(torch.eye(6))
    )
figure("split.inputs")(lambda: merge_heads(split_heads(expected("split.inputs"), 2)))
for name in ("keys", "queries", "values"):
    figure(f"split.{name}")(lambda name=name: split_projected()[name])
    figure(f"split.{name}_grouped")(
        lambda name=name: split_heads(split_projected()[name], 2)
    )
figure("split.keys_unrolled")(
    lambda: split_heads(split_projected()["keys"], 2).transpose(1, 2)
)
figure("split.keys_grouped_T")(
    lambda: split_heads(split_projected()["keys"], 2).transpose(2, 3)
)


@figure("split.scores")
def split_scores():
    parts = split_projected()
    return dot_product_scores(
        split_heads(parts["queries"], 2), split_heads(parts["keys"], 2)
    )


@figure("split.scores_masked")
def split_scores_masked():
    return split_scores().masked_fill(~causal_mask(3), -math.inf)


@figure("split.context")
def split_context():
    heads = {name: split_heads(x, 2) for name, x in split_projected().items()}
    weights = attend(**heads, mask=causal_mask(3))["weights"]
    kept = torch.zeros(1, 2, 3, 3)
    kept[0, 0, 2, 2] = 2.0
    kept[0, 1].fill_diagonal_(2.0)
    return (weights * kept) @ heads["values"]


figure("split.context_merged")(lambda: merge_heads(split_context()))


# Multi-head attention at a seed


@figure("mha.seed123_qvk")
def mha_query_value_key():
    module = MultiHeadAttention(3, 2, 6, 0.0, num_heads=2)
    torch.manual_seed(123)
    drawn = [nn.Linear(3, 2, bias=False) for _ in range(3)]
    module.W_query, module.W_value, module.W_key = drawn
    module.out_proj = nn.Linear(2, 2)
    return module(INPUTS)


@figure("mha.seed123_six_wide")
def mha_six_wide():
    module = seeded(123, lambda: MultiHeadAttention(6, 6, 3, 0.0, num_heads=2))
    return module(INPUTS.view(3, 6))


# "cat sat mat"

THREE_WORDS = torch.eye(4)[:3]


def xavier(names, *, after_default):
    """nn.Linear(4, 4) layers with Xavier weights, all drawn from seed 42."""

    def make():
        torch.manual_seed(42)
        layers = {name: nn.Linear(4, 4, bias=False) for name in names}
        if not after_default:
            torch.manual_seed(42)
        for layer in layers.values():
            nn.init.xavier_uniform_(layer.weight)
        return layers

    with torch.no_grad():
        return make()


def three_words_parts(*, after_default=False):
    layers = xavier(("query", "key", "value"), after_default=after_default)
    return [layer(THREE_WORDS).detach() for layer in layers.values()]


figure("three_words.scores")(lambda: dot_product_scores(THREE_WORDS, THREE_WORDS))
figure("three_words.weights")(
    lambda: softmax(dot_product_scores(THREE_WORDS, THREE_WORDS))
)
figure("three_words.context")(
    lambda: softmax(dot_product_scores(THREE_WORDS, THREE_WORDS)) @ THREE_WORDS
)
figure("three_words.W_query")(
    lambda: xavier(("query",), after_default=False)["query"].weight
)
for place, name in enumerate(("queries", "keys", "values")):
    figure(f"three_words.{name}")(lambda place=place: three_words_parts()[place])


@figure("three_words.scaled_scores")
def three_words_scaled_scores():
    queries, keys, _ = three_words_parts()
    return dot_product_scores(queries, keys) / math.sqrt(4)


figure("three_words.learned_weights")(lambda: attend(*three_words_parts())["weights"])
figure("three_words.learned_context")(lambda: attend(*three_words_parts())["context"])


def three_words_heads():
    return [split_heads(x, 2) for x in three_words_parts(after_default=True)]


for head in (0, 1):
    figure(f"three_words.head{head}_queries")(
        lambda head=head: three_words_heads()[0][head]
    )
    figure(f"three_words.head{head}_weights")(
        lambda head=head: attend(*three_words_heads())["weights"][head]
    )


@figure("three_words.concatenated")
def three_words_concatenated():
    return merge_heads(attend(*three_words_heads())["context"])


@figure("three_words.projected")
def three_words_projected():
    out_proj = xavier(("out_proj",), after_default=False)["out_proj"]
    return out_proj(three_words_concatenated())


# One head on random numbers, layers made key first


@figure("head.inputs")
def head_inputs():
    return seeded(1337, lambda: torch.randn(2, 4, 8))[0]


@figure("head.queries")
def head_queries():
    module = CausalAttention(8, 8, 4, 0.0)
    torch.manual_seed(1337)
    x = torch.randn(2, 4, 8)
    module.W_key, module.W_query = (nn.Linear(8, 8, bias=False) for _ in range(2))
    return module.W_query(x)[0]


def test_every_figure_has_a_recipe():
    assert sorted(RECIPES) == sorted(FIGURES)
    assert len(FIGURES) == 70


@pytest.mark.parametrize("name", FIGURES)
def test_figure_is_reproduced(name):
    if name in DROPOUT and not sys.platform.startswith("linux"):
        pytest.skip("dropout masks differ between operating systems")
    computed = RECIPES[name]()
    torch.testing.assert_close(
        computed.detach(), expected(name), rtol=0, atol=PRINTED_TO
    )
