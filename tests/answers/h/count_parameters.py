"""Answers to count_parameters by hand h."""

import math

import torch


def right_list_of_shapes(d_in, d_out, num_heads, qkv_bias):
    """right: lists the shape of each parameter and sums their products."""
    shapes = [(d_out, d_in)] * 3 + [(d_out, d_out), (d_out,)]
    if qkv_bias:
        shapes += [(d_out,)] * 3
    return sum(math.prod(shape) for shape in shapes)


def right_head_by_head(d_in, d_out, num_heads, qkv_bias):
    """right: counts each head's share of the projections and of out_proj, then its bias once."""
    D = d_out // num_heads
    total = d_out
    for _ in range(num_heads):
        total += 3 * D * (d_in + bool(qkv_bias))
        total += D * d_out
    return total


def wrong_out_proj_without_bias(d_in, d_out, num_heads, qkv_bias):
    """wrong: the bias of out_proj is never counted."""
    total = 3 * d_in * d_out + d_out * d_out
    if qkv_bias:
        total += 3 * d_out
    return total


def wrong_out_proj_bias_follows_qkv_bias(d_in, d_out, num_heads, qkv_bias):
    """wrong: out_proj's bias is counted only where qkv_bias is True; without qkv_bias it's missing."""
    biases = 4 * d_out if qkv_bias else 0
    return d_out * (3 * d_in + d_out) + biases


def wrong_d_out_of_each_head(d_in, d_out, num_heads, qkv_bias):
    """wrong: d_out is taken as the width of one head: all layers are counted num_heads * d_out wide."""
    width = num_heads * d_out
    qkv = 3 * (d_in * width + (width if qkv_bias else 0))
    return qkv + width * width + width


def wrong_out_proj_from_d_in(d_in, d_out, num_heads, qkv_bias):
    """wrong: out_proj is counted as d_in times d_out, like the other three, instead of d_out times d_out."""
    per_layer = d_in * d_out
    return 4 * per_layer + d_out + int(qkv_bias) * 3 * d_out


def wrong_biases_of_width_d_in(d_in, d_out, num_heads, qkv_bias):
    """wrong: the biases of queries, keys and values are counted with d_in numbers each instead of d_out."""
    n = sum(d_in * d_out for _ in ("query", "key", "value"))
    if qkv_bias:
        n += 3 * d_in
    return n + d_out**2 + d_out


def wrong_one_bias_for_three(d_in, d_out, num_heads, qkv_bias):
    """wrong: with qkv_bias only one bias of d_out is added instead of three."""
    return 3 * d_in * d_out + (d_out if qkv_bias else 0) + (d_out + 1) * d_out


def wrong_bias_once_per_head(d_in, d_out, num_heads, qkv_bias):
    """wrong: with qkv_bias each head is given three biases of the full width d_out, so they are counted num_heads times."""
    total = 3 * d_in * d_out
    if qkv_bias:
        for _ in range(num_heads):
            total += 3 * d_out
    return total + d_out * d_out + d_out


def wrong_precedence_of_if_else(d_in, d_out, num_heads, qkv_bias):
    """wrong: the `if ... else 0` lacks parentheses and takes the whole sum, so without qkv_bias the answer is 0."""
    return 3 * d_in * d_out + d_out * d_out + d_out + 3 * d_out if qkv_bias else 0


def wrong_one_head_alone_in_projections(d_in, d_out, num_heads, qkv_bias):
    """wrong: queries, keys and values (and their biases) are counted for one head of width d_out / num_heads alone; out_proj is whole."""
    D = d_out // num_heads
    return 3 * D * d_in + 3 * D * bool(qkv_bias) + d_out * d_out + d_out


def wrong_narrow_out_proj_and_no_qkv_bias(d_in, d_out, num_heads, qkv_bias):
    """wrong: two mistakes: out_proj's matrix is counted from one head's width, (d_out / num_heads) * d_out, and qkv_bias is ignored."""
    head_dim = d_out // num_heads
    return torch.Size([3, d_in, d_out]).numel() + head_dim * d_out + d_out


def wrong_float(d_in, d_out, num_heads, qkv_bias):
    """wrong: the number is right but a float, since the heads' width comes from / and not from //."""
    head_dim = d_out / num_heads
    qkv = 3 * num_heads * head_dim * (d_in + 1 if qkv_bias else d_in)
    return qkv + d_out * (d_out + 1)


ANSWERS = [
    right_list_of_shapes,
    right_head_by_head,
    wrong_out_proj_without_bias,
    wrong_out_proj_bias_follows_qkv_bias,
    wrong_d_out_of_each_head,
    wrong_out_proj_from_d_in,
    wrong_biases_of_width_d_in,
    wrong_one_bias_for_three,
    wrong_bias_once_per_head,
    wrong_precedence_of_if_else,
    wrong_one_head_alone_in_projections,
    wrong_narrow_out_proj_and_no_qkv_bias,
    wrong_float,
]
