import math
import torch
import torch.nn.functional as F


def right_1(T, window):
    """right: nested loops"""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for q in range(T):
        for k in range(max(0, q - window + 1), q + 1):
            mask[q, k] = True
    return mask


def right_2(T, window):
    """right: xor of two comparisons"""
    i = torch.arange(T).reshape(T, 1)
    j = torch.arange(T).reshape(1, T)
    return (j <= i) ^ (j <= i - window)


def wrong_1(T, window):
    """wrong: one too wide: <= window"""
    places = torch.arange(T)
    back = places[:, None] - places
    return (back >= 0) & (back <= window)


def wrong_2(T, window):
    """wrong: one too narrow: < window - 1"""
    p = torch.arange(T)
    q, k = p[:, None], p[None, :]
    return (k <= q) & (k > q - window + 1)


def wrong_3(T, window):
    """wrong: hides the word itself: > 0"""
    places = torch.arange(T)
    steps = places[:, None] - places
    return (steps > 0) & (steps < window)


def wrong_4(T, window):
    """wrong: transposed: looks into the future"""
    places = torch.arange(T)
    steps = places[None, :] - places[:, None]
    return (steps >= 0) & (steps < window)


def wrong_5(T, window):
    """wrong: abs of distance, so sees window in both directions"""
    pos = torch.arange(T)
    return (pos[:, None] - pos).abs() < window


def wrong_6(T, window):
    """wrong: True means hidden (inverted)"""
    query = torch.arange(T)[:, None]
    key = torch.arange(T)[None, :]
    future = key > query
    too_old = query - key >= window
    return future | too_old


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
