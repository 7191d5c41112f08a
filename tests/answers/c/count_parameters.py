"""Answers to count parameters by hand c.

Taken here: out_proj is an nn.Linear(d_out, d_out) with its bias.
"""

import math


def right_formula(d_in, d_out, num_heads, qkv_bias):
    """right: 3 d_in d_out, plus 3 d_out for qkv_bias, plus d_out^2 + d_out for out_proj with its bias."""
    return 3 * d_in * d_out + 3 * d_out * bool(qkv_bias) + d_out * d_out + d_out


def right_shapes(d_in, d_out, num_heads, qkv_bias):
    """right: lists the shapes of all weights and biases and sums their products."""
    shapes = [(d_out, d_in)] * 3
    if qkv_bias:
        shapes += [(d_out,)] * 3
    shapes += [(d_out, d_out), (d_out,)]
    return sum(math.prod(s) for s in shapes)


def right_per_head(d_in, d_out, num_heads, qkv_bias):
    """right: sums over the heads, each of size d_out // num_heads, then adds out_proj as d_out outputs of d_out + 1 numbers."""
    size = d_out // num_heads
    n = 0
    for _ in range(num_heads):
        for _ in "qkv":
            n += (d_in + (1 if qkv_bias else 0)) * size
    return n + d_out * (d_out + 1)


def wrong_no_out_bias(d_in, d_out, num_heads, qkv_bias):
    """wrong: forgets the bias of out_proj (d_out numbers)."""
    n = 3 * d_in * d_out + d_out ** 2
    if qkv_bias:
        n += 3 * d_out
    return n


def wrong_no_out_proj(d_in, d_out, num_heads, qkv_bias):
    """wrong: forgets out_proj altogether, counts queries, keys and values only."""
    return 3 * (d_in + int(qkv_bias)) * d_out


def wrong_times_heads(d_in, d_out, num_heads, qkv_bias):
    """wrong: multiplies the query, key and value parts by num_heads, as if d_out were the width of one head."""
    qkv = num_heads * 3 * (d_in * d_out + (d_out if qkv_bias else 0))
    return qkv + d_out * d_out + d_out


def wrong_one_bias(d_in, d_out, num_heads, qkv_bias):
    """wrong: counts one bias of d_out for qkv_bias in place of three."""
    return 3 * d_in * d_out + (d_out if qkv_bias else 0) + d_out * (d_out + 1)


def wrong_out_proj_from_d_in(d_in, d_out, num_heads, qkv_bias):
    """wrong: takes out_proj as d_in x d_out (4 equal matrices); right where d_in equals d_out."""
    return 4 * d_in * d_out + (4 if qkv_bias else 1) * d_out


def wrong_bias_of_d_in(d_in, d_out, num_heads, qkv_bias):
    """wrong: gives the query, key and value layers a bias of length d_in in place of d_out; right where they are equal or qkv_bias is False."""
    return 3 * d_in * d_out + (3 * d_in if qkv_bias else 0) + d_out * d_out + d_out


def wrong_out_bias_follows_flag(d_in, d_out, num_heads, qkv_bias):
    """wrong: lets out_proj have its bias only where qkv_bias is True; right there only."""
    b = int(bool(qkv_bias))
    return 3 * d_out * (d_in + b) + d_out * (d_out + b)


def wrong_single_head_branch(d_in, d_out, num_heads, qkv_bias):
    """wrong: leaves out out_proj where num_heads is 1, as if one head needed none; right for more heads."""
    qkv = 3 * d_out * (d_in + bool(qkv_bias))
    return qkv if num_heads == 1 else qkv + d_out * d_out + d_out


def wrong_float_and_bias_always(d_in, d_out, num_heads, qkv_bias):
    """wrong: two mistakes: counts the three qkv biases whatever qkv_bias says, and returns a float (by / num_heads) where a whole number is asked for."""
    head = d_out / num_heads
    return num_heads * (3 * d_in * head + 3 * head) + d_out * d_out + d_out


ANSWERS = [
    right_formula, right_shapes, right_per_head,
    wrong_no_out_bias, wrong_no_out_proj, wrong_times_heads, wrong_one_bias,
    wrong_out_proj_from_d_in, wrong_bias_of_d_in, wrong_out_bias_follows_flag,
    wrong_single_head_branch, wrong_float_and_bias_always,
]
