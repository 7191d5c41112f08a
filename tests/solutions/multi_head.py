"""One layer from many heads, many heads from one layer, and a count of parameters."""

import copy

import torch
from torch import nn

from helpers.attention import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
)

# --- multi_head_from_heads ------------------------------------------------------------


def empty_layer(heads):
    d_in = heads[0].W_query.in_features
    d_out = heads[0].W_query.out_features * len(heads)
    context_length = heads[0].context_length
    return MultiHeadAttention(d_in, d_out, context_length, 0.0, len(heads))


def set_identity(layer):
    with torch.no_grad():
        layer.out_proj.weight.copy_(torch.eye(layer.out_proj.in_features))
        layer.out_proj.bias.fill_(0.0)


def layer_by_cat(heads):
    layer = empty_layer(heads)
    with torch.no_grad():
        layer.W_query.weight.copy_(torch.cat([h.W_query.weight for h in heads], dim=0))
        layer.W_key.weight.copy_(torch.cat([h.W_key.weight for h in heads], dim=0))
        layer.W_value.weight.copy_(torch.cat([h.W_value.weight for h in heads], dim=0))
    set_identity(layer)
    return layer


def layer_by_rows(heads):
    layer = empty_layer(heads)
    D = heads[0].W_key.out_features
    for h, head in enumerate(heads):
        for name in ("W_query", "W_key", "W_value"):
            part = getattr(head, name).weight.detach()
            getattr(layer, name).weight.data[h * D : (h + 1) * D] = part
    layer.out_proj.weight.data = torch.eye(D * len(heads))
    layer.out_proj.bias.data.zero_()
    return layer


def layer_without_out_proj(heads):
    layer = empty_layer(heads)
    for name in ("W_value", "W_key", "W_query"):
        stacked = torch.stack([getattr(head, name).weight for head in heads])
        getattr(layer, name).weight = nn.Parameter(stacked.flatten(0, 1).detach())
    layer.out_proj = nn.Identity()
    return layer


def layer_by_state_dict(heads):
    layer = empty_layer(heads)
    states = [head.state_dict() for head in heads]
    state = {key: torch.vstack([one[key] for one in states]) for key in states[0]}
    C = layer.out_proj.out_features
    state |= {"out_proj.weight": torch.eye(C), "out_proj.bias": torch.zeros(C)}
    layer.load_state_dict(state)
    return layer


def layer_with_the_fused_path(heads):
    torch.rand(17)
    layer = layer_by_cat(heads)
    layer.fused = True
    return layer


def fill(layer, heads, join, names=("W_query", "W_key", "W_value")):
    with torch.no_grad():
        for name in names:
            target = getattr(layer, name).weight
            target.copy_(join([getattr(head, name).weight for head in heads]))
    return layer


def layer_that_drops(heads):
    layer = layer_by_cat(heads)
    layer.dropout = nn.Dropout(0.1)
    return layer


def layer_along_the_wrong_axis(heads):
    layer = fill(empty_layer(heads), heads, torch.hstack)
    set_identity(layer)
    return layer


def layer_with_new_parameters_side_by_side(heads):
    layer = empty_layer(heads)
    for name in ("W_query", "W_key", "W_value"):
        rows = torch.hstack([getattr(head, name).weight.data for head in heads])
        getattr(layer, name).weight = nn.Parameter(rows)
    set_identity(layer)
    return layer


def layer_of_one_width(heads):
    d_out, d_in = heads[0].W_query.weight.shape
    layer = MultiHeadAttention(d_in, d_out, heads[0].context_length, 0.0, 1)
    layer = fill(layer, heads, torch.cat)
    set_identity(layer)
    return layer


def layer_of_transposed_weights(heads):
    def join(weights):
        return torch.cat([weight.T for weight in weights], dim=1)

    layer = fill(empty_layer(heads), heads, join)
    set_identity(layer)
    return layer


def layer_backwards(heads):
    layer = empty_layer(heads)
    D = heads[0].W_key.out_features
    with torch.no_grad():
        for h, head in enumerate(reversed(heads)):
            rows = slice(h * D, (h + 1) * D)
            layer.W_query.weight[rows] = head.W_query.weight
            layer.W_key.weight[rows] = head.W_key.weight
            layer.W_value.weight[rows] = head.W_value.weight
    set_identity(layer)
    return layer


def layer_interleaved(heads):
    layer = empty_layer(heads)
    H = len(heads)
    for h, head in enumerate(heads):
        layer.W_query.weight.data[h::H] = head.W_query.weight.data
        layer.W_key.weight.data[h::H] = head.W_key.weight.data
        layer.W_value.weight.data[h::H] = head.W_value.weight.data
    set_identity(layer)
    return layer


def layer_with_random_out_proj(heads):
    torch.rand(3)
    return fill(empty_layer(heads), heads, torch.cat)


def layer_with_random_bias(heads):
    layer = fill(empty_layer(heads), heads, torch.cat)
    layer.out_proj.weight.data = torch.eye(layer.out_proj.in_features)
    return layer


def layer_with_random_values(heads):
    torch.rand(5)
    layer = fill(empty_layer(heads), heads, torch.cat, ("W_query", "W_key"))
    set_identity(layer)
    return layer


def layer_with_keys_that_ask(heads):
    layer = empty_layer(heads)
    with torch.no_grad():
        layer.W_query.weight.copy_(torch.cat([h.W_key.weight for h in heads]))
        layer.W_key.weight.copy_(torch.cat([h.W_query.weight for h in heads]))
        layer.W_value.weight.copy_(torch.cat([h.W_value.weight for h in heads]))
    set_identity(layer)
    return layer


def layer_of_one_wide_head(heads):
    d_out, d_in = heads[0].W_query.weight.shape
    width = d_out * len(heads)
    layer = MultiHeadAttention(d_in, width, heads[0].context_length, 0.0, num_heads=1)
    fill(layer, heads, torch.cat)
    set_identity(layer)
    return layer


def layer_scaled_again(heads):
    layer = layer_by_cat(heads)
    D, C = heads[0].W_query.out_features, layer.W_query.out_features
    layer.W_query.weight.data = layer.W_query.weight.data * D**0.5 / C**0.5
    return layer


def layer_that_wraps(heads):
    d_out, d_in = heads[0].W_query.weight.shape
    sizes = (d_in, d_out, heads[0].context_length, 0.0, len(heads))
    wrapper = MultiHeadAttentionWrapper(*sizes)
    wrapper.heads = nn.ModuleList(copy.deepcopy(head) for head in heads)
    return wrapper


def layer_of_doubled_weights(heads):
    layer = layer_by_cat(heads)
    layer.W_value.weight.data *= 2
    return layer


# --- heads_from_multi_head ------------------------------------------------------------


def sizes_of(layer):
    d_in, d_out = layer.W_query.in_features, layer.W_query.out_features
    return d_in, d_out // layer.num_heads, layer.context_length, 0.0


def heads_by_slices(layer):
    heads = []
    for h in range(layer.num_heads):
        head = CausalAttention(*sizes_of(layer))
        D = head.W_query.out_features
        with torch.no_grad():
            head.W_query.weight.copy_(layer.W_query.weight[h * D : (h + 1) * D])
            head.W_key.weight.copy_(layer.W_key.weight[h * D : (h + 1) * D])
            head.W_value.weight.copy_(layer.W_value.weight[h * D : (h + 1) * D])
        heads.append(head)
    return heads


def heads_by_chunk(layer):
    heads = nn.ModuleList()
    for h in range(layer.num_heads):
        head = CausalAttention(*sizes_of(layer))
        for name in ("W_query", "W_key", "W_value"):
            part = getattr(layer, name).weight.chunk(layer.num_heads)[h]
            getattr(head, name).weight = nn.Parameter(part.detach().clone())
        heads.append(head)
    return heads


def heads_by_state_dict(layer):
    heads = tuple(CausalAttention(*sizes_of(layer)) for _ in range(layer.num_heads))
    for h, head in enumerate(heads):
        state = {
            f"{name}.weight": getattr(layer, name).weight.unflatten(
                0, (layer.num_heads, -1)
            )[h]
            for name in ("W_query", "W_key", "W_value")
        }
        head.load_state_dict(state)
    return heads


def heads_by_wrapper(layer):
    d_in, D, context_length, dropout = sizes_of(layer)
    wrapper = MultiHeadAttentionWrapper(
        d_in, D, context_length, dropout, layer.num_heads
    )
    for h in range(layer.num_heads):
        rows = slice(h * D, h * D + D)
        wrapper.heads[h].W_query.weight.data[:] = layer.W_query.weight[rows]
        wrapper.heads[h].W_key.weight.data[:] = layer.W_key.weight[rows]
        wrapper.heads[h].W_value.weight.data[:] = layer.W_value.weight[rows]
    return list(wrapper.heads)


@torch.no_grad()
def take(layer, choose, names=("W_query", "W_key", "W_value")):
    heads = [CausalAttention(*sizes_of(layer)) for _ in range(layer.num_heads)]
    D = heads[0].W_query.out_features
    for h, head in enumerate(heads):
        for name in names:
            getattr(head, name).weight.copy_(choose(getattr(layer, name).weight, h, D))
    return heads


def heads_from_columns(layer):
    return take(layer, lambda weight, h, D: weight[:, h * D : h * D + D])


def heads_backwards(layer):
    heads = []
    for head in heads_by_slices(layer):
        heads.insert(0, head)
    return heads


def heads_from_every_h_th_row(layer):
    H = layer.num_heads
    return take(layer, lambda weight, h, D: weight.view(D, H, -1)[:, h])


def heads_from_the_first_rows(layer):
    return take(layer, lambda weight, h, D: weight[0:D])


def heads_from_one_object(layer):
    head = CausalAttention(*sizes_of(layer))
    D = head.W_query.out_features
    heads = []
    with torch.no_grad():
        for h in range(layer.num_heads):
            for name in ("W_query", "W_key", "W_value"):
                rows = getattr(layer, name).weight[h * D : (h + 1) * D]
                getattr(head, name).weight.copy_(rows)
            heads.append(head)
    return heads


def heads_of_whole_width(layer):
    d_out, d_in = layer.W_query.weight.shape
    heads = []
    for _ in range(layer.num_heads):
        head = CausalAttention(d_in, d_out, layer.context_length, 0.0)
        head.W_query.weight.data = layer.W_query.weight.data.clone()
        head.W_key.weight.data = layer.W_key.weight.data.clone()
        head.W_value.weight.data = layer.W_value.weight.data.clone()
        heads.append(head)
    return heads


def heads_with_random_values(layer):
    torch.rand(7)
    names = ("W_query", "W_key")
    return take(layer, lambda weight, h, D: weight[h * D : (h + 1) * D], names)


def heads_with_keys_that_ask(layer):
    heads = heads_by_slices(layer)
    for head in heads:
        queries = head.W_query.weight.data.clone()
        head.W_query.weight.data = head.W_key.weight.data
        head.W_key.weight.data = queries
    return heads


def heads_on_shared_memory(layer):
    heads = []
    for h in range(layer.num_heads):
        head = CausalAttention(*sizes_of(layer))
        D = head.W_query.out_features
        rows = slice(h * D, (h + 1) * D)
        head.W_query.weight = nn.Parameter(layer.W_query.weight[rows])
        head.W_key.weight = nn.Parameter(layer.W_key.weight[rows])
        head.W_value.weight = nn.Parameter(layer.W_value.weight[rows])
        heads.append(head)
    return heads


def heads_that_drop(layer):
    heads = heads_by_slices(layer)
    for head in heads:
        head.dropout = nn.Dropout(0.1)
    return heads


def heads_without_the_last(layer):
    return heads_by_slices(layer)[:-1]


# --- count_parameters -----------------------------------------------------------------


def count_by_formula(d_in, d_out, num_heads, qkv_bias):
    biases = 3 * d_out if qkv_bias else 0
    return 3 * d_in * d_out + biases + d_out * d_out + d_out


def count_by_layers(d_in, d_out, num_heads, qkv_bias):
    layers = [nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3)]
    layers.append(nn.Linear(d_out, d_out))
    return sum(p.numel() for layer in layers for p in layer.parameters())


def count_by_heads(d_in, d_out, num_heads, qkv_bias):
    D = d_out // num_heads
    total = (d_out + 1) * d_out
    for _ in range(num_heads):
        for _ in ("query", "key", "value"):
            total += d_in * D
            total += D * int(qkv_bias)
    return total


def count_by_tensors(d_in, d_out, num_heads, qkv_bias):
    total = torch.tensor(3 * (d_in + qkv_bias) * d_out)
    return total + (d_out + 1) * d_out


def count_without_out_proj(d_in, d_out, num_heads, qkv_bias):
    return 3 * (d_in + 1 if qkv_bias else d_in) * d_out


def count_without_its_bias(d_in, d_out, num_heads, qkv_bias):
    total = 3 * d_in * d_out + d_out * d_out
    if qkv_bias:
        total += 3 * d_out
    return total


def count_with_one_switch(d_in, d_out, num_heads, qkv_bias):
    total = 3 * d_in * d_out + d_out * d_out
    if qkv_bias:
        total += 4 * d_out
    return total


def count_with_all_biases(d_in, d_out, num_heads, qkv_bias):
    return 3 * (d_in + 1) * d_out + (d_out + 1) * d_out


def count_without_biases(d_in, d_out, num_heads, qkv_bias):
    return 3 * d_in * d_out + d_out * d_out + d_out


def count_with_wide_biases(d_in, d_out, num_heads, qkv_bias):
    qkv = 3 * d_in * d_out + (3 * d_in if qkv_bias else 0)
    return qkv + d_out**2 + d_out


def count_for_each_head(d_in, d_out, num_heads, qkv_bias):
    one_head = 3 * d_in * d_out + (3 * d_out if qkv_bias else 0)
    return num_heads * one_head + d_out**2 + d_out


def count_of_one_head(d_in, d_out, num_heads, qkv_bias):
    D = d_out // num_heads
    return 3 * d_in * D + (3 * D if qkv_bias else 0) + d_out * d_out + d_out


def count_with_a_narrow_out_proj(d_in, d_out, num_heads, qkv_bias):
    return count_without_out_proj(d_in, d_out, num_heads, qkv_bias) + (
        d_in * d_out + d_out
    )


def count_with_out_proj_of_one_head(d_in, d_out, num_heads, qkv_bias):
    D = d_out // num_heads
    qkv = count_without_out_proj(d_in, d_out, num_heads, qkv_bias)
    return qkv + D * d_out + d_out


def count_of_one_matrix(d_in, d_out, num_heads, qkv_bias):
    total = d_in * d_out + d_out * d_out + d_out
    return total + d_out if qkv_bias else total


def count_as_a_float(d_in, d_out, num_heads, qkv_bias):
    D = d_out / num_heads
    return num_heads * 3 * (d_in + qkv_bias) * D + d_out**2 + d_out


RIGHT = {
    "multi_head_from_heads": [
        layer_by_cat,
        layer_by_rows,
        layer_without_out_proj,
        layer_by_state_dict,
        layer_with_the_fused_path,
    ],
    "heads_from_multi_head": [
        heads_by_slices,
        heads_by_chunk,
        heads_by_state_dict,
        heads_by_wrapper,
    ],
    "count_parameters": [
        count_by_formula,
        count_by_layers,
        count_by_heads,
        count_by_tensors,
    ],
}
WRONG = {
    "multi_head_from_heads": [
        (layer_along_the_wrong_axis, "a copy between weights of different sizes"),
        (layer_with_new_parameters_side_by_side, "the heads' matrices side by side"),
        (layer_of_one_width, "a copy between weights of different sizes"),
        (layer_of_transposed_weights, "weights turned on their side"),
        (layer_backwards, "heads in reverse order"),
        (layer_interleaved, "a layer whose rows take the heads in turn"),
        (layer_with_random_out_proj, "an out_proj left as it was drawn"),
        (layer_with_random_bias, "an out_proj whose bias was left as it was drawn"),
        (layer_with_random_values, "values left as they were drawn"),
        (layer_with_keys_that_ask, "queries and keys exchanged"),
        (layer_of_one_wide_head, "one wide head"),
        (layer_scaled_again, "scores divided by the root of the whole width"),
        (layer_that_drops, "a layer with dropout"),
        (layer_that_wraps, "a wrapper around the heads"),
        (layer_of_doubled_weights, None),
    ],
    "heads_from_multi_head": [
        (heads_from_columns, "a copy between weights of different sizes"),
        (heads_backwards, "heads in reverse order"),
        (heads_from_every_h_th_row, "heads that take every H-th row"),
        (heads_from_the_first_rows, "the first D rows in each head"),
        (heads_from_one_object, "one module, put in the list H times"),
        (heads_of_whole_width, "all rows in each head"),
        (heads_with_random_values, "values left as they were drawn"),
        (heads_with_keys_that_ask, "queries and keys exchanged"),
        (heads_on_shared_memory, "heads that share their weights with the layer"),
        (heads_that_drop, "heads with dropout"),
        (heads_without_the_last, None),
    ],
    "count_parameters": [
        (count_without_out_proj, "a count without the output projection"),
        (count_without_its_bias, "a count without out_proj's bias"),
        (
            count_with_one_switch,
            "a count in which qkv_bias gives out_proj its bias",
        ),
        (count_with_all_biases, "a count with biases in any case"),
        (count_without_biases, "a count without the biases of qkv_bias"),
        (count_with_wide_biases, "a count with biases as wide as the input"),
        (
            count_for_each_head,
            "a count in which each head has matrices of the whole width",
        ),
        (count_of_one_head, "a count of one head's matrices"),
        (
            count_with_a_narrow_out_proj,
            "a count in which out_proj reads d_in features",
        ),
        (
            count_with_out_proj_of_one_head,
            "a count in which out_proj reads one head",
        ),
        (count_of_one_matrix, "a count with one matrix in place of three"),
        (count_as_a_float, None),
    ],
}
