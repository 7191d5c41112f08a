"""The sliding window."""

import torch


def window_by_loops(T, window):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(max(0, t - window + 1), t + 1):
            mask[t, s] = True
    return mask


def window_by_triangles(T, window):
    ones = torch.ones(T, T)
    return (ones.tril() - ones.tril(-window)).bool()


def window_by_comparison(T, window):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    return (s <= t) & (t - s < window)


def window_by_triu(T, window):
    full = torch.ones(T, T, dtype=torch.bool)
    return full.tril() & full.triu(1 - window)


def window_too_wide(T, window):
    full = torch.ones(T, T, dtype=torch.bool)
    return full.tril() & full.triu(-window)


def window_two_sided(T, window):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    return (t - s).abs() < window


def window_ahead(T, window):
    return window_by_comparison(T, window).T


def window_without_self(T, window):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(max(0, t - window), t):
            mask[t, s] = True
    return mask


def window_in_blocks(T, window):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        start = t - t % window
        mask[t, start : t + 1] = True
    return mask


RIGHT = [
    window_by_loops,
    window_by_triangles,
    window_by_comparison,
    window_by_triu,
]
WRONG = [
    (window_too_wide, "a window that is one key too wide"),
    (window_two_sided, "a window to both sides"),
    (window_ahead, "a window into the future"),
    (window_without_self, "a window without the token itself"),
    (window_in_blocks, "windows laid side by side"),
]
