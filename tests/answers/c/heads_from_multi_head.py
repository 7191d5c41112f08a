"""Answers to heads from multi head by hand c.

CausalAttention has no counterpart in PyTorch: `attention` is the notebook's.
"""

import math

import inspect

import torch
from torch import nn

NAMES = ("W_query", "W_key", "W_value")


def _class(given, name):
    """The class of that name: from the notebook's `attention` where it is defined, else from where the given module's class lives."""
    if "attention" in globals():
        return getattr(globals()["attention"], name)
    space = type(given).__init__.__globals__
    if name in space:
        return space[name]
    home = type(given).__module__.split(".")[0]
    todo, found = list(nn.Module.__subclasses__()), []
    while todo:
        cls = todo.pop()
        todo += cls.__subclasses__()
        if cls.__name__ == name and cls.__module__.split(".")[0] == home:
            found.append(cls)
    return sorted(found, key=lambda c: "attention" not in c.__module__)[0]


def _make(cls, like, **sizes):
    """A module of that class, given those of the sizes that it asks for, in the dtype and on the device of `like`."""
    names = inspect.signature(cls).parameters
    module = cls(**{n: s for n, s in sizes.items() if n in names})
    return module.to(dtype=like.dtype, device=like.device)


def _head(layer, d_out=None, context_length=None):
    """A new head of the layer's size, weights still random."""
    w = layer.W_query.weight
    return _make(
        _class(layer, "CausalAttention"), w,
        d_in=w.shape[1], d_out=d_out or w.shape[0] // layer.num_heads,
        context_length=context_length or layer.context_length,
        dropout=0.0, qkv_bias=False,
    )


@torch.no_grad()
def right_slices(layer):
    """right: head h copies the rows h * D to (h + 1) * D of each of the three weights."""
    D = layer.W_query.weight.shape[0] // layer.num_heads
    out = []
    for h in range(layer.num_heads):
        head = _head(layer)
        for name in NAMES:
            getattr(head, name).weight.copy_(getattr(layer, name).weight[h * D:(h + 1) * D])
        out.append(head)
    return out


def right_chunks_cloned(layer):
    """right: chunk into num_heads pieces along dim 0, clones as fresh parameters."""
    heads = [_head(layer) for _ in range(layer.num_heads)]
    for name in NAMES:
        pieces = getattr(layer, name).weight.detach().chunk(layer.num_heads, dim=0)
        for head, piece in zip(heads, pieces):
            getattr(head, name).weight = nn.Parameter(piece.clone())
    return heads


def right_view_and_load(layer):
    """right: unflattens each weight to (H, D, d_in) and loads the slices by state dict, last head first, then turns the list round."""
    H = layer.num_heads
    big = {n: getattr(layer, n).weight.detach().unflatten(0, (H, -1)) for n in NAMES}
    heads = []
    for h in reversed(range(H)):
        head = _head(layer)
        state = head.state_dict()
        state.update({n + ".weight": w[h] for n, w in big.items()})
        head.load_state_dict(state)
        heads.append(head)
    return heads[::-1]


@torch.no_grad()
def wrong_strided(layer):
    """wrong: takes every Hth row (h, h + H, ...) for head h in place of a block of D rows."""
    H = layer.num_heads
    out = [_head(layer) for _ in range(H)]
    for h, head in enumerate(out):
        for name in NAMES:
            getattr(head, name).weight.copy_(getattr(layer, name).weight[h::H])
    return out


@torch.no_grad()
def wrong_same_module(layer):
    """wrong: makes one head outside the loop and appends that same module H times, so all are the last head."""
    D = layer.W_query.weight.shape[0] // layer.num_heads
    head = _head(layer)
    out = []
    for h in range(layer.num_heads):
        for name in NAMES:
            getattr(head, name).weight.copy_(getattr(layer, name).weight[h * D:(h + 1) * D])
        out.append(head)
    return out


@torch.no_grad()
def wrong_transposed_reshape(layer):
    """wrong: transposes each weight before reshaping it to (H, D, d_in), as if it were stored (d_in, d_out), and so scrambles it."""
    out = [_head(layer) for _ in range(layer.num_heads)]
    for name in NAMES:
        w = getattr(layer, name).weight
        parts = w.T.reshape(layer.num_heads, -1, w.shape[1])
        for head, part in zip(out, parts):
            getattr(head, name).weight.copy_(part)
    return out


@torch.no_grad()
def wrong_out_proj_folded(layer):
    """wrong: multiplies W_value by out_proj.weight before cutting it up, though the heads must give what the layer hands to out_proj; right for an out_proj that is the identity."""
    D = layer.W_query.weight.shape[0] // layer.num_heads
    values = layer.out_proj.weight @ layer.W_value.weight
    out = []
    for h in range(layer.num_heads):
        rows = slice(h * D, h * D + D)
        head = _head(layer)
        head.W_query.weight.copy_(layer.W_query.weight[rows])
        head.W_key.weight.copy_(layer.W_key.weight[rows])
        head.W_value.weight.copy_(values[rows])
        out.append(head)
    return out


def wrong_views(layer):
    """wrong: the heads' weights are slices of the layer's weights that share its memory, no copies."""
    heads = [_head(layer) for _ in range(layer.num_heads)]
    for name in NAMES:
        for head, w in zip(heads, getattr(layer, name).weight.detach().chunk(layer.num_heads)):
            getattr(head, name).weight = nn.Parameter(w)
    return heads


@torch.no_grad()
def wrong_h_and_d_mixed(layer):
    """wrong: mixes up the number and the size of the heads: returns D heads of size H each; right where H equals D."""
    D = layer.num_heads
    H = layer.W_query.weight.shape[0] // D
    out = []
    for h in range(H):
        head = _head(layer, d_out=D)
        for name in NAMES:
            getattr(head, name).weight.copy_(getattr(layer, name).weight[h * D:(h + 1) * D])
        out.append(head)
    return out


def wrong_freezes_layer(layer):
    """wrong: calls layer.requires_grad_(False) to be able to copy and never undoes it, so the given layer doesn't stay as it was."""
    layer.requires_grad_(False)
    heads = [_head(layer) for _ in range(layer.num_heads)]
    for name in NAMES:
        for head, w in zip(heads, getattr(layer, name).weight.chunk(layer.num_heads)):
            getattr(head, name).weight.data.copy_(w)
    return heads


@torch.no_grad()
def wrong_rescaled_queries(layer):
    """wrong: divides the query weights by the root of H, believing that the layer scales by the root of H D and the heads by that of D; right for one head."""
    D = layer.W_query.weight.shape[0] // layer.num_heads
    out = []
    for h in range(layer.num_heads):
        head = _head(layer)
        for name in NAMES:
            getattr(head, name).weight.copy_(getattr(layer, name).weight[h * D:(h + 1) * D])
        head.W_query.weight.div_(math.sqrt(layer.num_heads))
        out.append(head)
    return out


@torch.no_grad()
def wrong_swapped_kv_and_short_context(layer):
    """wrong: two mistakes: keys and values are exchanged (W_key gets the layer's W_value and the other way round), and the heads get context_length // num_heads as their context_length."""
    D = layer.W_query.weight.shape[0] // layer.num_heads
    short = max(1, layer.context_length // layer.num_heads)
    out = []
    for h in range(layer.num_heads):
        rows = slice(h * D, (h + 1) * D)
        head = _head(layer, context_length=short)
        head.W_query.weight.copy_(layer.W_query.weight[rows])
        head.W_key.weight.copy_(layer.W_value.weight[rows])
        head.W_value.weight.copy_(layer.W_key.weight[rows])
        out.append(head)
    return out


ANSWERS = [
    right_slices, right_chunks_cloned, right_view_and_load,
    wrong_strided, wrong_same_module, wrong_transposed_reshape,
    wrong_out_proj_folded, wrong_views, wrong_h_and_d_mixed,
    wrong_freezes_layer, wrong_rescaled_queries,
    wrong_swapped_kv_and_short_context,
]
