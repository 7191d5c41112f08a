"""Answers to cache_bytes by hand q."""

import math
from fractions import Fraction

import torch


def right_formula(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """right: the product, written down."""
    return 2 * layers * tokens * kv_heads * (d_model // heads) * bytes_each


def right_meta_tensor(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """right: shapes the cache on the meta device and asks for its size."""
    shape = (2, layers, kv_heads, tokens, d_model // heads, bytes_each)
    return torch.empty(shape, dtype=torch.uint8, device="meta").nbytes


def right_prod(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """right: math.prod over the shape of keys and values."""
    head_dim, _ = divmod(d_model, heads)
    return math.prod([2, layers, tokens, kv_heads, head_dim, bytes_each])


def right_share_of_full(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """right: the cache with all heads, then the exact share that's kept."""
    full = 2 * tokens * layers * d_model * bytes_each
    return int(Fraction(kv_heads, heads) * full)


def right_layer_loop(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """right: adds keys and values up, layer by layer."""
    total = 0
    for _ in range(layers):
        for _ in ("keys", "values"):
            total += tokens * (d_model * kv_heads // heads) * bytes_each
    return total


def wrong_forgets_values(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: counts the keys alone."""
    return layers * tokens * kv_heads * (d_model // heads) * bytes_each


def wrong_query_heads(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: keeps keys and values for every query head."""
    return 2 * layers * tokens * heads * (d_model // heads) * bytes_each


def wrong_float(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: divides with a slash, so a float comes back."""
    return 2 * layers * tokens * kv_heads * (d_model / heads) * bytes_each


def wrong_one_layer(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: counts one layer only."""
    return 2 * tokens * kv_heads * (d_model // heads) * bytes_each


def wrong_int32(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: multiplies in int32, which wraps from 2 GiB on."""
    sizes = [2, layers, tokens, kv_heads, d_model // heads, bytes_each]
    return torch.tensor(sizes, dtype=torch.int32).prod(dtype=torch.int32).item()


def wrong_floors_share(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: floors kv_heads // heads first, which is 0 unless they're equal."""
    return 2 * layers * tokens * d_model * (kv_heads // heads) * bytes_each


def wrong_prints(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: prints the bytes instead of returning them."""
    print(2 * layers * tokens * kv_heads * (d_model // heads) * bytes_each)


def wrong_last_token_free(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: thinks the newest token isn't in the cache."""
    past = tokens - 1
    return 2 * layers * past * kv_heads * (d_model // heads) * bytes_each


def wrong_raises_grouped(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: raises unless heads and kv_heads are equal."""
    if heads != kv_heads:
        raise ValueError("heads must match")
    return 2 * layers * tokens * d_model * bytes_each


def wrong_single_head_shared(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: with one kv head, believes keys and values share one tensor."""
    parts = 1 if kv_heads == 1 else 2
    return parts * layers * tokens * kv_heads * (d_model // heads) * bytes_each


def wrong_float32_rounding(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: multiplies in float32, which rounds large counts."""
    sizes = [2.0, layers, tokens, kv_heads, d_model // heads, bytes_each]
    return int(torch.tensor(sizes).prod())


def wrong_pads_head_dim(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: rounds a head's width up to a power of two, as kernels do."""
    head_dim = 1 << (d_model // heads - 1).bit_length()
    return 2 * layers * tokens * kv_heads * head_dim * bytes_each


def wrong_values_full(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: shares the keys among query heads, but not the values."""
    width = d_model // heads
    return layers * tokens * (kv_heads + heads) * width * bytes_each


ANSWERS = [
    right_formula,
    right_meta_tensor,
    right_prod,
    right_share_of_full,
    right_layer_loop,
    wrong_forgets_values,
    wrong_query_heads,
    wrong_float,
    wrong_one_layer,
    wrong_int32,
    wrong_floors_share,
    wrong_prints,
    wrong_last_token_free,
    wrong_raises_grouped,
    wrong_single_head_shared,
    wrong_float32_rounding,
    wrong_pads_head_dim,
    wrong_values_full,
]
