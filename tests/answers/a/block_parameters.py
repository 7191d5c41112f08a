"""Answers to block_parameters by hand a."""

import numpy as np


def right_table_of_layers(d_model, num_heads):
    """right: a loop over a table of layers (numbers in, numbers out, bias or not), plus two norms with gain and bias."""
    layers = [
        (d_model, d_model, False),
        (d_model, d_model, False),
        (d_model, d_model, False),
        (d_model, d_model, True),
        (d_model, 4 * d_model, True),
        (4 * d_model, d_model, True),
    ]
    count = 0
    for wide_in, wide_out, bias in layers:
        count += wide_in * wide_out
        if bias:
            count += wide_out
    for _ in range(2):
        count += d_model + d_model
    return count


def right_closed_form(d_model, num_heads):
    """right: 2 d (6 d + 5), multiplied out 12 d^2 + 10 d."""
    return 2 * d_model * (6 * d_model + 5)


def right_one_width_more(d_model, num_heads):
    """right: adds up how much each further width brings, 24 k - 2, from 1 to d_model, which is 12 d^2 + 10 d."""
    count = 0
    for k in range(1, d_model + 1):
        count += 24 * k - 2
    return count


def wrong_biases_for_qkv(d_model, num_heads):
    """wrong: counts a bias for queries, keys and values too (3 d too many)."""
    linear = lambda a, b: a * b + b
    attention = 4 * linear(d_model, d_model)
    mlp = linear(d_model, 4 * d_model) + linear(4 * d_model, d_model)
    return attention + mlp + 2 * (2 * d_model)


def wrong_no_output_layer(d_model, num_heads):
    """wrong: forgets the attention's output layer (d^2 + d too few)."""
    qkv = 3 * d_model * d_model
    mlp = d_model * 4 * d_model + 4 * d_model + 4 * d_model * d_model + d_model
    norms = 4 * d_model
    return qkv + mlp + norms


def wrong_norms_without_bias(d_model, num_heads):
    """wrong: counts only the gain of the two norms, not their bias (2 d too few)."""
    total = 3 * d_model**2
    total += d_model**2 + d_model
    total += 4 * d_model**2 + 4 * d_model
    total += 4 * d_model**2 + d_model
    for norm in range(2):
        total += d_model
    return total


def wrong_mlp_one_layer(d_model, num_heads):
    """wrong: counts only the MLP's first layer d -> 4d with its bias, not the one back (4 d^2 + d too few)."""
    attention = 3 * d_model**2 + d_model**2 + d_model
    mlp = d_model * (4 * d_model) + 4 * d_model
    return attention + mlp + 4 * d_model


def wrong_full_layers_per_head(d_model, num_heads):
    """wrong: gives each head three layers d x d of its own, in place of d x (d / num_heads); right only for one head."""
    total = 0
    for head in range(num_heads):
        total += 3 * d_model * d_model
    total += d_model * d_model + d_model
    total += 8 * d_model * d_model + 5 * d_model
    total += 4 * d_model
    return total


def wrong_output_from_one_head(d_model, num_heads):
    """wrong: the output layer is counted from one head's width, (d / num_heads) x d, not from d x d; right only for one head."""
    d_head = d_model // num_heads
    total = 3 * num_heads * d_model * d_head
    total += d_head * d_model + d_model
    total += 8 * d_model**2 + 5 * d_model
    return total + 4 * d_model


_parts = []


def wrong_list_never_emptied(d_model, num_heads):
    """wrong: collects the parts in a list outside the function that is never emptied, so each call adds those of all earlier calls; right only the first time."""
    _parts.append(3 * d_model**2)
    _parts.append(d_model**2 + d_model)
    _parts.append(8 * d_model**2 + 5 * d_model)
    _parts.append(4 * d_model)
    return sum(_parts)


def wrong_int32(d_model, num_heads):
    """wrong: adds up in 32-bit integers, which overflow to a wrong (often negative) number from a d_model of about 13400 on."""
    d = np.array([d_model], dtype=np.int32)
    parts = 12 * d * d + 10 * d
    return int(parts[0])


def wrong_one_norm_no_mlp_biases(d_model, num_heads):
    """wrong: two mistakes, only one norm in place of two (2 d too few), and the MLP's two layers without bias (5 d too few)."""
    attention = 4 * d_model**2 + d_model
    mlp = 2 * d_model * 4 * d_model
    norm = 2 * d_model
    return attention + mlp + norm


ANSWERS = [
    right_table_of_layers,
    right_closed_form,
    right_one_width_more,
    wrong_biases_for_qkv,
    wrong_no_output_layer,
    wrong_norms_without_bias,
    wrong_mlp_one_layer,
    wrong_full_layers_per_head,
    wrong_output_from_one_head,
    wrong_list_never_emptied,
    wrong_int32,
    wrong_one_norm_no_mlp_biases,
]
