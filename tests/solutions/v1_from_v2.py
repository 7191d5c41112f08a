"""V2's entries in a V1."""

import torch
import torch.nn.functional as F
from torch import nn

from helpers.attention import SelfAttentionV1


def new_v1(v2):
    d_out, d_in = v2.W_query.weight.shape
    return SelfAttentionV1(d_in, d_out)


def by_copy(v2):
    v1 = new_v1(v2)
    with torch.no_grad():
        v1.W_query.copy_(v2.W_query.weight.T)
        v1.W_key.copy_(v2.W_key.weight.T)
        v1.W_value.copy_(v2.W_value.weight.T)
    return v1


def by_state_dict(v2):
    v1 = SelfAttentionV1(v2.W_query.in_features, v2.W_query.out_features)
    entries = v2.state_dict().items()
    v1.load_state_dict({name.removesuffix(".weight"): w.T for name, w in entries})
    return v1


def by_new_parameters(v2):
    v1 = new_v1(v2)
    v1.W_value = nn.Parameter(v2.W_value.weight.detach().T.clone())
    v1.W_key = nn.Parameter(v2.W_key.weight.detach().T.clone())
    v1.W_query = nn.Parameter(v2.W_query.weight.detach().T.clone())
    return v1


def by_data(v2):
    v1 = new_v1(v2)
    for name, own in v1.named_parameters():
        own.data = getattr(v2, name).weight.data.T.clone()
    return v1


def by_contiguous_data(v2):
    """No copy where d_in or d_out is 1: the transpose is contiguous already."""
    v1 = new_v1(v2)
    for name, own in v1.named_parameters():
        own.data = getattr(v2, name).weight.data.T.contiguous()
    return v1


class OwnV1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x, return_weights=False):
        parts = (x @ self.W_query, x @ self.W_key, x @ self.W_value)
        return F.scaled_dot_product_attention(*parts)


def into_a_class_of_its_own(v2):
    v1 = OwnV1(v2.W_query.in_features, v2.W_query.out_features)
    with torch.no_grad():
        for own, linear in zip(v1.parameters(), v2.children(), strict=True):
            own[:] = linear.weight.t()
    return v1


def widths_exchanged(v2):
    v1 = SelfAttentionV1(*v2.W_query.weight.shape)
    v1.load_state_dict(
        {name: getattr(v2, name).weight for name, _ in v1.named_parameters()}
    )
    return v1


def reshaped(v2):
    v1 = new_v1(v2)
    with torch.no_grad():
        for name, own in v1.named_parameters():
            own.copy_(getattr(v2, name).weight.reshape(own.shape))
    return v1


def exchanged(v2):
    v1 = new_v1(v2)
    with torch.no_grad():
        v1.W_key.copy_(v2.W_query.weight.T)
        v1.W_query.copy_(v2.W_key.weight.T)
        v1.W_value.copy_(v2.W_value.weight.T)
    return v1


def frozen(v2):
    v1 = new_v1(v2)
    for name in ("W_query", "W_key", "W_value"):
        matrix = getattr(v2, name).weight.T.clone()
        setattr(v1, name, nn.Parameter(matrix, requires_grad=False))
    return v1


class Plain(nn.Module):
    def __init__(self, v2):
        super().__init__()
        self.W_query = v2.W_query.weight.data.T.clone()
        self.W_key = v2.W_key.weight.data.T.clone()
        self.W_value = v2.W_value.weight.data.T.clone()

    def forward(self, x):
        return F.scaled_dot_product_attention(
            x @ self.W_query, x @ self.W_key, x @ self.W_value
        )


def with_v2_frozen(v2):
    v2.requires_grad_(False)
    v1 = new_v1(v2)
    v1.requires_grad_(False)
    for name, matrix in v1.named_parameters():
        matrix.copy_(getattr(v2, name).weight.T)
    return v1.requires_grad_()


def without_parameters(v2):
    return Plain(v2)


def shared(v2):
    v1 = new_v1(v2)
    for name, own in v1.named_parameters():
        own.data = getattr(v2, name).weight.data.T
    return v1


def halved(v2):
    v1 = by_copy(v2)
    with torch.no_grad():
        for own in v1.parameters():
            own /= 2
    return v1


RIGHT = [
    by_copy,
    by_state_dict,
    by_new_parameters,
    by_data,
    into_a_class_of_its_own,
]
WRONG = [
    (by_contiguous_data, None),
    (with_v2_frozen, "a copy that leaves v2 without training"),
    (widths_exchanged, "a V1 whose matrices are (d_out, d_in)"),
    (reshaped, "a reshape in place of the transpose"),
    (exchanged, "a copy with query and key exchanged"),
    (frozen, "a V1 that no training can change"),
    (without_parameters, "a V1 whose matrices are no parameters"),
    (shared, "a V1 that shares its numbers with v2"),
    (halved, None),
]
