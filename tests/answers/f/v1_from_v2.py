"""Answers to a V1 from a V2: v1_from_v2.

The task gives neither the class SelfAttentionV1 nor the names of its parts.
The class below stands in for it; set this module's name SelfAttentionV1 to the
real class before calling, and the answers build that one (they look the name up
at the call, build it with (d_in, d_out) and find its three parameters by name,
or by their order: queries, keys, values).
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionV1(nn.Module):
    """Stand-in: self-attention with three matrices (d_in, d_out)."""

    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))
        self.divisor = 1.0

    def forward(self, x):
        queries, keys, values = x @ self.W_query, x @ self.W_key, x @ self.W_value
        scores = queries @ keys.transpose(-2, -1) / self.divisor
        return torch.softmax(scores, dim=-1) @ values


def _roles(module):
    """Names of a module's parameters for queries, keys and values."""
    names = [name for name, _ in module.named_parameters()]
    found = []
    for place, word in enumerate(("quer", "key", "val")):
        fitting = [name for name in names if word in name.lower()]
        found.append(fitting[0] if fitting else names[place])
    return found


def _matrices(module):
    """A module's three matrices: queries, keys, values."""
    named = dict(module.named_parameters())
    return [named[name] for name in _roles(module)]


def _divisor_of(v2):
    """Whether this V2 divides its scores by the square root of d_out, or by 1."""
    w_query, w_key, w_value = [w.detach() for w in _matrices(v2)]
    d_out, d_in = w_query.shape
    x = torch.sin(torch.arange(4.0 * d_in)).reshape(4, d_in).to(w_query)
    with torch.no_grad():
        there = v2(x)
    errors = {}
    for divisor in (1.0, math.sqrt(d_out)):
        scores = (x @ w_query.T) @ (x @ w_key.T).T / divisor
        here = torch.softmax(scores, dim=-1) @ (x @ w_value.T)
        errors[divisor] = float((here - there).abs().max())
    return min(errors, key=errors.get)


def _fresh(v2):
    """A new V1 of v2's widths, dtype and device, with random numbers."""
    w = _matrices(v2)[0]
    d_out, d_in = w.shape
    v1 = SelfAttentionV1(d_in, d_out).to(device=w.device, dtype=w.dtype)
    if hasattr(v1, "divisor"):
        v1.divisor = _divisor_of(v2)
    return v1


def right_new_parameters(v2):
    """right: new parameters made of detached, transposed clones."""
    v1 = _fresh(v2)
    for name, w in zip(_roles(v1), _matrices(v2)):
        setattr(v1, name, nn.Parameter(w.detach().T.clone()))
    return v1


def right_copy_in(v2):
    """right: copies the transposes into the new layer's own parameters without gradients."""
    v1 = _fresh(v2)
    with torch.no_grad():
        for mine, theirs in zip(_matrices(v1), _matrices(v2)):
            mine.copy_(theirs.transpose(0, 1))
    return v1


def right_identity_through(v2):
    """right: sends the identity matrix through each linear map, whose result is the transposed matrix in new memory."""
    layer = _fresh(v2)
    queries = _matrices(v2)[0]
    eye = torch.eye(queries.shape[1], dtype=queries.dtype, device=queries.device)
    with torch.no_grad():
        for p, w in zip(_matrices(layer), _matrices(v2)):
            p.data = F.linear(eye, w)
    return layer


def wrong_no_transpose(v2):
    """wrong: copies the matrices as they are, without the transpose."""
    v1 = _fresh(v2)
    for name, w in zip(_roles(v1), _matrices(v2)):
        setattr(v1, name, nn.Parameter(w.detach().clone()))
    return v1


def wrong_reshape(v2):
    """wrong: reshapes the matrices from (d_out, d_in) to (d_in, d_out) in place of transposing."""
    v1 = _fresh(v2)
    with torch.no_grad():
        for a, b in zip(_matrices(v1), _matrices(v2)):
            a.copy_(b.reshape(a.shape))
    return v1


def wrong_same_memory(v2):
    """wrong: wraps the transposed views in parameters without a copy, so both layers share their numbers and training one changes the other."""
    new = _fresh(v2)
    n = _roles(new)
    q, k, v = _matrices(v2)
    setattr(new, n[0], nn.Parameter(q.data.T))
    setattr(new, n[1], nn.Parameter(k.data.T))
    setattr(new, n[2], nn.Parameter(v.data.T))
    return new


def wrong_queries_are_keys(v2):
    """wrong: exchanges queries and keys: the new query matrix comes from v2's keys and the other way round."""
    v1 = _fresh(v2)
    q, k, v = _matrices(v2)
    for mine, theirs in zip(_matrices(v1), (k, q, v)):
        mine.data = theirs.data.T.clone()
    return v1


def wrong_values_shared(v2):
    """wrong: copies queries and keys, but the value matrix is a transposed view of v2's, so the layers share it."""
    v1 = _fresh(v2)
    names = _roles(v1)
    q, k, v = (w.detach().t() for w in _matrices(v2))
    setattr(v1, names[0], nn.Parameter(q.clone()))
    setattr(v1, names[1], nn.Parameter(k.clone()))
    setattr(v1, names[2], nn.Parameter(v))
    return v1


def wrong_frozen(v2):
    """wrong: the new parameters don't require gradients, so training can't change them."""
    v1 = _fresh(v2)
    for name, w in zip(_roles(v1), _matrices(v2)):
        copy = w.detach().T.contiguous().clone()
        setattr(v1, name, nn.Parameter(copy, requires_grad=False))
    return v1


def wrong_square_not_turned(v2):
    """wrong: transposes only where the shapes don't fit, so with d_in equal to d_out the matrices are not transposed."""
    v1 = _fresh(v2)
    with torch.no_grad():
        for to, fro in zip(_matrices(v1), _matrices(v2)):
            if to.shape == fro.shape:
                to.copy_(fro)
            else:
                to.copy_(fro.T)
    return v1


def wrong_freezes_v2(v2):
    """wrong: turns off requires_grad in v2 itself to be able to copy, and leaves it off, so v2 doesn't stay as it is."""
    v2.requires_grad_(False)
    v1 = _fresh(v2)
    for name, w in zip(_roles(v1), _matrices(v2)):
        setattr(v1, name, nn.Parameter(torch.clone(w.T)))
    return v1


def wrong_keys_values_and_views(v2):
    """wrong: two mistakes: exchanges keys and values, and takes transposed views without a copy, so the layers share their numbers."""
    v1 = _fresh(v2)
    query, key, value = _matrices(v2)
    for p, w in zip(_matrices(v1), [query, value, key]):
        p.data = w.data.T
    return v1


ANSWERS = [
    right_new_parameters,
    right_copy_in,
    right_identity_through,
    wrong_no_transpose,
    wrong_reshape,
    wrong_same_memory,
    wrong_queries_are_keys,
    wrong_values_shared,
    wrong_frozen,
    wrong_square_not_turned,
    wrong_freezes_v2,
    wrong_keys_values_and_views,
]
