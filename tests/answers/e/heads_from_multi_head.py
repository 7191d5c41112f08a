"""Answers to heads from multi head."""

import numpy as np
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


def _head(layer, width, context_length=None):
    """A new CausalAttention of this width for the layer's tokens."""
    cls = _library_class(layer, "CausalAttention")
    known = {"d_in": layer.W_query.weight.shape[1], "d_out": width,
             "context_length": context_length or layer.context_length,
             "dropout": 0.0, "qkv_bias": False, "bias": False}
    names = inspect.signature(cls).parameters
    head = cls(**{name: known[name] for name in names if name in known})
    return head.to(layer.W_query.weight)


def right_chunks(layer):
    """right: cuts the rows of each weight into H pieces and copies them into new heads."""
    H = layer.num_heads
    heads = [_head(layer, layer.W_query.weight.shape[0] // H) for _ in range(H)]
    with torch.no_grad():
        for name in NAMES:
            for head, rows in zip(heads, getattr(layer, name).weight.chunk(H)):
                getattr(head, name).weight.copy_(rows)
    return heads


def right_last_head_built_first(layer):
    """right: builds the heads from the last to the first, loads views as state dicts (which copies), and turns the list round."""
    heads = []
    d_out = layer.W_value.weight.size(0)
    D = d_out // layer.num_heads
    stop = d_out
    while stop > 0:
        head = _head(layer, D)
        head.load_state_dict(
            {n + ".weight": getattr(layer, n).weight[stop - D:stop] for n in NAMES},
            strict=False)
        heads.append(head)
        stop -= D
    heads.reverse()
    return heads


def right_by_numpy(layer):
    """right: takes the rows through NumPy, as copies, and makes new parameters of them."""
    H = layer.num_heads
    big = {n: np.split(getattr(layer, n).weight.detach().cpu().numpy(), H) for n in NAMES}
    result = []
    for h in range(H):
        head = _head(layer, len(big["W_query"][h]))
        for n in NAMES:
            copied = torch.tensor(big[n][h], device=layer.W_query.weight.device)
            getattr(head, n).weight = nn.Parameter(copied)
        result.append(head)
    return result


def wrong_every_hth_row(layer):
    """wrong: head h gets the rows h, h + H, h + 2 H, ... (interleaved), not the D rows from h * D."""
    H = layer.num_heads
    out = []
    for h in range(H):
        head = _head(layer, layer.W_query.weight[h::H].shape[0])
        for name in NAMES:
            getattr(head, name).weight.data.copy_(getattr(layer, name).weight.data[h::H])
        out.append(head)
    return out


def wrong_query_for_key(layer):
    """wrong: exchanges W_query and W_key in each head."""
    H = layer.num_heads
    D = layer.W_query.weight.shape[0] // H
    heads = []
    for h in range(H):
        rows = slice(h * D, h * D + D)
        head = _head(layer, D)
        with torch.no_grad():
            head.W_query.weight.copy_(layer.W_key.weight[rows])
            head.W_key.weight.copy_(layer.W_query.weight[rows])
            head.W_value.weight.copy_(layer.W_value.weight[rows])
        heads.append(head)
    return heads


def wrong_one_module_many_times(layer):
    """wrong: makes one module before the loop and appends it H times, so that every entry has the weights of the last head."""
    D = layer.W_query.weight.shape[0] // layer.num_heads
    head = _head(layer, D)
    heads = []
    for h in range(layer.num_heads):
        for name in NAMES:
            getattr(head, name).weight.data.copy_(
                getattr(layer, name).weight.data[h * D:(h + 1) * D])
        heads.append(head)
    return heads


def wrong_reshapes_the_transpose(layer):
    """wrong: transposes each weight to (d_in, d_out) and reshapes that to (H, D, d_in), which mixes rows and columns."""
    H = layer.num_heads
    heads = []
    for h in range(H):
        head = None
        for name in NAMES:
            w = getattr(layer, name).weight.detach()
            cut = w.t().reshape(H, w.shape[0] // H, w.shape[1])[h]
            head = head or _head(layer, cut.shape[0])
            getattr(head, name).weight.data.copy_(cut)
        heads.append(head)
    return heads


def wrong_out_proj_in_values(layer):
    """wrong: multiplies W_value by the weight of out_proj before it cuts it, as if the heads had to give what comes out of out_proj; right where that weight is the identity."""
    H = layer.num_heads
    with torch.no_grad():
        values = layer.out_proj.weight @ layer.W_value.weight
        pieces = zip(layer.W_query.weight.chunk(H), layer.W_key.weight.chunk(H), values.chunk(H))
        heads = []
        for q, k, v in pieces:
            head = _head(layer, q.shape[0])
            head.W_query.weight.copy_(q)
            head.W_key.weight.copy_(k)
            head.W_value.weight.copy_(v)
            heads.append(head)
    return heads


def wrong_width_from_input(layer):
    """wrong: takes d_in / H as the width of a head instead of d_out / H; right where d_in = d_out."""
    d_in = layer.W_query.weight.shape[1]
    D = d_in // layer.num_heads
    heads = []
    for h in range(layer.num_heads):
        rows = layer.W_query.weight[h * D:(h + 1) * D].shape[0]
        head = _head(layer, rows)
        for name in NAMES:
            cut = getattr(layer, name).weight[h * D:(h + 1) * D]
            getattr(head, name).weight.data.copy_(cut.data)
        heads.append(head)
    return heads


def wrong_views_of_the_layer(layer):
    """wrong: the heads' parameters are views of the layer's weights, no copies: whoever changes one changes the other."""
    H = layer.num_heads
    D = layer.W_query.weight.shape[0] // H
    heads = [_head(layer, D) for _ in range(H)]
    for h, head in enumerate(heads):
        for name in NAMES:
            view = getattr(layer, name).weight.detach()[h * D:(h + 1) * D]
            getattr(head, name).weight = nn.Parameter(view)
    return heads


def wrong_context_length(layer):
    """wrong: gives d_in to the heads as their context_length, so that they can't read texts as long as the layer can where d_in is less than its context_length."""
    heads = []
    d_out, d_in = layer.W_key.weight.shape
    for h in range(layer.num_heads):
        D = d_out // layer.num_heads
        head = _head(layer, D, context_length=d_in)
        for name in NAMES:
            getattr(head, name).weight.data.copy_(
                getattr(layer, name).weight.data.view(-1, D, d_in)[h])
        heads.append(head)
    return heads


def wrong_reversed_and_swapped(layer):
    """wrong: two mistakes: the list has the last head first, and W_key and W_value are exchanged in each head."""
    heads = []
    H = layer.num_heads
    for q, k, v in zip(*(getattr(layer, n).weight.data.chunk(H) for n in NAMES)):
        head = _head(layer, len(q))
        head.W_query.weight.data.copy_(q)
        head.W_key.weight.data.copy_(v)
        head.W_value.weight.data.copy_(k)
        heads.insert(0, head)
    return heads


ANSWERS = [
    right_chunks, right_last_head_built_first, right_by_numpy,
    wrong_every_hth_row, wrong_query_for_key, wrong_one_module_many_times,
    wrong_reshapes_the_transpose, wrong_out_proj_in_values,
    wrong_width_from_input, wrong_views_of_the_layer, wrong_context_length,
    wrong_reversed_and_swapped,
]
