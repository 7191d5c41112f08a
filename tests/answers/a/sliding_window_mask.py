"""Answers to sliding_window_mask by hand a."""

import numpy as np
import torch


def right_loop_with_max(T, window):
    """right: one slice per query, from max(0, t - window + 1) up to t."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        begin = max(0, t - window + 1)
        mask[t, begin : t + 1] = True
    return mask


def right_diagonals(T, window):
    """right: fills the main diagonal and the window - 1 diagonals below it, as far as they exist."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for back in range(min(window, T)):
        mask.diagonal(-back).fill_(True)
    return mask


def right_numpy_distance(T, window):
    """right: NumPy table of distances query - key, True from 0 to below window, and back to torch."""
    positions = np.arange(T)
    distance = np.subtract.outer(positions, positions)
    return torch.from_numpy((distance >= 0) & (distance < window))


def wrong_window_plus_one(T, window):
    """wrong: off by one, window keys BEFORE the query and the query too, so window + 1 keys."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(T):
            if s <= t and t - s <= window:
                mask[t, s] = True
    return mask


def wrong_itself_left_out(T, window):
    """wrong: the last window words before the query, the query itself (the diagonal) is left out."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(max(0, t - window), t):
            mask[t, s] = True
    return mask


def wrong_both_sides(T, window):
    """wrong: symmetric, window by absolute distance, so window - 1 keys after the query are True too."""
    i = torch.arange(T)
    return (i[:, None] - i[None, :]).abs() < window


def wrong_looks_forward(T, window):
    """wrong: transposed, the query and the window - 1 words AFTER it."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, t : t + window] = True
    return mask


def wrong_negative_slice(T, window):
    """wrong: the slice begins at t - window + 1 without max(0, ...); where that is negative it counts from the end, so first rows lose keys (when window is at most T)."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, t - window + 1 : t + 1] = True
    return mask


def wrong_always_full_window(T, window):
    """wrong: the first rows get the first `window` keys, so that each row has window keys; these rows see the future."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        end = t + 1
        if end < window:
            end = window
        mask[t, max(0, end - window) : end] = True
    return mask


def wrong_fixed_blocks(T, window):
    """wrong: cuts the text into blocks of `window` words and lets a word attend to the earlier ones of its own block and itself; the window doesn't slide."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(t + 1):
            if t // window == s // window:
                mask[t, s] = True
    return mask


def wrong_window_capped(T, window):
    """wrong: cuts the window to T - 1, so when window is T or more the last word misses the first key (and for T = 1 the only entry is False)."""
    window = min(window, T - 1)
    i = torch.arange(T).view(-1, 1)
    j = torch.arange(T).view(1, -1)
    return (j <= i) & (i - j < window)


def wrong_future_open_and_one_more(T, window):
    """wrong: two mistakes, only the far past is cut, all keys after the query are True, and one key too many in the past (distance <= window)."""
    mask = torch.ones(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(T):
            if t - s > window:
                mask[t, s] = False
    return mask


ANSWERS = [
    right_loop_with_max,
    right_diagonals,
    right_numpy_distance,
    wrong_window_plus_one,
    wrong_itself_left_out,
    wrong_both_sides,
    wrong_looks_forward,
    wrong_negative_slice,
    wrong_always_full_window,
    wrong_fixed_blocks,
    wrong_window_capped,
    wrong_future_open_and_one_more,
]
