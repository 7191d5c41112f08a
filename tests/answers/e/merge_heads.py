"""Answers to merge heads."""

import numpy as np
import torch


def right_by_way_of_all_tokens(heads):
    """right: heads first, then all B * T tokens on one axis, then the heads behind the tokens; each step keeps the order."""
    B, H, T, D = heads.shape
    flat = heads.transpose(0, 1).reshape(H, B * T, D)
    return flat.transpose(0, 1).reshape(B, T, H * D)


def right_by_lookup(heads):
    """right: feature c of a token is feature c % D of head c // D, all looked up at once."""
    B, H, T, D = heads.shape
    c = torch.arange(H * D, device=heads.device)
    columns = heads[:, c // D, :, c % D]
    return columns.permute(1, 2, 0)


def right_numpy(heads):
    """right: joins the heads along the last axis in NumPy, and comes back."""
    array = heads.detach().cpu().numpy()
    joined = np.concatenate([array[:, h] for h in range(array.shape[1])], axis=2)
    return torch.from_numpy(joined).to(heads.device)


def wrong_plain_reshape(heads):
    """wrong: reshapes (B, H, T, D) to (B, T, H D) without exchanging heads and tokens first."""
    B, H, T, D = heads.shape
    return heads.reshape(B, T, H * D)


def wrong_heads_innermost(heads):
    """wrong: feature d of all heads come together: the order of the features is (D, H) and not (H, D)."""
    return heads.permute(0, 2, 3, 1).flatten(2)


def wrong_swaps_the_last_two(heads):
    """wrong: exchanges tokens and features (axes 2 and 3) instead of heads and tokens, then reshapes to (B, T, H D)."""
    B, H, T, D = heads.shape
    return heads.transpose(2, 3).reshape(B, T, H * D)


def wrong_adds_the_heads(heads):
    """wrong: adds the heads up, (B, T, D), instead of laying them side by side."""
    total = heads[:, 0].clone()
    for h in range(1, heads.shape[1]):
        total = total + heads[:, h]
    return total


def wrong_reshape_before_transpose(heads):
    """wrong: reshapes (B, H, T, D) to (H, B T, D) without exchanging batch and heads first; right for B = 1 or H = 1."""
    B, H, T, D = heads.shape
    return heads.reshape(H, B * T, D).transpose(0, 1).reshape(B, T, H * D)


def wrong_trusts_the_memory(heads):
    """wrong: reads the memory as if heads were a transposed view of the tokens, without looking at its strides; for heads that lie in memory as (B, H, T, D), this is a reshape without exchanging axes."""
    B, H, T, D = heads.shape
    C = H * D
    return heads.as_strided((B, T, C), (T * C, C, 1))


def wrong_even_heads_first(heads):
    """wrong: lays down the even heads first, then the odd ones (0, 2, 1 for three heads); right for one head and for two."""
    order = list(range(0, heads.shape[1], 2)) + list(range(1, heads.shape[1], 2))
    return torch.cat([heads[:, h] for h in order], dim=-1)


def wrong_if_square(heads):
    """wrong: doesn't exchange heads and tokens where H = T (it takes axis 1 for the tokens); right for all other sizes."""
    B, H, T, D = heads.shape
    tokens_first = heads if heads.shape[1] == T else heads.transpose(1, 2)
    return tokens_first.reshape(B, T, H * D)


def wrong_reversed_and_interleaved(heads):
    """wrong: two mistakes: the heads are in reverse order, and their features are interleaved, (D, H) and not (H, D)."""
    back = heads.flip(1)
    return torch.stack(list(back.unbind(1)), dim=-1).flatten(-2)


ANSWERS = [
    right_by_way_of_all_tokens, right_by_lookup, right_numpy,
    wrong_plain_reshape, wrong_heads_innermost, wrong_swaps_the_last_two,
    wrong_adds_the_heads, wrong_reshape_before_transpose,
    wrong_trusts_the_memory, wrong_even_heads_first, wrong_if_square,
    wrong_reversed_and_interleaved,
]
