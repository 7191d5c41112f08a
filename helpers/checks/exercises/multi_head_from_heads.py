"""Exercise of chapter 6: one layer from many heads."""

import copy

import torch
from torch import nn

from attention_audit.wording import sort_of
from helpers import attention
from helpers.checks.cases import Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.heads_and_layers import (
    changes_with,
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
            "one wide head",
            lambda heads: layer_of(heads, num_heads=1),
            "All rows are in place, but num_heads says how to cut them. One wide head "
            "has one row of weights for each query.",
        ),
    ),
)
