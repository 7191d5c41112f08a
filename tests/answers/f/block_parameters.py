"""Answers to count the numbers of a block: block_parameters."""

import torch


def right_formula(d_model, num_heads):
    """right: 12 d^2 + 10 d, whatever the number of heads."""
    return 12 * d_model**2 + 10 * d_model


def right_item_by_item(d_model, num_heads):
    """right: norms, queries keys values, output layer, MLP, added one after the other."""
    hidden = 4 * d_model
    norms = 2 * (d_model + d_model)
    qkv = 3 * d_model * d_model
    output = d_model * d_model + d_model
    up = d_model * hidden + hidden
    down = hidden * d_model + d_model
    return norms + qkv + output + up + down


def right_table_of_layers(d_model, num_heads):
    """right: a table of all layers (inputs, outputs, bias), norms as layers with one input and a bias, summed in a loop."""
    c = d_model
    layers = [(c, c, False)] * 3 + [(c, c, True), (c, 4 * c, True), (4 * c, c, True)]
    layers += [(1, c, True), (1, c, True)]
    count = 0
    for n_in, n_out, bias in layers:
        count += (n_in + bias) * n_out
    return count


def wrong_qkv_with_bias(d_model, num_heads):
    """wrong: counts a bias for queries, keys and values, too: 3 d_model too many."""
    def linear(a, b):
        return a * b + b

    att = 4 * linear(d_model, d_model)
    mlp = linear(d_model, 4 * d_model) + linear(4 * d_model, d_model)
    return att + mlp + 4 * d_model


def wrong_norms_without_bias(d_model, num_heads):
    """wrong: counts only the scales of the two norms, not their biases: 2 d_model too few."""
    attention = 3 * d_model**2 + (d_model**2 + d_model)
    mlp = 2 * (d_model * 4 * d_model) + 4 * d_model + d_model
    return attention + mlp + 2 * d_model


def wrong_output_without_bias(d_model, num_heads):
    """wrong: counts no bias in attention's output layer: d_model too few."""
    n = 4 * d_model * d_model
    n += d_model * 4 * d_model + 4 * d_model
    n += 4 * d_model * d_model + d_model
    n += 2 * 2 * d_model
    return n


def wrong_full_matrices_per_head(d_model, num_heads):
    """wrong: gives each head its own three matrices of full width d_model, so the count grows with num_heads; right for one head."""
    total = 0
    for _ in range(num_heads):
        total += 3 * d_model * d_model
    total += d_model * (d_model + 1)
    total += 4 * d_model * (d_model + 1) + d_model * (4 * d_model + 1)
    return total + 4 * d_model


def wrong_one_head_needs_no_output(d_model, num_heads):
    """wrong: leaves attention's output layer out where there is a single head; right for several heads."""
    C = d_model
    params = 3 * C * C + 4 * C
    if num_heads > 1:
        params += C * C + C
    params += 8 * C * C + 5 * C
    return params


def wrong_biases_of_width_64(d_model, num_heads):
    """wrong: has the number of biases and norm parameters fixed for a width of 64 (640); right for d_model = 64 only."""
    matrices = 12 * d_model * d_model
    small_ones = 640
    return matrices + small_ones


def wrong_sum_in_float32(d_model, num_heads):
    """wrong: adds in float32 and converts to int at the end, so counts above about 16.8 million (2^24) can be rounded."""
    d = torch.tensor(float(d_model))
    pieces = torch.stack([2 * d, 3 * d * d, d * d + d, 2 * d, 4 * d * d + 4 * d, 4 * d * d + d])
    return int(pieces.sum().item())


def wrong_hidden_bias_too_narrow(d_model, num_heads):
    """wrong: counts d_model biases in the MLP's first layer, which has 4 d_model: 3 d_model too few."""
    attn = 4 * d_model**2 + d_model
    fc1 = d_model * (4 * d_model) + d_model
    fc2 = (4 * d_model) * d_model + d_model
    ln = d_model * 2
    return attn + fc1 + fc2 + ln + ln


def wrong_no_norms_and_narrow_mlp(d_model, num_heads):
    """wrong: two mistakes: leaves both norms out, and takes the MLP as wide as d_model inside, not 4 times as wide."""
    attention = 4 * d_model * d_model + d_model
    mlp = 2 * (d_model * d_model + d_model)
    return attention + mlp


ANSWERS = [
    right_formula,
    right_item_by_item,
    right_table_of_layers,
    wrong_qkv_with_bias,
    wrong_norms_without_bias,
    wrong_output_without_bias,
    wrong_full_matrices_per_head,
    wrong_one_head_needs_no_output,
    wrong_biases_of_width_64,
    wrong_sum_in_float32,
    wrong_hidden_bias_too_narrow,
    wrong_no_norms_and_narrow_mlp,
]
