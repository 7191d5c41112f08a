"""One layer from many heads."""

import torch
from torch import nn

from helpers.attention import (
    MultiHeadAttention,
)


def empty_layer(heads):
    d_in = heads[0].W_query.in_features
    d_out = heads[0].W_query.out_features * len(heads)
    context_length = heads[0].context_length
    return MultiHeadAttention(d_in, d_out, context_length, 0.0, len(heads))


def set_identity(layer):
    with torch.no_grad():
        layer.out_proj.weight.copy_(torch.eye(layer.out_proj.in_features))
        layer.out_proj.bias.fill_(0.0)


def layer_by_cat(heads):
    layer = empty_layer(heads)
    with torch.no_grad():
        layer.W_query.weight.copy_(torch.cat([h.W_query.weight for h in heads], dim=0))
        layer.W_key.weight.copy_(torch.cat([h.W_key.weight for h in heads], dim=0))
        layer.W_value.weight.copy_(torch.cat([h.W_value.weight for h in heads], dim=0))
    set_identity(layer)
    return layer


def layer_by_rows(heads):
    layer = empty_layer(heads)
    D = heads[0].W_key.out_features
    for h, head in enumerate(heads):
        for name in ("W_query", "W_key", "W_value"):
            part = getattr(head, name).weight.detach()
            getattr(layer, name).weight.data[h * D : (h + 1) * D] = part
    layer.out_proj.weight.data = torch.eye(D * len(heads))
    layer.out_proj.bias.data.zero_()
    return layer


def layer_without_out_proj(heads):
    layer = empty_layer(heads)
    for name in ("W_value", "W_key", "W_query"):
        stacked = torch.stack([getattr(head, name).weight for head in heads])
        getattr(layer, name).weight = nn.Parameter(stacked.flatten(0, 1).detach())
    layer.out_proj = nn.Identity()
    return layer


def layer_by_state_dict(heads):
    layer = empty_layer(heads)
    states = [head.state_dict() for head in heads]
    state = {key: torch.vstack([one[key] for one in states]) for key in states[0]}
    C = layer.out_proj.out_features
    state |= {"out_proj.weight": torch.eye(C), "out_proj.bias": torch.zeros(C)}
    layer.load_state_dict(state)
    return layer


def layer_with_the_fused_path(heads):
    torch.rand(17)
    layer = layer_by_cat(heads)
    layer.fused = True
    return layer


def fill(layer, heads, join, names=("W_query", "W_key", "W_value")):
    with torch.no_grad():
        for name in names:
            target = getattr(layer, name).weight
            target.copy_(join([getattr(head, name).weight for head in heads]))
    return layer


def layer_backwards(heads):
    layer = empty_layer(heads)
    D = heads[0].W_key.out_features
    with torch.no_grad():
        for h, head in enumerate(reversed(heads)):
            rows = slice(h * D, (h + 1) * D)
            layer.W_query.weight[rows] = head.W_query.weight
            layer.W_key.weight[rows] = head.W_key.weight
            layer.W_value.weight[rows] = head.W_value.weight
    set_identity(layer)
    return layer


def layer_interleaved(heads):
    layer = empty_layer(heads)
    H = len(heads)
    for h, head in enumerate(heads):
        layer.W_query.weight.data[h::H] = head.W_query.weight.data
        layer.W_key.weight.data[h::H] = head.W_key.weight.data
        layer.W_value.weight.data[h::H] = head.W_value.weight.data
    set_identity(layer)
    return layer


def layer_with_random_out_proj(heads):
    torch.rand(3)
    return fill(empty_layer(heads), heads, torch.cat)


def layer_with_random_bias(heads):
    layer = fill(empty_layer(heads), heads, torch.cat)
    layer.out_proj.weight.data = torch.eye(layer.out_proj.in_features)
    return layer


def layer_of_one_wide_head(heads):
    d_out, d_in = heads[0].W_query.weight.shape
    width = d_out * len(heads)
    layer = MultiHeadAttention(d_in, width, heads[0].context_length, 0.0, num_heads=1)
    fill(layer, heads, torch.cat)
    set_identity(layer)
    return layer


def layer_of_doubled_weights(heads):
    layer = layer_by_cat(heads)
    layer.W_value.weight.data *= 2
    return layer


RIGHT = [
    layer_by_cat,
    layer_by_rows,
    layer_without_out_proj,
    layer_by_state_dict,
    layer_with_the_fused_path,
]
WRONG = [
    (layer_backwards, "heads in reverse order"),
    (layer_interleaved, "a layer whose rows take the heads in turn"),
    (layer_with_random_out_proj, "an out_proj left as it was drawn"),
    (layer_with_random_bias, "an out_proj whose bias was left as it was drawn"),
    (layer_of_one_wide_head, "one wide head"),
    (layer_of_doubled_weights, None),
]
