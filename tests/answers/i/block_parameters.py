"""Answers to block_parameters by hand i."""

import math

import torch


def right_formula(d_model, num_heads):
    """right: the closed formula 12 d^2 + 10 d."""
    return 2 * d_model * (6 * d_model + 5)


def right_list_of_shapes(d_model, num_heads):
    """right: a list of every tensor's shape, counted by math.prod, with the heads as an axis of their own."""
    d, h, wide = d_model, num_heads, 4 * d_model
    shapes = [(d,), (d,)] * 2  # two norms: scale and shift
    shapes += [(h, d // h, d)] * 3  # queries, keys, values
    shapes += [(d, d), (d,)]
    shapes += [(wide, d), (wide,), (d, wide), (d,)]
    return sum(math.prod(shape) for shape in shapes)


def right_meta_linear(d_model, num_heads):
    """right: no block is built, but single empty layers on the meta device are counted."""
    with torch.device("meta"):
        layers = [torch.nn.LayerNorm(d_model) for _ in range(2)]
        layers += [torch.nn.Linear(d_model, d_model, bias=i == 3) for i in range(4)]
        layers += [torch.nn.Linear(d_model, 4 * d_model), torch.nn.Linear(4 * d_model, d_model)]
    return sum(x.numel() for layer in layers for x in layer.parameters())


def wrong_no_biases_no_norms(d_model, num_heads):
    """wrong: only the linear layers' matrices are counted, 12 d^2: the biases (out_proj d, MLP 4d + d) and both norms (4d) are missing."""
    attention = 4 * d_model**2
    mlp = 2 * d_model * 4 * d_model
    return attention + mlp


def wrong_one_norm(d_model, num_heads):
    """wrong: only one norm (2d) is counted instead of two: 2d too few."""
    norm = 2 * d_model
    attention = 3 * d_model * d_model + (d_model + 1) * d_model
    mlp = (d_model + 1) * 4 * d_model + (4 * d_model + 1) * d_model
    return norm + attention + mlp


def wrong_no_mlp_biases(d_model, num_heads):
    """wrong: the two biases of the MLP (4d and d) are left out: 5d too few."""
    d = d_model
    total = 2 * (d + d)  # norms
    total += 3 * d * d + d * d + d
    total += d * 4 * d + 4 * d * d
    return total


def wrong_no_output_projection(d_model, num_heads):
    """wrong: the attention's output layer (d^2 + d) is left out."""
    D = d_model // num_heads
    attention = num_heads * 3 * d_model * D
    hidden = 4 * d_model
    mlp = d_model * hidden + hidden + hidden * d_model + d_model
    return 2 * (2 * d_model) + attention + mlp


def wrong_bias_for_queries_keys_values(d_model, num_heads):
    """wrong: the query, key and value layers get a bias too: 3d too many."""

    def linear(d_in, d_out):
        return d_in * d_out + d_out

    attention = 4 * linear(d_model, d_model)
    mlp = linear(d_model, 4 * d_model) + linear(4 * d_model, d_model)
    return attention + mlp + 4 * d_model


def wrong_every_head_full_width(d_model, num_heads):
    """wrong: every head has query, key and value matrices of d x d instead of d x d/num_heads, so 3 d^2 (num_heads - 1) too many; right for one head."""
    total = 0
    for _ in range(num_heads):
        total += 3 * d_model * d_model
    total += d_model * d_model + d_model
    total += 8 * d_model * d_model + 5 * d_model
    total += 4 * d_model
    return total


def wrong_one_head_counted(d_model, num_heads):
    """wrong: queries, keys and values are counted for one head only, 3 d (d // num_heads); right for one head."""
    head = d_model // num_heads
    qkv = 3 * d_model * head
    out = d_model * d_model + d_model
    mlp = 2 * (4 * d_model * d_model) + 4 * d_model + d_model
    return qkv + out + mlp + 2 * 2 * d_model


def wrong_mlp_inner_bias(d_model, num_heads):
    """wrong: both layers of the MLP get a bias of d, so the first one's, which is 4d, is 3d too small."""
    wide = 4 * d_model
    mlp = 2 * (d_model * wide + d_model)
    attention = 4 * d_model**2 + d_model
    return 4 * d_model + attention + mlp


def wrong_mlp_second_layer_missing_and_unbiased_out(d_model, num_heads):
    """wrong: two mistakes: the MLP's second layer (4 d^2 + d) is missing, and the attention's output layer has no bias (d too few)."""
    attention = 4 * d_model * d_model
    mlp = d_model * 4 * d_model + 4 * d_model
    norms = 2 * (d_model + d_model)
    return attention + mlp + norms


def wrong_mlp_three_layers_wide(d_model, num_heads):
    """wrong: the MLP is counted with a third layer inside, (4d) x (4d) with a bias of 4d: 16 d^2 + 4d too many."""
    sizes = [d_model, 4 * d_model, 4 * d_model, d_model]
    mlp = sum(a * b + b for a, b in zip(sizes[:-1], sizes[1:], strict=True))
    return 4 * d_model + 3 * d_model**2 + d_model * (d_model + 1) + mlp


def wrong_no_output_layer_no_mlp_biases(d_model, num_heads):
    """wrong: two mistakes: the attention's output layer (d^2 + d) is left out, and so are both biases of the MLP (4d and d)."""
    norms = 2 * (d_model + d_model)
    attention = sum(d_model * d_model for _ in ("query", "key", "value"))
    hidden = 4 * d_model
    mlp = d_model * hidden + hidden * d_model
    return norms + attention + mlp


ANSWERS = [
    right_formula,
    right_list_of_shapes,
    right_meta_linear,
    wrong_no_biases_no_norms,
    wrong_one_norm,
    wrong_no_mlp_biases,
    wrong_no_output_projection,
    wrong_bias_for_queries_keys_values,
    wrong_every_head_full_width,
    wrong_one_head_counted,
    wrong_mlp_inner_bias,
    wrong_mlp_second_layer_missing_and_unbiased_out,
    wrong_mlp_three_layers_wide,
    wrong_no_output_layer_no_mlp_biases,
]
