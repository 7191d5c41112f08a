import functools
import math
import operator

import torch


def right_step_by_step(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """right: head width, then one token in one layer, then all of them."""
    d_head = d_model // heads
    per_token_and_layer = 2 * kv_heads * d_head * bytes_each
    return tokens * layers * per_token_and_layer


def right_reduce(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """right: multiplies a list of factors with reduce."""
    sizes = [tokens, layers, 2, kv_heads, d_model // heads, bytes_each]
    return functools.reduce(operator.mul, sizes, 1)


def right_add_up_layers(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """right: adds up keys and values layer by layer and head by head."""
    width, rest = divmod(d_model, heads)
    assert rest == 0
    total = 0
    for _ in range(layers):
        for part in ("keys", "values"):
            for _ in range(kv_heads):
                total += tokens * width * bytes_each
    return total


def right_multi_head_then_share(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """right: a cache with all query heads, times kv_heads over heads."""
    full = tokens * layers * (d_model + d_model) * bytes_each
    return full * kv_heads // heads


def right_empty_tensors(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """right: counts the elements of a cache on the meta device."""
    shape = (layers, 2, kv_heads, tokens, d_model // heads)
    cache = torch.empty(shape, device="meta", dtype=torch.int8)
    return cache.numel() * bytes_each


def wrong_keys_only(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: keeps keys but no values."""
    d_head = d_model // heads
    return tokens * layers * kv_heads * d_head * bytes_each


def wrong_query_heads(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: keeps keys and values for each query head."""
    d_head = d_model // heads
    return 2 * tokens * layers * heads * d_head * bytes_each


def wrong_full_width_heads(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: takes each head to be as wide as the model."""
    return 2 * tokens * layers * kv_heads * d_model * bytes_each


def wrong_split_by_kv_heads(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: swaps heads and kv_heads."""
    heads, kv_heads = kv_heads, heads
    d_head = d_model // heads
    return 2 * tokens * layers * kv_heads * d_head * bytes_each


def wrong_one_layer(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: counts a single layer."""
    d_head = d_model // heads
    cache = 0
    for _ in range(layers):
        cache = 2 * tokens * kv_heads * d_head * bytes_each
    return cache


def wrong_numbers_not_bytes(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: counts numbers, not bytes."""
    return 2 * tokens * layers * kv_heads * (d_model // heads)


def wrong_always_two_bytes(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: takes every number to have two bytes, whatever bytes_each says."""
    bytes_each = 2
    return 2 * tokens * layers * kv_heads * (d_model // heads) * bytes_each


def wrong_one_kv_head(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: forgets kv_heads, so it holds for one head only."""
    d_head = d_model // heads
    return 2 * tokens * layers * d_head * bytes_each


def wrong_share_is_zero(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: an integer division of kv_heads by heads gives 0 for shared heads."""
    share = kv_heads // heads
    return 2 * tokens * layers * d_model * share * bytes_each


def wrong_with_queries(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: keeps the queries too."""
    d_head = d_model // heads
    row = (heads + 2 * kv_heads) * d_head
    return tokens * layers * row * bytes_each


def wrong_group_size(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: multiplies with the size of a group, not with the number of groups."""
    d_head = d_model // heads
    group = heads // kv_heads
    return 2 * tokens * layers * group * d_head * bytes_each


def wrong_score_table(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: counts the table of scores, tokens by tokens, for each head and layer."""
    return tokens * tokens * layers * heads * bytes_each


def wrong_last_token_free(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: leaves out the last token."""
    total = 0
    step = 2 * layers * kv_heads * (d_model // heads) * bytes_each
    for t in range(1, tokens):
        total += step
    return total


def wrong_int32(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: multiplies in int32, which overflows from 2 GiB on."""
    sizes = [2, tokens, layers, kv_heads, d_model // heads, bytes_each]
    return torch.tensor(sizes, dtype=torch.int32).prod(dtype=torch.int32).item()


def wrong_mib(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: gives whole MiB, not bytes."""
    d_head = d_model // heads
    return 2 * tokens * layers * kv_heads * d_head * bytes_each // 2**20


def wrong_power_of_two_width(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: rounds the width of a head up to a power of two."""
    d_head = 2 ** math.ceil(math.log2(d_model / heads))
    return 2 * tokens * layers * kv_heads * d_head * bytes_each


def wrong_values_full(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: shares the keys between heads, but keeps values for all of them."""
    d_head = d_model // heads
    keys = tokens * kv_heads * d_head
    values = tokens * heads * d_head
    return layers * (keys + values) * bytes_each


def wrong_query_heads_once(tokens, layers, heads, kv_heads, d_model, bytes_each):
    """wrong: ignores kv_heads and also keeps keys only, so it's tokens times width."""
    return tokens * layers * d_model * bytes_each


ANSWERS = [
    right_step_by_step,
    right_reduce,
    right_add_up_layers,
    right_multi_head_then_share,
    right_empty_tensors,
    wrong_keys_only,
    wrong_query_heads,
    wrong_full_width_heads,
    wrong_split_by_kv_heads,
    wrong_one_layer,
    wrong_numbers_not_bytes,
    wrong_always_two_bytes,
    wrong_one_kv_head,
    wrong_share_is_zero,
    wrong_with_queries,
    wrong_group_size,
    wrong_score_table,
    wrong_last_token_free,
    wrong_int32,
    wrong_mib,
    wrong_power_of_two_width,
    wrong_values_full,
    wrong_query_heads_once,
]
