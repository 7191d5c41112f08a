"""Answers to sliding_window_mask by hand d."""

import torch


def _gap(T):
    i = torch.arange(T)
    return i[:, None] - i


def right_tril_triu(T, window):
    """right: the lower triangle, of which only the diagonals from 1 - window on stay."""
    return torch.ones(T, T, dtype=torch.bool).tril().triu(1 - window)


def right_one_modulo(T, window):
    """right: query - key modulo T + window: the future's negative gaps become at least window + 1, so one comparison is enough."""
    return _gap(T).remainder(T + window) < window


def right_row_slices(T, window):
    """right: a loop sets the slice max(0, q - window + 1) to q of each row q."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for q in range(T):
        mask[q, max(0, q + 1 - window) : q + 1] = True
    return mask


def window_plus_one(T, window):
    """wrong: gap <= window in place of < window, so window + 1 words are seen."""
    return (_gap(T) >= 0) & (_gap(T) <= window)


def forgot_causal(T, window):
    """wrong: only the gap's upper bound is tested, all words after the query are True as well."""
    return _gap(T) < window


def the_window_before(T, window):
    """wrong: the window lies before the query and leaves the query itself out (gaps 1 to window in place of 0 to window - 1)."""
    d = _gap(T)
    return (1 <= d) & (d <= window)


def looks_forward(T, window):
    """wrong: transposed, each word sees itself and the window - 1 words after it."""
    d = _gap(T).T
    return (d >= 0) & (d < window)


def negative_slice(T, window):
    """wrong: the slice's start is not clipped at 0; in the first window - 1 rows it is negative and counts from the end, so that these rows come out empty, or lack their first words where window is a little larger than T."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for q in range(T):
        mask[q, q - window + 1 : q + 1] = True
    return mask


def blocks(T, window):
    """wrong: cuts the text into blocks of `window` words, and each word sees only the past of its own block; right for window = 1 and for window >= T."""
    b = torch.arange(T) // window
    return (b[:, None] == b) & (_gap(T) >= 0)


def clamped(T, window):
    """wrong: the window is limited to T - 1, so where window >= T the last word doesn't see the first; right for smaller windows."""
    window = min(window, T - 1)
    return (_gap(T) >= 0) & (_gap(T) < window)


def circular(T, window):
    """wrong: gap modulo T, the first window - 1 rows wrap around and see the end of the text."""
    return _gap(T) % T < window


def outside_of_longer_window(T, window):
    """wrong: two mistakes, the mask is inverted (True outside the window and in the future), and the window is one word too long (gap <= window)."""
    d = _gap(T)
    return ~((d >= 0) & (d <= window))


ANSWERS = [
    right_tril_triu, right_one_modulo, right_row_slices,
    window_plus_one, forgot_causal, the_window_before, looks_forward,
    negative_slice, blocks, clamped, circular, outside_of_longer_window,
]
