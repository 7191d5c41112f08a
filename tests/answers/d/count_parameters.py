"""Answers to count_parameters by hand d."""

import math

import torch


def right_factored(d_in, d_out, num_heads, qkv_bias):
    """right: d_out times (3 d_in + 3 biases where asked + out_proj's d_out + its bias)."""
    return d_out * (3 * (d_in + bool(qkv_bias)) + d_out + 1)


def right_sum_of_shapes(d_in, d_out, num_heads, qkv_bias):
    """right: lists the shapes of all parameters and sums their products."""
    shapes = 3 * [(d_out, d_in)] + [(d_out, d_out), (d_out,)] + (3 * [(d_out,)] if qkv_bias else [])
    return sum(map(math.prod, shapes))


def right_head_by_head(d_in, d_out, num_heads, qkv_bias):
    """right: adds up head by head, its three projections of width d_out / num_heads and its slice of out_proj, then out_proj's bias once."""
    h = d_out // num_heads
    total = d_out
    for _ in range(num_heads):
        total += 3 * (d_in * h + (h if qkv_bias else 0)) + h * d_out
    return total


def only_qkv(d_in, d_out, num_heads, qkv_bias):
    """wrong: out_proj is left out, weight and bias."""
    return 3 * d_out * (d_in + int(qkv_bias))


def out_proj_without_bias(d_in, d_out, num_heads, qkv_bias):
    """wrong: out_proj's bias of d_out is left out."""
    return 3 * d_in * d_out + 3 * d_out * int(qkv_bias) + d_out**2


def always_biased(d_in, d_out, num_heads, qkv_bias):
    """wrong: counts the biases of queries, keys and values also where qkv_bias is False."""
    return 3 * (d_in + 1) * d_out + (d_out + 1) * d_out


def width_per_head(d_in, d_out, num_heads, qkv_bias):
    """wrong: takes d_out as the width of one head, and so counts with num_heads * d_out as the width of all; right for one head."""
    d = num_heads * d_out
    return d * (3 * d_in + 3 * bool(qkv_bias) + d + 1)


def four_times_the_same(d_in, d_out, num_heads, qkv_bias):
    """wrong: out_proj's weight is counted as d_in * d_out like the other three, in place of d_out * d_out; right where d_in = d_out."""
    return 4 * d_in * d_out + d_out + (3 * d_out if qkv_bias else 0)


def bias_of_the_input(d_in, d_out, num_heads, qkv_bias):
    """wrong: the biases of queries, keys and values are counted as d_in each in place of d_out; right where d_in = d_out or qkv_bias is False."""
    return 3 * d_in * (d_out + bool(qkv_bias)) + d_out * (d_out + 1)


def out_proj_of_one_head(d_in, d_out, num_heads, qkv_bias):
    """wrong: out_proj's weight is counted as (d_out / num_heads) * d_out, from one head's width; right for one head."""
    return 3 * d_out * (d_in + bool(qkv_bias)) + d_out // num_heads * d_out + d_out


def summed_in_float32(d_in, d_out, num_heads, qkv_bias):
    """wrong: sums in float32, which can't hold all whole numbers above 2**24, so large layers come out rounded; right for small ones."""
    parts = [3 * d_in * d_out, 3 * d_out * bool(qkv_bias), d_out * d_out, d_out]
    return int(torch.tensor(parts, dtype=torch.float32).sum())


def one_bias_and_tied_out_bias(d_in, d_out, num_heads, qkv_bias):
    """wrong: two mistakes, the biases of queries, keys and values are counted as one d_out in place of three, and out_proj's bias counts only where qkv_bias is True."""
    n = 3 * d_in * d_out + d_out * d_out
    if qkv_bias:
        n += d_out + d_out
    return n


ANSWERS = [
    right_factored, right_sum_of_shapes, right_head_by_head,
    only_qkv, out_proj_without_bias, always_biased, width_per_head,
    four_times_the_same, bias_of_the_input, out_proj_of_one_head,
    summed_in_float32, one_bias_and_tied_out_bias,
]
