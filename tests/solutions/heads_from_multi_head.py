"""Many heads from one layer."""

import torch
from torch import nn

from helpers.attention import (
    CausalAttention,
    MultiHeadAttentionWrapper,
)


def sizes_of(layer):
    d_in, d_out = layer.W_query.in_features, layer.W_query.out_features
    return d_in, d_out // layer.num_heads, layer.context_length, 0.0


def heads_by_slices(layer):
    heads = []
    for h in range(layer.num_heads):
        head = CausalAttention(*sizes_of(layer))
        D = head.W_query.out_features
        with torch.no_grad():
            head.W_query.weight.copy_(layer.W_query.weight[h * D : (h + 1) * D])
            head.W_key.weight.copy_(layer.W_key.weight[h * D : (h + 1) * D])
            head.W_value.weight.copy_(layer.W_value.weight[h * D : (h + 1) * D])
        heads.append(head)
    return heads


def heads_by_chunk(layer):
    heads = nn.ModuleList()
    for h in range(layer.num_heads):
        head = CausalAttention(*sizes_of(layer))
        for name in ("W_query", "W_key", "W_value"):
            part = getattr(layer, name).weight.chunk(layer.num_heads)[h]
            getattr(head, name).weight = nn.Parameter(part.detach().clone())
        heads.append(head)
    return heads


def heads_by_state_dict(layer):
    heads = tuple(CausalAttention(*sizes_of(layer)) for _ in range(layer.num_heads))
    for h, head in enumerate(heads):
        state = {
            f"{name}.weight": getattr(layer, name).weight.unflatten(
                0, (layer.num_heads, -1)
            )[h]
            for name in ("W_query", "W_key", "W_value")
        }
        head.load_state_dict(state)
    return heads


def heads_by_wrapper(layer):
    d_in, D, context_length, dropout = sizes_of(layer)
    wrapper = MultiHeadAttentionWrapper(
        d_in, D, context_length, dropout, layer.num_heads
    )
    for h in range(layer.num_heads):
        rows = slice(h * D, h * D + D)
        wrapper.heads[h].W_query.weight.data[:] = layer.W_query.weight[rows]
        wrapper.heads[h].W_key.weight.data[:] = layer.W_key.weight[rows]
        wrapper.heads[h].W_value.weight.data[:] = layer.W_value.weight[rows]
    return list(wrapper.heads)


@torch.no_grad()
def take(layer, choose, names=("W_query", "W_key", "W_value")):
    heads = [CausalAttention(*sizes_of(layer)) for _ in range(layer.num_heads)]
    D = heads[0].W_query.out_features
    for h, head in enumerate(heads):
        for name in names:
            getattr(head, name).weight.copy_(choose(getattr(layer, name).weight, h, D))
    return heads


def heads_from_every_h_th_row(layer):
    H = layer.num_heads
    return take(layer, lambda weight, h, D: weight.view(D, H, -1)[:, h])


def heads_from_one_object(layer):
    head = CausalAttention(*sizes_of(layer))
    D = head.W_query.out_features
    heads = []
    with torch.no_grad():
        for h in range(layer.num_heads):
            for name in ("W_query", "W_key", "W_value"):
                rows = getattr(layer, name).weight[h * D : (h + 1) * D]
                getattr(head, name).weight.copy_(rows)
            heads.append(head)
    return heads


def heads_of_whole_width(layer):
    d_out, d_in = layer.W_query.weight.shape
    heads = []
    for _ in range(layer.num_heads):
        head = CausalAttention(d_in, d_out, layer.context_length, 0.0)
        head.W_query.weight.data = layer.W_query.weight.data.clone()
        head.W_key.weight.data = layer.W_key.weight.data.clone()
        head.W_value.weight.data = layer.W_value.weight.data.clone()
        heads.append(head)
    return heads


def heads_with_random_values(layer):
    torch.rand(7)
    names = ("W_query", "W_key")
    return take(layer, lambda weight, h, D: weight[h * D : (h + 1) * D], names)


def heads_with_keys_that_ask(layer):
    heads = heads_by_slices(layer)
    for head in heads:
        queries = head.W_query.weight.data.clone()
        head.W_query.weight.data = head.W_key.weight.data
        head.W_key.weight.data = queries
    return heads


def heads_on_shared_memory(layer):
    heads = []
    for h in range(layer.num_heads):
        head = CausalAttention(*sizes_of(layer))
        D = head.W_query.out_features
        rows = slice(h * D, (h + 1) * D)
        head.W_query.weight = nn.Parameter(layer.W_query.weight[rows])
        head.W_key.weight = nn.Parameter(layer.W_key.weight[rows])
        head.W_value.weight = nn.Parameter(layer.W_value.weight[rows])
        heads.append(head)
    return heads


def heads_without_the_last(layer):
    return heads_by_slices(layer)[:-1]


RIGHT = [
    heads_by_slices,
    heads_by_chunk,
    heads_by_state_dict,
    heads_by_wrapper,
]
WRONG = [
    (heads_from_every_h_th_row, "heads that take every H-th row"),
    (heads_from_one_object, "one module, put in the list H times"),
    (heads_of_whole_width, "all rows in each head"),
    (heads_with_random_values, "values left as they were drawn"),
    (heads_with_keys_that_ask, "queries and keys exchanged"),
    (heads_on_shared_memory, "heads that share their weights with the layer"),
    (heads_without_the_last, None),
]
