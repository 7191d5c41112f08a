"""Answers to split heads."""

import torch


def right_unfold(x, num_heads):
    """right: cuts the last axis with unfold into windows of D, then moves the axis of the heads forward."""
    D = x.shape[-1] // num_heads
    return x.unfold(2, D, D).permute(0, 2, 1, 3)


def right_by_index(x, num_heads):
    """right: looks up the columns of each head with a table (H, D) of indices."""
    C = x.shape[-1]
    table = torch.arange(C, device=x.device).reshape(num_heads, C // num_heads)
    return x[:, :, table].movedim(2, 1).contiguous()


def right_number_by_number(x, num_heads):
    """right: writes feature c of each token to head c // D, feature c % D."""
    B, T, C = x.shape
    D = C // num_heads
    out = torch.empty(B, num_heads, T, D, dtype=x.dtype, device=x.device)
    for c in range(C):
        h, d = divmod(c, D)
        out[:, h, :, d] = x[:, :, c]
    return out


def wrong_view_only(x, num_heads):
    """wrong: reshapes straight to (B, H, T, D) without exchanging axes, so a head gets pieces of other tokens."""
    B, T, C = x.shape
    return x.reshape(B, num_heads, T, C // num_heads)


def wrong_interleaved(x, num_heads):
    """wrong: reshapes the features to (D, H), so head h gets the features h, h + H, h + 2 H, ... and not D neighbours."""
    B, T, C = x.shape
    return x.reshape(B, T, C // num_heads, num_heads).permute(0, 3, 1, 2)


def wrong_no_transpose(x, num_heads):
    """wrong: returns (B, T, H, D); the axes of tokens and heads are not exchanged."""
    return x.reshape(*x.shape[:2], num_heads, x.shape[2] // num_heads)


def wrong_width_is_num_heads(x, num_heads):
    """wrong: takes num_heads for the width D, and makes C / num_heads heads of this width; right only where H = D."""
    B, T, C = x.shape
    D = num_heads
    return x.reshape(B, T, C // D, D).transpose(1, 2)


def wrong_batch_folded(x, num_heads):
    """wrong: puts the heads before all B * T tokens and then reshapes (H, B T, D) to (B, H, T, D), which mixes heads and sequences; right for B = 1 or H = 1."""
    B, T, C = x.shape
    D = C // num_heads
    flat = x.reshape(B * T, num_heads, D).transpose(0, 1)
    return flat.reshape(B, num_heads, T, D)


def wrong_when_tokens_equal_heads(x, num_heads):
    """wrong: exchanges the axes of tokens and heads only if axis 1 hasn't the size H yet, so it forgets to when T = H."""
    y = torch.stack(x.chunk(num_heads, dim=-1), dim=2)
    if y.shape[1] != num_heads:
        y = y.transpose(1, 2)
    return y


def wrong_windows_overlap(x, num_heads):
    """wrong: head h starts at feature h and not at h * D, so that neighbouring heads overlap; right for one head, or for D = 1."""
    D = x.size(-1) // num_heads
    return torch.stack([x[..., h:h + D] for h in range(num_heads)], dim=1)


def wrong_single_head(x, num_heads):
    """wrong: with one head it puts the new axis in the wrong place, (B, T, 1, D) for (B, 1, T, D); right for two heads and more."""
    if num_heads == 1:
        return x.unsqueeze(2)
    B, T, C = x.shape
    return x.reshape(B, T, num_heads, C // num_heads).transpose(1, 2)


def wrong_interleaved_and_reversed(x, num_heads):
    """wrong: two mistakes: the features are interleaved (every H-th one), and the heads are in reverse order."""
    heads = [x[..., h::num_heads] for h in range(num_heads)]
    return torch.stack(heads[::-1], 1)


ANSWERS = [
    right_unfold, right_by_index, right_number_by_number, wrong_view_only,
    wrong_interleaved, wrong_no_transpose, wrong_width_is_num_heads,
    wrong_batch_folded, wrong_when_tokens_equal_heads, wrong_windows_overlap,
    wrong_single_head, wrong_interleaved_and_reversed,
]
