"""Answers to v1_from_v2 by hand h."""

import copy

import torch
from torch import nn

from helpers.attention import SelfAttentionV1


def right_new_parameters(v2):
    """right: a new nn.Parameter from the detached, transposed and cloned weight."""
    d_out, d_in = v2.W_query.weight.shape
    v1 = SelfAttentionV1(d_in, d_out)
    for name in ("W_query", "W_key", "W_value"):
        weight = getattr(v2, name).weight
        setattr(v1, name, nn.Parameter(weight.detach().T.clone()))
    return v1


def right_state_dict(v2):
    """right: a deep copy of v2's state, transposed, goes through load_state_dict, which copies the numbers."""
    v1 = SelfAttentionV1(v2.W_key.in_features, v2.W_key.out_features).to(v2.W_key.weight)
    state = copy.deepcopy(v2.state_dict())
    v1.load_state_dict({k.removesuffix(".weight"): m.t() for k, m in state.items()})
    return v1


def right_from_the_unit_vectors(v2):
    """right: sends the identity through each linear layer, which gives its matrix transposed, and copies that in."""
    lin = v2.W_value
    v1 = SelfAttentionV1(lin.in_features, lin.out_features)
    v1 = v1.to(lin.weight.device, lin.weight.dtype)
    with torch.no_grad():
        eye = torch.eye(lin.in_features, dtype=lin.weight.dtype, device=lin.weight.device)
        v1.W_query.copy_(v2.W_query(eye))
        v1.W_key.copy_(v2.W_key(eye))
        v1.W_value.copy_(v2.W_value(eye))
    return v1


def wrong_not_transposed(v2):
    """wrong: the weights are cloned without transposing; V1 gets (d_out, d_in) matrices."""
    d_out, d_in = v2.W_query.weight.shape
    v1 = SelfAttentionV1(d_in, d_out)
    v1.W_query = nn.Parameter(v2.W_query.weight.detach().clone())
    v1.W_key = nn.Parameter(v2.W_key.weight.detach().clone())
    v1.W_value = nn.Parameter(v2.W_value.weight.detach().clone())
    return v1


def wrong_shares_memory(v2):
    """wrong: the transposed weights are views, not copies: V1's parameters share their memory with v2's."""
    d_out, d_in = v2.W_query.weight.shape
    v1 = SelfAttentionV1(d_in, d_out)
    v1.W_query = nn.Parameter(v2.W_query.weight.T)
    v1.W_key = nn.Parameter(v2.W_key.weight.T)
    v1.W_value = nn.Parameter(v2.W_value.weight.T)
    return v1


def wrong_reshaped(v2):
    """wrong: the matrices are reshaped to (d_in, d_out), not transposed, so their numbers land in the wrong places (for d_in = d_out they are just not transposed)."""
    d_in, d_out = v2.W_query.in_features, v2.W_query.out_features
    v1 = SelfAttentionV1(d_in, d_out).to(v2.W_query.weight.dtype)
    with torch.no_grad():
        for p, lin in zip(v1.parameters(), (v2.W_query, v2.W_key, v2.W_value)):
            p.copy_(lin.weight.reshape(d_in, d_out))
    return v1


def wrong_query_and_key_swapped(v2):
    """wrong: V1's W_query gets v2's key matrix, and its W_key gets v2's query matrix."""
    d_out, d_in = v2.W_query.weight.shape
    v1 = SelfAttentionV1(d_in, d_out)
    key, query, value = (
        layer.weight.detach().t().clone() for layer in (v2.W_query, v2.W_key, v2.W_value)
    )
    v1.W_query, v1.W_key, v1.W_value = map(nn.Parameter, (query, key, value))
    return v1


def wrong_value_forgotten(v2):
    """wrong: W_value is never copied; V1 keeps its own random value matrix."""
    v1 = SelfAttentionV1(v2.W_query.in_features, v2.W_query.out_features)
    v1 = v1.to(v2.W_query.weight.dtype)
    v1.W_query.data.copy_(v2.W_query.weight.data.T)
    v1.W_key.data.copy_(v2.W_key.weight.data.T)
    return v1


def wrong_frozen(v2):
    """wrong: the new parameters are made with requires_grad=False, so training can't change them."""
    d_out, d_in = v2.W_query.weight.shape
    v1 = SelfAttentionV1(d_in, d_out)
    for name, _ in list(v1.named_parameters()):
        weight = v2.get_submodule(name).weight.detach().t().clone()
        v1.register_parameter(name, nn.Parameter(weight, requires_grad=False))
    return v1


def wrong_freezes_v2(v2):
    """wrong: it sets requires_grad to False on v2's parameters and leaves it so; v2 doesn't stay as it was and can't be trained any more."""
    for parameter in v2.parameters():
        parameter.requires_grad_(False)
    d_out, d_in = v2.W_query.weight.shape
    v1 = SelfAttentionV1(d_in, d_out)
    v1.W_query = nn.Parameter(v2.W_query.weight.T.clone())
    v1.W_key = nn.Parameter(v2.W_key.weight.T.clone())
    v1.W_value = nn.Parameter(v2.W_value.weight.T.clone())
    return v1


def wrong_contiguous_taken_for_a_copy(v2):
    """wrong: .T.contiguous() is taken for a copy; where d_in or d_out is 1 it copies nothing, and V1 shares its memory with v2."""
    d_out, d_in = v2.W_query.weight.shape
    v1 = SelfAttentionV1(d_in, d_out)
    for name in ["W_query", "W_key", "W_value"]:
        getattr(v1, name).data = getattr(v2, name).weight.detach().T.contiguous()
    return v1


def wrong_value_from_key_and_shared(v2):
    """wrong: two mistakes: W_value gets v2's key matrix (copied from the line above), and it is a view of v2's memory; W_query and W_key are right."""
    d_out, d_in = v2.W_query.weight.shape
    v1 = SelfAttentionV1(d_in, d_out)
    v1.W_query = nn.Parameter(v2.W_query.weight.detach().T.clone())
    v1.W_key = nn.Parameter(v2.W_key.weight.detach().T.clone())
    v1.W_value = nn.Parameter(v2.W_key.weight.detach().T)
    return v1


def wrong_turns_v2_around(v2):
    """wrong: it transposes v2's own weights in place and clones them, and doesn't turn them back, so v2 is changed."""
    d_out, d_in = v2.W_query.weight.shape
    v1 = SelfAttentionV1(d_in, d_out)
    for name in ("W_query", "W_key", "W_value"):
        linear = getattr(v2, name)
        linear.weight.data = linear.weight.data.T
        setattr(v1, name, nn.Parameter(linear.weight.detach().clone()))
    return v1


ANSWERS = [
    right_new_parameters,
    right_state_dict,
    right_from_the_unit_vectors,
    wrong_not_transposed,
    wrong_shares_memory,
    wrong_reshaped,
    wrong_query_and_key_swapped,
    wrong_value_forgotten,
    wrong_frozen,
    wrong_freezes_v2,
    wrong_contiguous_taken_for_a_copy,
    wrong_value_from_key_and_shared,
    wrong_turns_v2_around,
]
