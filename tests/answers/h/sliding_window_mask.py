"""Answers to sliding_window_mask by hand h."""

import torch


def right_distance(T, window):
    """right: the distance from key to query lies in [0, window)."""
    distance = torch.arange(T)[:, None] - torch.arange(T)
    return (0 <= distance) & (distance < window)


def right_slices(T, window):
    """right: fills each row by a slice whose start is kept at 0 or above."""
    mask = torch.zeros((T, T), dtype=torch.bool)
    for end in range(1, T + 1):
        mask[end - 1, max(end - window, 0) : end] = True
    return mask


def right_sum_of_diagonals(T, window):
    """right: joins the diagonals 0 to window-1 below the main one."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for back in range(min(window, T)):
        mask.diagonal(-back).fill_(True)
    return mask


def wrong_one_too_many(T, window):
    """wrong: off by one: window + 1 keys, since the window counts the keys before the word and itself comes on top."""
    ones = torch.ones(T, T, dtype=torch.bool)
    return ones.tril() & ones.triu(-window)


def wrong_both_sides(T, window):
    """wrong: not causal: the window reaches forward as well, |distance| < window."""
    i = torch.arange(T)
    return (i[:, None] - i[None, :]).abs() < window


def wrong_looks_forward(T, window):
    """wrong: transposed: each word may attend to itself and to the next window - 1 words, instead of the last ones."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        for j in range(T):
            if i <= j < i + window:
                mask[i, j] = True
    return mask


def wrong_without_itself(T, window):
    """wrong: the word itself is left out: only the window - 1 words before it are True."""
    query = torch.arange(T).view(-1, 1)
    key = torch.arange(T).view(1, -1)
    return (key < query) & (key > query - window)


def wrong_negative_start_of_slice(T, window):
    """wrong: the slice's start i - window + 1 goes below 0 for the first words, where Python counts from the end, so the first window - 1 rows come out empty (unless the window is so long that the start is cut to 0)."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        mask[i, i - window + 1 : i + 1] = True
    return mask


def wrong_first_rows_filled_forward(T, window):
    """wrong: every row gets `window` keys: the first words, with too few before them, may attend to later words too."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        start = max(0, i - window + 1)
        mask[i, start : start + window] = True
    return mask


def wrong_blocks(T, window):
    """wrong: causal inside fixed blocks of `window` words instead of a window that slides along with the query."""
    block = torch.arange(T) // window
    return (block[:, None] == block[None, :]).tril()


def wrong_wraps_around(T, window):
    """wrong: the distance is taken modulo T (rolled identities), so the first words may attend to the last words of the text."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for shift in range(window):
        mask |= torch.roll(torch.eye(T, dtype=torch.bool), -shift, dims=1)
    return mask


def wrong_inverted_and_too_wide(T, window):
    """wrong: two mistakes: True marks the keys that are blocked, and the window spares window + 1 keys instead of window."""
    ones = torch.ones(T, T, dtype=torch.bool)
    return ones.triu(1) | ones.tril(-window - 1)


def wrong_centred_on_the_word(T, window):
    """wrong: two mistakes in one: the window is centred on the word, so it reaches window // 2 back, too short, and window // 2 forward, to later words."""
    d = torch.arange(T)[:, None] - torch.arange(T)[None]
    return d.abs() <= window // 2


ANSWERS = [
    right_distance,
    right_slices,
    right_sum_of_diagonals,
    wrong_one_too_many,
    wrong_both_sides,
    wrong_looks_forward,
    wrong_without_itself,
    wrong_negative_start_of_slice,
    wrong_first_rows_filled_forward,
    wrong_blocks,
    wrong_wraps_around,
    wrong_inverted_and_too_wide,
    wrong_centred_on_the_word,
]
