"""Answers to multi_head_from_heads by hand g."""

import math

import torch
from torch import nn

from helpers import attention

NAMES = ("W_query", "W_key", "W_value")


def right_cat_and_copy(heads):
    """right: concatenates the weights along the rows, an identity as out_proj."""
    D, d_in = heads[0].W_query.weight.shape
    C = D * len(heads)
    layer = attention.MultiHeadAttention(
        d_in, C, heads[0].context_length, 0.0, len(heads)
    )
    with torch.no_grad():
        for name in NAMES:
            rows = torch.cat([getattr(head, name).weight for head in heads], dim=0)
            getattr(layer, name).weight.copy_(rows)
        layer.out_proj.weight.copy_(torch.eye(C))
        layer.out_proj.bias.zero_()
    return layer


def right_state_dict(heads):
    """right: builds a state dict with stack and flatten, and loads it strictly."""
    H = len(heads)
    D, d_in = heads[0].W_key.weight.shape
    state = {
        f"{name}.weight": torch.stack(
            [head.state_dict()[f"{name}.weight"] for head in heads]
        ).flatten(0, 1)
        for name in NAMES
    }
    state["out_proj.weight"] = torch.diag(torch.ones(H * D))
    state["out_proj.bias"] = torch.zeros(H * D)
    layer = attention.MultiHeadAttention(
        d_in, H * D, heads[0].context_length, dropout=0.0, num_heads=H
    )
    layer.load_state_dict(state)
    return layer


def right_identity_module(heads):
    """right: fills the rows slice by slice, and puts nn.Identity() in place of
    out_proj, which hands on what it gets."""
    D, d_in = heads[0].W_value.weight.shape
    layer = attention.MultiHeadAttention(
        d_in, D * len(heads), heads[0].context_length, 0.0, len(heads), False
    )
    for h, head in enumerate(heads):
        for name in NAMES:
            source = getattr(head, name).weight.detach().clone()
            getattr(layer, name).weight.data[h * D : (h + 1) * D] = source
    layer.out_proj = nn.Identity()
    return layer


def _new_layer(heads, num_heads=None, **options):
    """A layer of the right size; its weights are still random."""
    D, d_in = heads[0].W_query.weight.shape
    H = len(heads)
    return attention.MultiHeadAttention(
        d_in, H * D, heads[0].context_length, 0.0, num_heads or H, **options
    )


def _hand_on(layer):
    """Make out_proj the identity."""
    nn.init.eye_(layer.out_proj.weight)
    nn.init.zeros_(layer.out_proj.bias)


def wrong_random_out_proj(heads):
    """wrong: leaves out_proj as it was drawn at random."""
    layer = _new_layer(heads)
    with torch.no_grad():
        for name in NAMES:
            rows = torch.cat([getattr(head, name).weight for head in heads])
            getattr(layer, name).weight.copy_(rows)
    return layer


def wrong_out_proj_bias_left(heads):
    """wrong: out_proj.weight is the identity, but its random bias is left."""
    layer = _new_layer(heads)
    with torch.no_grad():
        for name in NAMES:
            rows = torch.cat([getattr(head, name).weight for head in heads])
            getattr(layer, name).weight.copy_(rows)
        layer.out_proj.weight.copy_(torch.eye(layer.out_proj.in_features))
    return layer


def wrong_out_proj_of_ones(heads):
    """wrong: fills out_proj.weight with ones instead of the identity, so that each
    output is the sum of all features (the bias is 0)."""
    layer = _new_layer(heads)
    with torch.no_grad():
        for name in NAMES:
            rows = torch.cat([getattr(head, name).weight for head in heads])
            getattr(layer, name).weight.copy_(rows)
        layer.out_proj.weight.fill_(1.0)
        layer.out_proj.bias.fill_(0.0)
    return layer


def wrong_interleaved_rows(heads):
    """wrong: stacks the weights on axis 1 before flattening, so that the rows of the
    heads alternate instead of lying head by head."""
    layer = _new_layer(heads)
    with torch.no_grad():
        for name in NAMES:
            rows = torch.stack([getattr(head, name).weight for head in heads], dim=1)
            getattr(layer, name).weight.copy_(rows.flatten(0, 1))
    _hand_on(layer)
    return layer


def wrong_one_wide_head(heads):
    """wrong: builds the layer with num_heads=1, so that one wide head mixes the scores
    of all."""
    layer = _new_layer(heads, num_heads=1)
    with torch.no_grad():
        for name in NAMES:
            rows = torch.cat([getattr(head, name).weight for head in heads])
            getattr(layer, name).weight.copy_(rows)
    _hand_on(layer)
    return layer


def wrong_ties_the_heads(heads):
    """wrong: makes the given heads' weights views of the new layer's (to save memory),
    so that a change of the layer changes the heads; the outputs are right at first."""
    layer = _new_layer(heads)
    D = heads[0].W_query.weight.shape[0]
    for h, head in enumerate(heads):
        for name in NAMES:
            rows = getattr(layer, name).weight.data[h * D : (h + 1) * D]
            rows.copy_(getattr(head, name).weight.data)
            getattr(head, name).weight.data = rows
    _hand_on(layer)
    return layer


def wrong_random_qkv_bias(heads):
    """wrong: builds the layer with qkv_bias=True and leaves the random biases, which
    the heads don't have."""
    layer = _new_layer(heads, qkv_bias=True)
    with torch.no_grad():
        for name in NAMES:
            rows = torch.cat([getattr(head, name).weight for head in heads])
            getattr(layer, name).weight.copy_(rows)
    _hand_on(layer)
    return layer


def wrong_context_length(heads):
    """wrong: takes the heads' d_in for the layer's context_length, so that longer texts
    that the heads take are refused (or more allowed than the heads take)."""
    D, d_in = heads[0].W_query.weight.shape
    H = len(heads)
    layer = attention.MultiHeadAttention(d_in, H * D, d_in, 0.0, H)
    with torch.no_grad():
        for name in NAMES:
            rows = torch.cat([getattr(head, name).weight for head in heads])
            getattr(layer, name).weight.copy_(rows)
    _hand_on(layer)
    return layer


def wrong_compensates_scale(heads):
    """wrong: multiplies W_query by the root of H, in the belief that the layer divides
    the scores by the root of C instead of D; right for a single head only."""
    layer = _new_layer(heads)
    with torch.no_grad():
        for name in NAMES:
            rows = torch.cat([getattr(head, name).weight for head in heads])
            getattr(layer, name).weight.copy_(rows)
        layer.W_query.weight *= math.sqrt(len(heads))
    _hand_on(layer)
    return layer


def wrong_reversed_and_swapped(heads):
    """wrong: two mistakes: the heads come in reverse order, and W_query and W_key of
    the layer are swapped."""
    layer = _new_layer(heads)
    source = {"W_query": "W_key", "W_key": "W_query", "W_value": "W_value"}
    with torch.no_grad():
        for name in NAMES:
            rows = [getattr(head, source[name]).weight for head in reversed(heads)]
            getattr(layer, name).weight.copy_(torch.cat(rows))
    _hand_on(layer)
    return layer


def wrong_first_value_and_mean(heads):
    """wrong: two mistakes: all heads get the first head's W_value, and out_proj is the
    identity divided by H, as if the heads were averaged."""
    layer = _new_layer(heads)
    H = len(heads)
    with torch.no_grad():
        layer.W_query.weight.copy_(torch.cat([head.W_query.weight for head in heads]))
        layer.W_key.weight.copy_(torch.cat([head.W_key.weight for head in heads]))
        layer.W_value.weight.copy_(torch.cat([heads[0].W_value.weight] * H))
        layer.out_proj.weight.copy_(torch.eye(layer.out_proj.in_features) / H)
        layer.out_proj.bias.zero_()
    return layer


ANSWERS = [
    right_cat_and_copy,
    right_state_dict,
    right_identity_module,
    wrong_random_out_proj,
    wrong_out_proj_bias_left,
    wrong_out_proj_of_ones,
    wrong_interleaved_rows,
    wrong_one_wide_head,
    wrong_ties_the_heads,
    wrong_random_qkv_bias,
    wrong_context_length,
    wrong_compensates_scale,
    wrong_reversed_and_swapped,
    wrong_first_value_and_mean,
]
