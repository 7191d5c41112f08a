"""Answers to merge_heads by hand g."""

import torch


def right_cat_of_heads(heads):
    """right: concatenates the heads along the features."""
    return torch.cat(heads.unbind(dim=1), dim=-1)


def right_selection_matrices(heads):
    """right: multiplies each head by the rows of an identity that are its own, and
    sums."""
    B, H, T, D = heads.shape
    places = torch.eye(H * D, dtype=heads.dtype).reshape(H, D, H * D)
    return torch.einsum("bhtd,hdc->btc", heads, places)


def right_fill(heads):
    """right: fills an empty tensor slice by slice, token by token."""
    B, H, T, D = heads.shape
    out = heads.new_zeros((B, T, H * D))
    for t in range(T):
        for h in range(H):
            out[:, t, h * D : (h + 1) * D] = heads[:, h, t]
    return out


def wrong_plain_reshape(heads):
    """wrong: reshapes (B, H, T, D) to (B, T, C) without moving the tokens in front of
    the heads first."""
    B, H, T, D = heads.shape
    return heads.reshape(B, T, H * D)


def wrong_interleaved(heads):
    """wrong: the features of the heads alternate (feature 0 of each head, then feature
    1 of each head) instead of lying side by side head by head."""
    return heads.permute(0, 2, 3, 1).flatten(2)


def wrong_end_to_end(heads):
    """wrong: concatenates the heads along the tokens, (B, H T, D), instead of along
    the features."""
    return torch.cat([heads[:, h] for h in range(heads.shape[1])], dim=1)


def wrong_sum(heads):
    """wrong: adds the heads up, (B, T, D), instead of laying them side by side."""
    return heads.sum(dim=1)


def wrong_flattens_tokens_and_heads(heads):
    """wrong: moves the tokens in front, but flattens tokens and heads into one axis,
    (B, T H, D), instead of heads and features."""
    return heads.transpose(1, 2).flatten(1, 2)


def wrong_tokens_before_batch(heads):
    """wrong: moves the tokens in front of the batch before it reshapes to (B, T, C),
    so that sequences get mixed; right for a batch of one."""
    B, H, T, D = heads.shape
    return heads.permute(2, 0, 1, 3).reshape(B, T, H * D)


def wrong_view_of_strides(heads):
    """wrong: transposes and then calls view, which fails unless the memory happens to
    fit, as it does for heads straight from a split (or T = 1, H = 1); for contiguous
    heads it raises an error."""
    B, H, T, D = heads.shape
    return heads.transpose(1, 2).view(B, T, H * D)


def wrong_squeeze(heads):
    """wrong: squeezes the result, so that an axis of length 1 (a batch of one, a single
    token) is lost; right where all lengths are above 1."""
    B, H, T, D = heads.shape
    return heads.transpose(1, 2).reshape(B, T, H * D).squeeze()


def wrong_overlap_and_reversed(heads):
    """wrong: two mistakes: writes head h at feature h instead of h D, so that heads
    overwrite each other and zeros remain, and takes the heads in reverse order."""
    B, H, T, D = heads.shape
    out = heads.new_zeros(B, T, H * D)
    for h in range(H):
        out[:, :, h : h + D] = heads[:, H - 1 - h]
    return out


def wrong_swapped_axes_reshape(heads):
    """wrong: swaps the wrong pair of axes, tokens and features (B, H, D, T), and then
    reshapes to (B, T, C)."""
    B, H, T, D = heads.shape
    return heads.transpose(-1, -2).reshape(B, T, -1)


ANSWERS = [
    right_cat_of_heads,
    right_selection_matrices,
    right_fill,
    wrong_plain_reshape,
    wrong_interleaved,
    wrong_end_to_end,
    wrong_sum,
    wrong_flattens_tokens_and_heads,
    wrong_tokens_before_batch,
    wrong_view_of_strides,
    wrong_squeeze,
    wrong_overlap_and_reversed,
    wrong_swapped_axes_reshape,
]
