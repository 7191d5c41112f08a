"""Exercise of chapter 6: one layer from many heads."""

import copy
import math

import torch
from torch import nn

from helpers import attention
from helpers.checks.cases import Mistake
from helpers.checks.comparing import sort_of
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.heads_and_layers import (
    MATRICES,
    changes_with,
    exchanged,
    layer_of,
    longest_text,
    rebuilding_cases,
    settle,
)
from helpers.checks.exercises.support.readers_layer import repeats
from helpers.checks.stubs import attempted


def _lists_of_heads():
    def make(d_in, D, context_length, H):
        sizes = (d_in, D, context_length, 0.0)
        return "heads", [attention.CausalAttention(*sizes) for _ in range(H)]

    return rebuilding_cases(make)


def _interleaved(weights):
    return torch.stack(weights, dim=1).flatten(0, 1)


def _side_by_side(heads):
    layer = layer_of(heads)
    for name in MATRICES:
        rows = [getattr(head, name).weight for head in heads]
        getattr(layer, name).weight = nn.Parameter(torch.cat(rows, dim=1))
    return layer


@torch.no_grad()
def _scaled_twice(heads):
    layer = layer_of(heads)
    layer.W_query.weight /= math.sqrt(len(heads))
    return layer


def _dropping(heads):
    layer = layer_of(heads)
    layer.dropout.p = 0.5
    return layer


def _wrapped(heads):
    wrapper = attention.MultiHeadAttentionWrapper(1, 1, 1, 0.0, 1)
    wrapper.heads = nn.ModuleList(heads)
    return wrapper


def _use_multi_head(build, heads, x):
    again = copy.deepcopy(heads)
    layer = attempted(build(heads))
    if not isinstance(layer, nn.Module):
        return _facts_of_layer(sort_of(layer))
    weight = getattr(getattr(layer, "W_query", None), "weight", None)
    if not isinstance(weight, torch.Tensor):
        return _facts_of_layer("a layer without W_query")
    D, d_in = again[0].W_query.weight.shape
    sort = f"a layer with W_query of shape {tuple(weight.shape)}"
    if weight.shape != (len(again) * D, d_in):
        return _facts_of_layer(sort)
    other = build(again)
    random = settle([layer], [other] if isinstance(other, nn.Module) else [])
    drops = not all(repeats(layer.train(), x) for _ in range(20))
    layer.eval()
    length = longest_text(layer, d_in, again[0].context_length)
    shared = changes_with(heads, lambda: layer(x))
    return _facts_of_layer(sort, random, length, shared, drops, layer(x))


def _facts_of_layer(
    sort, random="nothing", length="right", shared=False, drops=False, output=None
):
    return {
        "result": sort,
        "left random": random,
        "longest text": length,
        "changes when the heads are trained": shared,
        "drops weights in train mode": drops,
        "output": output,
    }


EXERCISE = Exercise(
    name="multi_head_from_heads",
    stub="my_multi_head_from_heads(heads)",
    asks=(
        "a function of a list of H ``attention.CausalAttention`` modules, without "
        "biases and dropout, that returns one ``attention.MultiHeadAttention`` whose "
        "output is that of the heads side by side, (B, T, H D)."
    ),
    returns={"output": "(B, T, H D)"},
    reference=layer_of,
    cases=_lists_of_heads,
    run=_use_multi_head,
    mistakes=(
        Mistake(
            "a copy between weights of different sizes",
            lambda heads: layer_of(heads, join=lambda rows: torch.cat(rows, dim=1)),
            "W_query.weight is (d_out, d_in): one row for each feature that comes out. "
            "The heads' rows go below each other, torch.cat along axis 0, into a layer "
            "whose d_out is that of all heads together.",
        ),
        Mistake(
            "the heads' matrices side by side",
            _side_by_side,
            "W_query.weight is (d_out, d_in): one row for each feature that comes out. "
            "The heads' rows go below each other, torch.cat along axis 0.",
        ),
        Mistake(
            "weights turned on their side",
            lambda heads: layer_of(heads, join=lambda rows: torch.cat(rows).T),
            "nn.Linear stores its weight as (d_out, d_in) already, in the heads and in "
            "the layer. Nothing has to be transposed.",
        ),
        Mistake(
            "heads in reverse order",
            lambda heads: layer_of(heads[::-1]),
            "All heads are there, but the output begins with the last one. Features "
            "0 to D - 1 belong to heads[0].",
        ),
        Mistake(
            "a layer whose rows take the heads in turn",
            lambda heads: layer_of(heads, join=_interleaved),
            "The layer cuts its rows in blocks: rows 0 to D - 1 are head 0. Yours puts "
            "row 0 of each head first. torch.cat keeps each head together.",
        ),
        Mistake(
            "an out_proj left as it was drawn",
            lambda heads: layer_of(heads, out=()),
            "A new layer's out_proj is random, and mixes the heads. To hand on what "
            "comes in, its weight is the identity matrix and its bias is 0.",
        ),
        Mistake(
            "an out_proj whose bias was left as it was drawn",
            lambda heads: layer_of(heads, out=("weight",)),
            "The weight hands on what comes in, and then the random bias is added to "
            "each token. It has to be 0.",
        ),
        Mistake(
            "values left as they were drawn",
            lambda heads: layer_of(heads, names=("W_query", "W_key")),
            "The weights of attention are right, but they average random values: "
            "W_value was not copied.",
        ),
        Mistake(
            "queries and keys exchanged",
            lambda heads: exchanged(layer_of(heads)),
            "The keys ask and the queries answer: the scores are turned on their side "
            "before the mask comes. One token doesn't show it, two do.",
        ),
        Mistake(
            "one wide head",
            lambda heads: layer_of(heads, num_heads=1),
            "All rows are in place, but num_heads says how to cut them. One wide head "
            "has one row of weights for each query.",
        ),
        Mistake(
            "scores divided by the root of the whole width",
            _scaled_twice,
            "Each head's scores are sums over its own D features, so the scale is the "
            "square root of D; the layer divides by that already. H D is too much.",
        ),
        Mistake(
            "a layer with dropout",
            _dropping,
            "The output is right in eval mode. The heads drop nothing in train mode "
            "either, so the layer's dropout is 0.",
        ),
        Mistake(
            "a layer for longer texts than its heads",
            lambda heads: layer_of(heads, longer=5),
            "The output is right, but the layer takes texts that the heads refuse. Its "
            "context_length is theirs.",
        ),
        Mistake(
            "a layer for shorter texts than its heads",
            lambda heads: layer_of(heads, longer=1 - heads[0].context_length),
            "The layer refuses texts that the heads take. Its context_length is "
            "theirs, whatever else it was built with.",
        ),
        Mistake(
            "a wrapper around the heads",
            _wrapped,
            "The output is right, but each head keeps its own matrices. One layer "
            "with one W_query, one W_key and one W_value is asked for.",
        ),
    ),
)
