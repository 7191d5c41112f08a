"""The bytes of a KV cache."""

import math


def one_product(tokens, layers, heads, kv_heads, d_model, bytes_each):
    return 2 * tokens * layers * kv_heads * d_model // heads * bytes_each


def step_by_step(tokens, layers, heads, kv_heads, d_model, bytes_each):
    D = d_model // heads
    keys = kv_heads * D
    per_layer = keys + keys
    return tokens * per_layer * layers * bytes_each


def by_sum(tokens, layers, heads, kv_heads, d_model, bytes_each):
    total = 0
    for _ in range(layers):
        for _ in ("keys", "values"):
            total += tokens * kv_heads * (d_model // heads)
    return total * bytes_each


def by_prod(tokens, layers, heads, kv_heads, d_model, bytes_each):
    shape = (layers, 2, tokens, kv_heads, d_model // heads)
    return math.prod(shape) * bytes_each


def as_a_float(tokens, layers, heads, kv_heads, d_model, bytes_each):
    return 2 * tokens * layers * kv_heads * d_model / heads * bytes_each


def no_values(tokens, layers, heads, kv_heads, d_model, bytes_each):
    return tokens * layers * kv_heads * (d_model // heads) * bytes_each


def no_sharing(tokens, layers, heads, kv_heads, d_model, bytes_each):
    return 2 * tokens * layers * d_model * bytes_each


def too_wide(tokens, layers, heads, kv_heads, d_model, bytes_each):
    return 2 * tokens * layers * kv_heads * d_model * bytes_each


def single_layer(tokens, layers, heads, kv_heads, d_model, bytes_each):
    return 2 * tokens * kv_heads * (d_model // heads) * bytes_each


def numbers_only(tokens, layers, heads, kv_heads, d_model, bytes_each):
    return 2 * tokens * layers * kv_heads * (d_model // heads)


RIGHT = [one_product, step_by_step, by_sum, by_prod]
WRONG = [
    (as_a_float, "a width that is divided with /"),
    (no_values, "a cache of keys alone"),
    (no_sharing, "keys and values for each query head"),
    (too_wide, "the model's width for each head"),
    (single_layer, "one layer"),
    (numbers_only, "a count of numbers"),
]
