"""Answers to v1_from_v2 by hand b.

The task has no PyTorch stand-in for SelfAttentionV1, and the book isn't imported here.
So the class is looked up by name: in this module (a tester may put it there),
then beside the class of v2; else a stand-in is used.
"""

import math

import torch
from torch import nn

NAMES = ("W_query", "W_key", "W_value")


class _StandIn(nn.Module):
    """A SelfAttentionV1 as the task describes it: three parameters (d_in, d_out)."""

    def __init__(self, d_in, d_out):
        super().__init__()
        for name in NAMES:
            setattr(self, name, nn.Parameter(torch.rand(d_in, d_out)))

    def forward(self, x):
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1]), dim=-1) @ v


def _new_v1(v2):
    """A fresh SelfAttentionV1 with the widths of v2."""
    d_out, d_in = v2.W_query.weight.shape
    if "SelfAttentionV1" in globals():
        return globals()["SelfAttentionV1"](d_in, d_out)
    for base in type(v2).__mro__:
        names = getattr(base.__dict__.get("__init__"), "__globals__", {})
        if "SelfAttentionV1" in names:
            return names["SelfAttentionV1"](d_in, d_out)
    return _StandIn(d_in, d_out)


def right_new_parameters(v2):
    """right: a new parameter from the detached, transposed and cloned weight, three times."""
    v1 = _new_v1(v2)
    v1.W_query = nn.Parameter(v2.W_query.weight.detach().T.clone())
    v1.W_key = nn.Parameter(v2.W_key.weight.detach().T.clone())
    v1.W_value = nn.Parameter(v2.W_value.weight.detach().T.clone())
    return v1


def right_through_numpy(v2):
    """right: NumPy's transpose with copy, and torch.tensor, which copies as well; device and dtype as in v2."""
    v1 = _new_v1(v2)
    for name in NAMES:
        weight = getattr(v2, name).weight
        matrix = weight.detach().cpu().numpy().transpose().copy()
        setattr(v1, name, nn.Parameter(torch.tensor(matrix, dtype=weight.dtype, device=weight.device)))
    return v1


def right_copies_into(v2):
    """right: keeps the fresh layer's own parameters, and copies the transposed numbers into them."""
    v1 = _new_v1(v2).to(v2.W_query.weight)
    with torch.no_grad():
        for name in NAMES:
            getattr(v1, name).copy_(getattr(v2, name).weight.t())
    return v1


def wrong_not_transposed(v2):
    """wrong: copies the weights without transposing them: they stay (d_out, d_in)."""
    v1 = _new_v1(v2)
    for name in NAMES:
        setattr(v1, name, nn.Parameter(getattr(v2, name).weight.detach().clone()))
    return v1


def wrong_shared_through_numpy(v2):
    """wrong: no copy is made: NumPy's transpose and from_numpy are views, so both layers share their numbers."""
    v1 = _new_v1(v2)
    v1.W_query = nn.Parameter(torch.from_numpy(v2.W_query.weight.detach().numpy().T))
    v1.W_key = nn.Parameter(torch.from_numpy(v2.W_key.weight.detach().numpy().T))
    v1.W_value = nn.Parameter(torch.from_numpy(v2.W_value.weight.detach().numpy().T))
    return v1


def wrong_reshaped(v2):
    """wrong: reshapes the weights to (d_in, d_out) in place of transposing them: right shape, numbers in the wrong places."""
    v1 = _new_v1(v2)
    for name in NAMES:
        w = getattr(v2, name).weight.detach().clone()
        d_out, d_in = w.shape
        setattr(v1, name, nn.Parameter(w.reshape(d_in, d_out)))
    return v1


def wrong_plain_tensors(v2):
    """wrong: the matrices are plain tensors, not parameters, so training can't find them."""
    v1 = _new_v1(v2)
    for name in NAMES:
        delattr(v1, name)
        setattr(v1, name, getattr(v2, name).weight.detach().T.clone())
    return v1


def wrong_square_not_turned(v2):
    """wrong: transposes only where the shapes differ, so matrices with d_in = d_out are copied untransposed."""
    v1 = _new_v1(v2)
    for name in NAMES:
        w = getattr(v2, name).weight.detach().clone()
        if w.shape != getattr(v1, name).shape:
            w = w.T
        setattr(v1, name, nn.Parameter(w))
    return v1


def wrong_contiguous_for_clone(v2):
    """wrong: relies on contiguous() to copy: where d_in or d_out is 1 the transpose is contiguous already, and both layers share their numbers."""
    v1 = _new_v1(v2)
    for name in NAMES:
        setattr(v1, name, nn.Parameter(getattr(v2, name).weight.detach().T.contiguous()))
    return v1


def wrong_freezes_v2(v2):
    """wrong: the new layer is right, but v2 doesn't stay as it is: its weights are frozen (requires_grad is switched off)."""
    v2.requires_grad_(False)
    v1 = _new_v1(v2)
    for name in NAMES:
        setattr(v1, name, nn.Parameter(getattr(v2, name).weight.T.clone()))
    return v1


_made = {}


def wrong_same_layer_again(v2):
    """wrong: keeps the layer made for these widths, and a later call with equal widths overwrites and returns that one, not a new one."""
    shape = tuple(v2.W_query.weight.shape)
    if shape not in _made:
        _made[shape] = _new_v1(v2)
    v1 = _made[shape]
    for name in NAMES:
        getattr(v1, name).data = getattr(v2, name).weight.detach().T.clone()
    return v1


def wrong_frozen_and_exchanged(v2):
    """wrong: two mistakes: query and key matrices are exchanged, and the new parameters are frozen (requires_grad is False)."""
    v1 = _new_v1(v2)
    v1.W_query = nn.Parameter(v2.W_key.weight.detach().T.clone(), requires_grad=False)
    v1.W_key = nn.Parameter(v2.W_query.weight.detach().T.clone(), requires_grad=False)
    v1.W_value = nn.Parameter(v2.W_value.weight.detach().T.clone(), requires_grad=False)
    return v1


ANSWERS = [
    right_new_parameters,
    right_through_numpy,
    right_copies_into,
    wrong_not_transposed,
    wrong_shared_through_numpy,
    wrong_reshaped,
    wrong_plain_tensors,
    wrong_square_not_turned,
    wrong_contiguous_for_clone,
    wrong_freezes_v2,
    wrong_same_layer_again,
    wrong_frozen_and_exchanged,
]
