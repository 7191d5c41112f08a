"""An exercise of chapter 6: the heads of a layer, each as a layer of its own."""

import copy

import torch
from torch import nn

from attention_audit.wording import sort_of
from helpers import attention
from helpers.checks.cases import Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.heads_and_layers import (
    MATRICES,
    changes_with,
    exchanged,
    heads_of,
    layers_and_inputs,
    longest_text,
    settle,
)
from helpers.checks.exercises.support.readers_layer import repeats
from helpers.checks.stubs import attempted


@torch.no_grad()
def _whole_layers(layer):
    d_out, d_in = layer.W_query.weight.shape
    heads = []
    for _ in range(layer.num_heads):
        head = attention.CausalAttention(d_in, d_out, layer.context_length, 0.0)
        for name in MATRICES:
            getattr(head, name).weight.copy_(getattr(layer, name).weight)
        heads.append(head)
    return heads


def _use_heads(take_apart, layer, x):
    again = copy.deepcopy(layer)
    heads = attempted(take_apart(layer))
    if not isinstance(heads, (list, tuple, nn.ModuleList)):
        return _facts_of_heads(sort_of(heads))
    odd = [head for head in heads if not isinstance(head, nn.Module)]
    if odd or len(heads) == 0:
        return _facts_of_heads(f"a list with {sort_of(odd[0])}" if odd else "nothing")
    others = take_apart(again)
    several = isinstance(others, (list, tuple, nn.ModuleList))
    random = settle(heads, others if several else [])
    output = _side_by_side(heads, x)
    shared = changes_with([layer], lambda: _side_by_side(heads, x))
    drops = not all(repeats(head.train(), x) for head in heads for _ in range(20))
    length = longest_text(heads[-1].eval(), x.shape[-1], again.context_length)
    count = f"{len(heads)} modules"
    return _facts_of_heads(count, random, length, shared, drops, output)


def _side_by_side(heads, x):
    outputs = [head.eval()(x) for head in heads]
    if not all(isinstance(one, torch.Tensor) and one.dim() > 0 for one in outputs):
        return None
    if len({one.shape[:-1] for one in outputs}) > 1:
        return None
    return torch.cat(outputs, dim=-1)


def _facts_of_heads(
    sort, random="nothing", length="right", shared=False, drops=False, output=None
):
    return {
        "result": sort,
        "left random": random,
        "longest text": length,
        "changes when the layer is trained": shared,
        "drops weights in train mode": drops,
        "outputs side by side": output,
    }


EXERCISE = Exercise(
    name="heads_from_multi_head",
    stub="my_heads_from_multi_head(layer)",
    asks=(
        "a function of an ``attention.MultiHeadAttention``, without dropout and biases "
        "at its first three matrices, that returns a list of H new "
        "``attention.CausalAttention`` modules. Their outputs side by side are what "
        "the layer hands to ``out_proj``."
    ),
    returns={"outputs side by side": "(B, T, H D)"},
    reference=heads_of,
    cases=layers_and_inputs,
    run=_use_heads,
    mistakes=(
        Mistake(
            "heads that take every H-th row",
            lambda layer: heads_of(
                layer, rows=lambda weight, h, D: weight[h :: weight.shape[0] // D]
            ),
            "The layer cuts its rows in blocks: rows hD to (h+1)D - 1 are head h.",
        ),
        Mistake(
            "one module, put in the list H times",
            lambda layer: [heads_of(layer)[-1]] * layer.num_heads,
            "The list holds the same object again and again, and that has the rows "
            "that were copied last. Make a new CausalAttention inside the loop.",
        ),
        Mistake(
            "all rows in each head",
            _whole_layers,
            "A head's d_out is D, the width of one head, so it gets D rows of each "
            "matrix. Yours are as wide as the whole layer.",
        ),
        Mistake(
            "values left as they were drawn",
            lambda layer: heads_of(layer, names=("W_query", "W_key")),
            "The weights of attention are right, but they average random values: "
            "W_value was not copied.",
        ),
        Mistake(
            "queries and keys exchanged",
            lambda layer: [exchanged(head) for head in heads_of(layer)],
            "The keys ask and the queries answer: the scores are turned on their side "
            "before the mask comes. One token doesn't show it, two do.",
        ),
        Mistake(
            "heads that share their weights with the layer",
            lambda layer: heads_of(layer, share=True),
            "A slice of a tensor is a window on the same memory: when the layer is "
            "trained, your heads change with it. Copy the numbers: copy_ or clone.",
        ),
    ),
)
