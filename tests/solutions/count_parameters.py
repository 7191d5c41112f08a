"""How many numbers a layer trains."""

import torch
from torch import nn


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


def count_as_a_float(d_in, d_out, num_heads, qkv_bias):
    D = d_out / num_heads
    return num_heads * 3 * (d_in + qkv_bias) * D + d_out**2 + d_out


RIGHT = [
    count_by_formula,
    count_by_layers,
    count_by_heads,
    count_by_tensors,
]
WRONG = [
    (count_without_out_proj, "a count without the output projection"),
    (count_without_its_bias, "a count without out_proj's bias"),
    (
        count_with_one_switch,
        "a count in which qkv_bias gives out_proj its bias",
    ),
    (count_with_all_biases, "a count with biases in any case"),
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
    (count_as_a_float, None),
]
