"""Answers to split_heads by hand b."""

import numpy as np
import torch


def right_reshape_and_transpose(x, num_heads):
    """right: cuts the last axis into (H, D), then exchanges the axes T and H."""
    B, T, C = x.shape
    return x.reshape(B, T, num_heads, C // num_heads).transpose(1, 2)


def right_numpy_split(x, num_heads):
    """right: np.split along the features, np.stack as axis 1, and back to torch."""
    a = x.detach().cpu().numpy()
    parts = np.split(a, num_heads, axis=2)
    return torch.from_numpy(np.stack(parts, axis=1)).to(x.device)


def right_strides(x, num_heads):
    """right: a view by as_strided, made from the strides that x has."""
    B, T, C = x.shape
    D = C // num_heads
    step_b, step_t, step_c = x.stride()
    return x.as_strided((B, num_heads, T, D), (step_b, D * step_c, step_t, step_c), x.storage_offset())


def wrong_reshape_only(x, num_heads):
    """wrong: reshapes (B, T, C) straight to (B, H, T, D), with no transposition, so tokens and features are mixed."""
    B, T, C = x.shape
    return x.reshape(B, num_heads, T, C // num_heads)


def wrong_stays_behind_tokens(x, num_heads):
    """wrong: forgets to exchange the axes and returns (B, T, H, D)."""
    n, t, c = x.shape
    return x.reshape(n, t, num_heads, c // num_heads)


def wrong_dealt_like_cards(x, num_heads):
    """wrong: deals the features out in turn: head h has the features h, h + H, h + 2H, not a block of D."""
    heads = [x[:, :, h::num_heads] for h in range(num_heads)]
    return torch.stack(heads, dim=1)


def wrong_last_two_exchanged(x, num_heads):
    """wrong: returns (B, H, D, T): the last two axes are exchanged."""
    B, T, C = x.shape
    cut = x.reshape(B, T, num_heads, C // num_heads)
    return cut.permute(0, 2, 3, 1)


def wrong_mixes_sequences(x, num_heads):
    """wrong: reshapes as if T came before B, so tokens of the sequences of a batch are mixed (right for B = 1 or T = 1)."""
    B, T, C = x.shape
    D = C // num_heads
    return x.reshape(T, B, num_heads, D).permute(1, 2, 0, 3)


def wrong_when_t_is_h(x, num_heads):
    """wrong: skips the transposition where axis 1 has H entries already, so T and H aren't exchanged when T equals H."""
    B, T, C = x.shape
    cut = x.reshape(B, T, num_heads, C // num_heads)
    if cut.shape[1] != num_heads:
        cut = cut.transpose(1, 2)
    return cut


def wrong_squeezes(x, num_heads):
    """wrong: squeezes the result, so every axis of size 1 (B, H, T or D) is lost."""
    width = x.shape[-1] // num_heads
    return torch.stack(torch.split(x, width, dim=-1), dim=1).squeeze()


_width = {}


def wrong_old_width(x, num_heads):
    """wrong: keeps D from the first call with this C, so another number of heads for the same C still gets the old D."""
    B, T, C = x.shape
    D = _width.setdefault(C, C // num_heads)
    return x.reshape(B, T, C // D, D).transpose(1, 2)


def wrong_reshape_and_backwards(x, num_heads):
    """wrong: two mistakes: reshapes straight to (B, H, T, D) with no transposition, and puts the heads in reverse order."""
    B, T, C = x.shape
    return x.reshape(B, num_heads, T, C // num_heads).flip(1)


ANSWERS = [
    right_reshape_and_transpose,
    right_numpy_split,
    right_strides,
    wrong_reshape_only,
    wrong_stays_behind_tokens,
    wrong_dealt_like_cards,
    wrong_last_two_exchanged,
    wrong_mixes_sequences,
    wrong_when_t_is_h,
    wrong_squeezes,
    wrong_old_width,
    wrong_reshape_and_backwards,
]
