"""Answers to multi head from heads."""

import inspect

import torch
from torch import nn

NAMES = ("W_query", "W_key", "W_value")


def _library_class(module, name):
    """The library's class of that name, found from one of its own modules."""
    own = type(module)
    for base in own.__mro__:
        for method in ("__init__", "forward"):
            scope = getattr(base.__dict__.get(method), "__globals__", {})
            if isinstance(scope.get(name), type):
                return scope[name]
    todo, found = [nn.Module], []
    while todo:
        for sub in todo.pop().__subclasses__():
            todo.append(sub)
            if sub.__name__ == name:
                found.append(sub)
    package = own.__module__.rsplit(".", 1)[0]
    return max(found, key=lambda cls: (cls.__module__ == own.__module__,
                                       cls.__module__.startswith(package),
                                       "attention" in cls.__module__))


def _layer(head, num_heads):
    """A new MultiHeadAttention for num_heads heads of the size of head."""
    cls = _library_class(head, "MultiHeadAttention")
    width, d_in = head.W_query.weight.shape
    known = {"d_in": d_in, "d_out": num_heads * width,
             "context_length": head.context_length, "dropout": 0.0,
             "num_heads": num_heads, "qkv_bias": False, "bias": False}
    names = inspect.signature(cls).parameters
    layer = cls(**{name: known[name] for name in names if name in known})
    return layer.to(head.W_query.weight)


def _side_by_side(heads, name):
    return torch.cat([getattr(head, name).weight.detach() for head in heads])


def _pass_on(layer):
    with torch.no_grad():
        layer.out_proj.weight.copy_(torch.eye(len(layer.out_proj.weight)))
        if layer.out_proj.bias is not None:
            layer.out_proj.bias.zero_()


def right_copy_in_place(heads):
    """right: copies the stacked rows into a new layer, out_proj is the identity without bias."""
    layer = _layer(heads[0], len(heads))
    with torch.no_grad():
        for name in NAMES:
            getattr(layer, name).weight.copy_(_side_by_side(heads, name))
    _pass_on(layer)
    return layer


def right_state_dict(heads):
    """right: fills the rows of each head in a loop and loads them as a state dict."""
    width, d_in = heads[0].W_query.weight.shape
    total = width * len(heads)
    state = {}
    for name in NAMES:
        big = heads[0].W_query.weight.new_zeros(total, d_in)
        for h, head in enumerate(heads):
            big[h * width:(h + 1) * width] = getattr(head, name).weight.detach()
        state[name + ".weight"] = big
    state["out_proj.weight"] = torch.eye(total)
    state["out_proj.bias"] = torch.zeros(total)
    layer = _layer(heads[0], len(heads))
    layer.load_state_dict(state, strict=False)
    return layer


def right_identity_module(heads):
    """right: new parameters, and an nn.Identity in the place of out_proj, which hands on what it gets."""
    layer = _layer(heads[0], len(heads))
    for name in NAMES:
        stacked = torch.stack([getattr(h, name).weight for h in heads])
        getattr(layer, name).weight = nn.Parameter(stacked.flatten(0, 1).detach().clone())
    layer.out_proj = nn.Identity()
    return layer


def wrong_rows_interleaved(heads):
    """wrong: interleaves the heads' rows (row d * H + h is row d of head h) in all three weights, where head h should have rows h * D to (h + 1) * D - 1."""
    layer = _layer(heads[0], len(heads))
    with torch.no_grad():
        for name in NAMES:
            rows = torch.stack([getattr(h, name).weight for h in heads], dim=1)
            getattr(layer, name).weight.copy_(rows.reshape(-1, rows.shape[-1]))
    _pass_on(layer)
    return layer


def wrong_forgets_out_proj(heads):
    """wrong: leaves out_proj as it was initialised, at random."""
    mha = _layer(heads[0], len(heads))
    mha.out_proj = nn.Linear(mha.out_proj.in_features, mha.out_proj.out_features)
    for name in NAMES:
        getattr(mha, name).weight.data = _side_by_side(heads, name)
    return mha


def wrong_key_is_value(heads):
    """wrong: exchanges keys and values: W_key gets the heads' W_value, W_value their W_key."""
    layer = _layer(heads[0], len(heads))
    layer.W_query.weight.data.copy_(_side_by_side(heads, "W_query"))
    layer.W_key.weight.data.copy_(_side_by_side(heads, "W_value"))
    layer.W_value.weight.data.copy_(_side_by_side(heads, "W_key"))
    _pass_on(layer)
    return layer


def wrong_last_head_first(heads):
    """wrong: lays the heads side by side in reverse order, the last head first."""
    layer = _layer(heads[0], len(heads))
    with torch.no_grad():
        for name in NAMES:
            w = None
            for head in heads:
                new = getattr(head, name).weight
                w = new if w is None else torch.cat((new, w))
            getattr(layer, name).weight.copy_(w)
    _pass_on(layer)
    return layer


def wrong_out_proj_shuffles(heads):
    """wrong: out_proj is a permutation that turns the order (H, D) of the features into (D, H), not the identity; right with one head, or for D = 1."""
    H = len(heads)
    layer = _layer(heads[0], H)
    for name in NAMES:
        getattr(layer, name).weight.data.copy_(_side_by_side(heads, name))
    _pass_on(layer)
    n = len(layer.out_proj.weight)
    mixed = torch.eye(n).reshape(H, n // H, n).transpose(0, 1).reshape(n, n)
    layer.out_proj.weight.data.copy_(mixed)
    return layer


def wrong_makes_up_for_scale(heads):
    """wrong: multiplies W_query by the root of H, as if the layer divided the scores by the root of H D; right with one head."""
    layer = _layer(heads[0], len(heads))
    with torch.no_grad():
        for name in NAMES:
            weight = _side_by_side(heads, name)
            if name == "W_query":
                weight = weight * len(heads) ** 0.5
            getattr(layer, name).weight.copy_(weight)
    _pass_on(layer)
    return layer


def wrong_single_head_shared(heads):
    """wrong: with only one head, the layer uses the head's own parameters, no copies of them."""
    layer = _layer(heads[0], len(heads))
    for name in NAMES:
        parts = [getattr(head, name).weight for head in heads]
        if len(parts) == 1:
            getattr(layer, name).weight = parts[0]
        else:
            getattr(layer, name).weight = nn.Parameter(torch.cat(parts).detach())
    _pass_on(layer)
    return layer


def wrong_freezes_the_heads(heads):
    """wrong: sets requires_grad of the given heads' weights to False, so they don't stay as they are."""
    layer = _layer(heads[0], len(heads))
    for head in heads:
        head.requires_grad_(False)
    for name in NAMES:
        new = torch.cat([getattr(head, name).weight for head in heads])
        getattr(layer, name).weight = nn.Parameter(new)
    _pass_on(layer)
    return layer


def wrong_swap_and_bias(heads):
    """wrong: two mistakes: W_query and W_key are exchanged, and out_proj, with the identity as its weight, keeps a random bias."""
    layer = _layer(heads[0], len(heads))
    for mine, theirs in (("W_query", "W_key"), ("W_key", "W_query"), ("W_value", "W_value")):
        getattr(layer, mine).weight.data = _side_by_side(heads, theirs)
    n = len(layer.W_value.weight)
    layer.out_proj = nn.Linear(n, n)
    nn.init.eye_(layer.out_proj.weight)
    return layer


ANSWERS = [
    right_copy_in_place, right_state_dict, right_identity_module,
    wrong_rows_interleaved, wrong_forgets_out_proj, wrong_key_is_value,
    wrong_last_head_first, wrong_out_proj_shuffles, wrong_makes_up_for_scale,
    wrong_single_head_shared, wrong_freezes_the_heads, wrong_swap_and_bias,
]
