"""Answers to split_heads by hand g."""

import torch


def right_stack_of_chunks(x, num_heads):
    """right: chunks along the features, stacked on a new axis 1."""
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def right_element_by_element(x, num_heads):
    """right: copies number by number into an empty tensor, with divmod."""
    B, T, C = x.shape
    D = C // num_heads
    out = x.new_empty(B, num_heads, T, D)
    for c in range(C):
        h, d = divmod(c, D)
        out[:, h, :, d] = x[:, :, c]
    return out


def right_unfold(x, num_heads):
    """right: sliding windows of D features in steps of D, then permuted."""
    D = x.shape[2] // num_heads
    return x.unfold(2, D, D).permute(0, 2, 1, 3)


def wrong_plain_view(x, num_heads):
    """wrong: reshapes straight to (B, H, T, D) without moving an axis, so that the
    heads cut the tokens instead of the features."""
    B, T, C = x.shape
    return x.reshape(B, num_heads, T, C // num_heads)


def wrong_not_moved(x, num_heads):
    """wrong: cuts the features right, but doesn't move the head axis before the
    tokens: (B, T, H, D)."""
    B, T, C = x.shape
    return x.view(B, T, num_heads, C // num_heads)


def wrong_strided_features(x, num_heads):
    """wrong: gives head h every H-th feature (h, h + H, ...) instead of D neighbours."""
    return torch.stack([x[:, :, h::num_heads] for h in range(num_heads)], dim=1)


def wrong_overlapping_slices(x, num_heads):
    """wrong: head h begins at feature h instead of h D, so that the heads overlap."""
    D = x.shape[-1] // num_heads
    return torch.stack([x[..., h : h + D] for h in range(num_heads)], dim=1)


def wrong_heads_before_batch(x, num_heads):
    """wrong: puts the heads before the batch: (H, B, T, D) instead of (B, H, T, D)."""
    return torch.stack(x.chunk(num_heads, dim=-1))


def wrong_split_size(x, num_heads):
    """wrong: takes num_heads for the width of a head (split takes a size), which gives
    C / H heads of width H; right where H = D."""
    return torch.stack(torch.split(x, num_heads, dim=2), dim=1)


def wrong_transposed_then_reshaped(x, num_heads):
    """wrong: transposes to (B, C, T) and reshapes that to (B, H, T, D), so that each
    head has its own features, but laid out with the tokens running fastest; right for
    D = 1 or T = 1 only."""
    B, T, C = x.shape
    return x.transpose(1, 2).reshape(B, num_heads, T, C // num_heads)


def wrong_features_before_tokens(x, num_heads):
    """wrong: the last two axes are swapped, (B, H, D, T) instead of (B, H, T, D)."""
    B, T, C = x.shape
    return x.reshape(B, T, num_heads, -1).permute(0, 2, 3, 1)


def wrong_reversed_and_strided(x, num_heads):
    """wrong: two mistakes: every H-th feature instead of neighbours, and the heads in
    reverse order, for each new one is put in front."""
    heads = []
    for h in range(num_heads):
        heads.insert(0, x[:, :, h::num_heads])
    return torch.stack(heads, dim=1)


def wrong_batch_mixed(x, num_heads):
    """wrong: two mistakes: reshapes without moving an axis, and with the heads before
    the batch, (H, B, T, D), before it swaps the two, so that heads cut the tokens and
    sequences of the batch get mixed."""
    B, T, C = x.shape
    return x.reshape(num_heads, B, T, C // num_heads).transpose(0, 1)


ANSWERS = [
    right_stack_of_chunks,
    right_element_by_element,
    right_unfold,
    wrong_plain_view,
    wrong_not_moved,
    wrong_strided_features,
    wrong_overlapping_slices,
    wrong_heads_before_batch,
    wrong_split_size,
    wrong_transposed_then_reshaped,
    wrong_features_before_tokens,
    wrong_reversed_and_strided,
    wrong_batch_mixed,
]
