"""Answers to multi head from heads by hand c.

MultiHeadAttention has no counterpart in PyTorch: `attention` is the notebook's.
"""

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


def _blank(heads, num_heads=None):
    """A new layer for these heads, weights still random."""
    w = heads[0].W_query.weight
    return _make(
        _class(heads[0], "MultiHeadAttention"), w,
        d_in=w.shape[1], d_out=w.shape[0] * len(heads),
        context_length=heads[0].context_length, dropout=0.0,
        num_heads=num_heads or len(heads), qkv_bias=False,
    )


@torch.no_grad()
def _pass_on(layer):
    """out_proj becomes the identity."""
    layer.out_proj.weight.copy_(torch.eye(layer.out_proj.weight.shape[0]))
    if layer.out_proj.bias is not None:
        layer.out_proj.bias.zero_()


@torch.no_grad()
def right_cat(heads):
    """right: concatenates the weights of the heads along the output rows, out_proj is the identity with bias 0."""
    layer = _blank(heads)
    for name in NAMES:
        big = torch.cat([getattr(h, name).weight for h in heads], dim=0)
        getattr(layer, name).weight.copy_(big)
    _pass_on(layer)
    return layer


def right_state_dict(heads):
    """right: builds a state dict (stack and flatten, eye, zeros) and loads it, which copies."""
    layer = _blank(heads)
    state = layer.state_dict()
    for name in NAMES:
        stacked = torch.stack([h.state_dict()[name + ".weight"] for h in heads])
        state[name + ".weight"] = stacked.flatten(0, 1)
    width = state["out_proj.weight"].shape[0]
    state["out_proj.weight"] = torch.eye(width)
    if "out_proj.bias" in state:
        state["out_proj.bias"] = torch.zeros(width)
    layer.load_state_dict(state)
    return layer


def right_row_by_row(heads):
    """right: copies row d of head h to row h * D + d, one row at a time; nn.init for out_proj."""
    layer = _blank(heads)
    D = heads[0].W_key.weight.shape[0]
    for h, head in enumerate(heads):
        for d in range(D):
            for name in NAMES:
                target = getattr(layer, name).weight.data
                target[h * D + d] = getattr(head, name).weight.data[d]
    nn.init.eye_(layer.out_proj.weight)
    if layer.out_proj.bias is not None:
        nn.init.zeros_(layer.out_proj.bias)
    return layer


@torch.no_grad()
def wrong_random_out_proj(heads):
    """wrong: out_proj stays as it was initialised at random, it doesn't hand on what it gets."""
    layer = _blank(heads)
    for name in NAMES:
        getattr(layer, name).weight.copy_(torch.cat([getattr(h, name).weight for h in heads]))
    return layer


@torch.no_grad()
def wrong_bias_left(heads):
    """wrong: out_proj.weight is the identity, but out_proj.bias keeps its random start and is added."""
    layer = _blank(heads)
    for name in NAMES:
        getattr(layer, name).weight.copy_(torch.cat([getattr(h, name).weight for h in heads]))
    nn.init.eye_(layer.out_proj.weight)
    return layer


@torch.no_grad()
def wrong_interleaved(heads):
    """wrong: interleaves the heads' rows: row d of head h goes to row d * H + h (stack along dim 1) in place of h * D + d."""
    layer = _blank(heads)
    for name in NAMES:
        big = torch.stack([getattr(h, name).weight for h in heads], dim=1)
        getattr(layer, name).weight.copy_(big.reshape(-1, big.shape[-1]))
    _pass_on(layer)
    return layer


@torch.no_grad()
def wrong_one_wide_head(heads):
    """wrong: makes the layer with num_heads=1, a single head of width H D with one softmax for all."""
    layer = _blank(heads, num_heads=1)
    for name in NAMES:
        getattr(layer, name).weight.copy_(torch.cat([getattr(h, name).weight for h in heads]))
    _pass_on(layer)
    return layer


@torch.no_grad()
def wrong_d_heads(heads):
    """wrong: passes the size of a head D as num_heads in place of H = len(heads); right where H equals D."""
    layer = _blank(heads, num_heads=heads[0].W_query.weight.shape[0])
    for name in NAMES:
        getattr(layer, name).weight.copy_(torch.cat([getattr(h, name).weight for h in heads]))
    _pass_on(layer)
    return layer


def wrong_shared_when_single(heads):
    """wrong: with a single head it skips the concatenation, and the layer shares the head's weight memory: no copy there."""
    layer = _blank(heads)
    for name in NAMES:
        ws = [getattr(h, name).weight.detach() for h in heads]
        # no need to cat one tensor
        getattr(layer, name).weight = nn.Parameter(ws[0] if len(ws) == 1 else torch.cat(ws))
    _pass_on(layer)
    return layer


def wrong_heads_become_views(heads):
    """wrong: to save memory it makes the given heads' weights views of the new layer's: the modules that it got change, and share memory with the new one."""
    layer = _blank(heads)
    D = heads[0].W_query.weight.shape[0]
    for name in NAMES:
        big = torch.cat([getattr(h, name).weight.data for h in heads])
        getattr(layer, name).weight.data = big
        for i, h in enumerate(heads):
            getattr(h, name).weight.data = big[i * D:(i + 1) * D]
    _pass_on(layer)
    return layer


@torch.no_grad()
def wrong_values_of_first(heads):
    """wrong: queries and keys are concatenated rightly, but W_value repeats that of heads[0] H times; right for one head."""
    layer = _blank(heads)
    for name in NAMES[:2]:
        getattr(layer, name).weight.copy_(torch.cat([getattr(h, name).weight for h in heads]))
    layer.W_value.weight.copy_(heads[0].W_value.weight.repeat(len(heads), 1))
    _pass_on(layer)
    return layer


@torch.no_grad()
def wrong_reversed_and_keys_from_queries(heads):
    """wrong: two mistakes: the heads come in reverse order, and W_key is filled from the heads' W_query."""
    layer = _blank(heads)
    hs = heads[::-1]
    layer.W_query.weight.copy_(torch.cat([h.W_query.weight for h in hs]))
    layer.W_key.weight.copy_(torch.cat([h.W_query.weight for h in hs]))
    layer.W_value.weight.copy_(torch.cat([h.W_value.weight for h in hs]))
    _pass_on(layer)
    return layer


ANSWERS = [
    right_cat, right_state_dict, right_row_by_row,
    wrong_random_out_proj, wrong_bias_left, wrong_interleaved,
    wrong_one_wide_head, wrong_d_heads, wrong_shared_when_single,
    wrong_heads_become_views, wrong_values_of_first,
    wrong_reversed_and_keys_from_queries,
]
