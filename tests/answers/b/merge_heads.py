"""Answers to merge_heads by hand b."""

import torch


def right_transpose_and_reshape(heads):
    """right: exchanges H and T, then reshapes to (B, T, H D)."""
    B, H, T, D = heads.shape
    return heads.transpose(1, 2).reshape(B, T, H * D)


def right_cbind(heads):
    """right: concatenates the heads along the features, like cbind."""
    columns = [heads[:, h] for h in range(heads.shape[1])]
    return torch.cat(columns, dim=-1)


def right_fills_blocks(heads):
    """right: fills an empty tensor of (B, T, H D), block by block."""
    n, h, t, d = heads.shape
    out = heads.new_empty(n, t, h * d)
    for k in range(h):
        out[:, :, k * d : (k + 1) * d] = heads[:, k, :, :]
    return out


def wrong_reshape_only(heads):
    """wrong: reshapes (B, H, T, D) straight to (B, T, H D), with no transposition."""
    B, H, T, D = heads.shape
    return heads.reshape(B, T, H * D)


def wrong_interleaves(heads):
    """wrong: puts D before H: feature 0 of all heads first, then feature 1 of all heads, so the heads are interleaved."""
    B, H, T, D = heads.shape
    return heads.permute(0, 2, 3, 1).reshape(B, T, D * H)


def wrong_rbind(heads):
    """wrong: concatenates the heads along the tokens, and returns (B, H T, D)."""
    return torch.cat(list(heads.unbind(1)), dim=1)


def wrong_averages(heads):
    """wrong: takes the mean over the heads, and returns (B, T, D)."""
    return heads.mean(dim=1, dtype=heads.dtype if heads.is_floating_point() else torch.float32)


def wrong_mixes_sequences(heads):
    """wrong: moves T before B, and then reshapes to (B, T, C): tokens of different sequences are mixed (right for B = 1 or T = 1)."""
    B, H, T, D = heads.shape
    return heads.permute(2, 0, 1, 3).reshape(B, T, H * D)


def wrong_when_h_is_t(heads):
    """wrong: takes the axes as exchanged already where axes 1 and 2 have equal sizes, so nothing is transposed when H equals T."""
    B, H, T, D = heads.shape
    if H != T:
        heads = heads.transpose(1, 2)
    return heads.reshape(B, T, H * D)


def wrong_first_and_last(heads):
    """wrong: lays only the first and the last head side by side: right for H = 2 only."""
    return torch.cat([heads[:, 0], heads[:, -1]], dim=-1)


def wrong_first_sequence(heads):
    """wrong: merges the batch's first sequence, and repeats it for all others: right for B = 1 only."""
    B, H, T, D = heads.shape
    one = heads[0].transpose(0, 1).reshape(T, H * D)
    return one.repeat(B, 1, 1)


def wrong_interleaves_backwards(heads):
    """wrong: two mistakes: interleaves the heads' features (D before H), and takes the heads in reverse order."""
    B, H, T, D = heads.shape
    return heads.flip(1).permute(0, 2, 3, 1).reshape(B, T, D * H)


ANSWERS = [
    right_transpose_and_reshape,
    right_cbind,
    right_fills_blocks,
    wrong_reshape_only,
    wrong_interleaves,
    wrong_rbind,
    wrong_averages,
    wrong_mixes_sequences,
    wrong_when_h_is_t,
    wrong_first_and_last,
    wrong_first_sequence,
    wrong_interleaves_backwards,
]
