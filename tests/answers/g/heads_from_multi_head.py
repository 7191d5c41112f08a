"""Answers to heads_from_multi_head by hand g."""

import copy

import torch
from torch import nn

from helpers import attention

NAMES = ("W_query", "W_key", "W_value")


def right_chunks(layer):
    """right: chunks of the weights' rows, copied into new modules."""
    C, d_in = layer.W_query.weight.shape
    H = layer.num_heads
    heads = [
        attention.CausalAttention(d_in, C // H, layer.context_length, 0.0)
        for _ in range(H)
    ]
    with torch.no_grad():
        for name in NAMES:
            rows = getattr(layer, name).weight.chunk(H, dim=0)
            for head, part in zip(heads, rows):
                getattr(head, name).weight.copy_(part)
    return heads


def right_from_a_deep_copy(layer):
    """right: deep-copies the layer first, and makes new parameters from its unflattened
    weights."""
    source = copy.deepcopy(layer)
    D = source.W_value.out_features // source.num_heads
    heads = []
    for h in range(source.num_heads):
        head = attention.CausalAttention(
            source.W_value.in_features, D, source.context_length, dropout=0.0
        )
        for name in NAMES:
            cut = getattr(source, name).weight.data.unflatten(0, (-1, D))
            getattr(head, name).weight = nn.Parameter(cut[h].clone())
        heads.append(head)
    return heads


def right_state_dicts(layer):
    """right: picks the rows with a mask of whole numbers, and loads state dicts."""
    C, d_in = layer.W_key.weight.shape
    owner = torch.arange(C) * layer.num_heads // C
    heads = []
    for h in range(layer.num_heads):
        state = {
            f"{name}.weight": getattr(layer, name).weight.detach()[owner == h]
            for name in NAMES
        }
        width = len(state["W_key.weight"])
        head = attention.CausalAttention(d_in, width, layer.context_length, 0.0)
        head.load_state_dict(state)
        heads.append(head)
    return heads


def _new_heads(layer):
    """Heads of the right size; their weights are still random."""
    C, d_in = layer.W_query.weight.shape
    D = C // layer.num_heads
    return [
        attention.CausalAttention(d_in, D, layer.context_length, 0.0)
        for _ in range(layer.num_heads)
    ]


def wrong_full_width(layer):
    """wrong: each head gets all rows of the weights and the width C, not its D rows."""
    C, d_in = layer.W_query.weight.shape
    heads = []
    for _ in range(layer.num_heads):
        head = attention.CausalAttention(d_in, C, layer.context_length, 0.0)
        with torch.no_grad():
            for name in NAMES:
                getattr(head, name).weight.copy_(getattr(layer, name).weight)
        heads.append(head)
    return heads


def wrong_strided_rows(layer):
    """wrong: gives head h every H-th row (h, h + H, ...) instead of D neighbours."""
    heads = _new_heads(layer)
    H = layer.num_heads
    with torch.no_grad():
        for h, head in enumerate(heads):
            for name in NAMES:
                getattr(head, name).weight.copy_(getattr(layer, name).weight[h::H])
    return heads


def wrong_values_forgotten(layer):
    """wrong: copies the rows of W_query and W_key only; W_value stays random."""
    heads = _new_heads(layer)
    D = heads[0].W_query.out_features
    with torch.no_grad():
        for h, head in enumerate(heads):
            rows = slice(h * D, (h + 1) * D)
            head.W_query.weight.copy_(layer.W_query.weight[rows])
            head.W_key.weight.copy_(layer.W_key.weight[rows])
    return heads


def wrong_same_module(layer):
    """wrong: multiplies a list of one module by H, so that all heads are the same
    object, with the rows of the last head."""
    C, d_in = layer.W_query.weight.shape
    H = layer.num_heads
    D = C // H
    heads = [attention.CausalAttention(d_in, D, layer.context_length, 0.0)] * H
    with torch.no_grad():
        for h, head in enumerate(heads):
            for name in NAMES:
                rows = getattr(layer, name).weight[h * D : (h + 1) * D]
                getattr(head, name).weight.copy_(rows)
    return heads


def wrong_folds_out_proj(layer):
    """wrong: multiplies out_proj.weight into W_value before it cuts the rows, but the
    heads should give what out_proj receives; right where out_proj is the identity."""
    heads = _new_heads(layer)
    D = heads[0].W_query.out_features
    with torch.no_grad():
        values = layer.out_proj.weight @ layer.W_value.weight
        for h, head in enumerate(heads):
            rows = slice(h * D, (h + 1) * D)
            head.W_query.weight.copy_(layer.W_query.weight[rows])
            head.W_key.weight.copy_(layer.W_key.weight[rows])
            head.W_value.weight.copy_(values[rows])
    return heads


def wrong_shares_memory(layer):
    """wrong: nn.Parameter of a slice shares the layer's memory: the heads' weights are
    no copies, and a change of the heads changes the layer; the outputs are right."""
    heads = _new_heads(layer)
    D = heads[0].W_query.out_features
    for h, head in enumerate(heads):
        for name in NAMES:
            rows = getattr(layer, name).weight[h * D : (h + 1) * D]
            getattr(head, name).weight = nn.Parameter(rows.detach())
    return heads


def wrong_split_size(layer):
    """wrong: takes num_heads for the size of a part (split takes a size), which gives
    C / H heads of width H; right where H = D."""
    d_in = layer.W_query.in_features
    H = layer.num_heads
    parts = zip(*[getattr(layer, name).weight.detach().split(H) for name in NAMES])
    heads = []
    for part in parts:
        head = attention.CausalAttention(d_in, H, layer.context_length, 0.0)
        for name, rows in zip(NAMES, part):
            getattr(head, name).weight.data.copy_(rows)
        heads.append(head)
    return heads


def wrong_changes_the_layer(layer):
    """wrong: the heads are right, but the given layer's out_proj is set to the identity
    (and its bias to 0), though the layer must stay as it is."""
    nn.init.eye_(layer.out_proj.weight)
    nn.init.zeros_(layer.out_proj.bias)
    heads = _new_heads(layer)
    D = heads[0].W_query.out_features
    with torch.no_grad():
        for h, head in enumerate(heads):
            for name in NAMES:
                rows = getattr(layer, name).weight[h * D : (h + 1) * D]
                getattr(head, name).weight.copy_(rows)
    return heads


def wrong_context_length_and_order(layer):
    """wrong: two mistakes: takes C, the layer's width, for context_length (texts that
    the layer takes may be refused, or longer ones taken), and the list is in reverse
    order, for each new head is put in front."""
    C, d_in = layer.W_query.weight.shape
    D = C // layer.num_heads
    heads = []
    for h in range(layer.num_heads):
        head = attention.CausalAttention(d_in, D, C, 0.0)
        with torch.no_grad():
            for name in NAMES:
                rows = getattr(layer, name).weight[h * D : (h + 1) * D]
                getattr(head, name).weight.copy_(rows)
        heads = [head] + heads
    return heads


def wrong_keys_from_queries_and_bias(layer):
    """wrong: two mistakes: W_key gets the rows of W_query (a copied line), and the
    heads have a bias, with out_proj's bias cut up as that of W_value and 0 in the
    other two."""
    C, d_in = layer.W_query.weight.shape
    D = C // layer.num_heads
    heads = []
    for h in range(layer.num_heads):
        head = attention.CausalAttention(
            d_in, D, layer.context_length, 0.0, qkv_bias=True
        )
        rows = slice(h * D, (h + 1) * D)
        with torch.no_grad():
            head.W_query.weight.copy_(layer.W_query.weight[rows])
            head.W_key.weight.copy_(layer.W_query.weight[rows])
            head.W_value.weight.copy_(layer.W_value.weight[rows])
            head.W_query.bias.zero_()
            head.W_key.bias.zero_()
            head.W_value.bias.copy_(layer.out_proj.bias[rows])
        heads.append(head)
    return heads


ANSWERS = [
    right_chunks,
    right_from_a_deep_copy,
    right_state_dicts,
    wrong_full_width,
    wrong_strided_rows,
    wrong_values_forgotten,
    wrong_same_module,
    wrong_folds_out_proj,
    wrong_shares_memory,
    wrong_split_size,
    wrong_changes_the_layer,
    wrong_context_length_and_order,
    wrong_keys_from_queries_and_bias,
]
