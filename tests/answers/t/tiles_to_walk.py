import functools
import math

import torch
import torch.nn.functional as F


def right_row_by_row(T, tile, window):
    """right: per row of tiles, from its first query's furthest key to the diagonal."""
    total = 0
    for row, start in enumerate(range(0, T, tile)):
        first_key = max(0, start - window + 1)
        total += row - first_key // tile + 1
    return total


def right_brute_force_mask(T, tile, window):
    """right: builds the whole mask and looks into every tile by slicing."""
    i = torch.arange(T)[:, None]
    j = torch.arange(T)[None, :]
    visible = (j <= i) & (i - j < window)
    count = 0
    for a in range(0, T, tile):
        for b in range(0, T, tile):
            if visible[a : a + tile, b : b + tile].any():
                count += 1
    return count


def right_max_pool(T, tile, window):
    """right: cuts a band out of ones, pads it to whole tiles, and max-pools."""
    band = torch.ones(T, T).tril().triu(-(min(window, T) - 1))
    rest = -T % tile
    band = F.pad(band, (0, rest, 0, rest))
    return int(F.max_pool2d(band[None], tile).sum())


def right_closed_formula(T, tile, window):
    """right: a band of so many diagonals of tiles, summed as a trapezium."""
    n = -(-T // tile)
    diagonals = min(n, 1 + math.ceil((window - 1) / tile))
    return diagonals * n - diagonals * (diagonals - 1) // 2


def right_recursion_by_columns(T, tile, window):
    """right: recurses over columns of tiles, down to the last query that sees a key."""

    @functools.cache
    def from_column(c):
        if c * tile >= T:
            return 0
        last_key = min((c + 1) * tile, T) - 1
        last_query = min(last_key + window - 1, T - 1)
        return last_query // tile - c + 1 + from_column(c + 1)

    return from_column(0)


def wrong_no_window(T, tile, window):
    """wrong: ignores the window and counts the causal triangle of tiles."""
    n = math.ceil(T / tile)
    return n * (n + 1) // 2


def wrong_not_causal(T, tile, window):
    """wrong: lets queries look as far ahead as back."""
    i = torch.arange(T)
    near = (i[:, None] - i[None, :]).abs() < window
    return sum(
        bool(near[a : a + tile, b : b + tile].any())
        for a in range(0, T, tile)
        for b in range(0, T, tile)
    )


def wrong_own_not_included(T, tile, window):
    """wrong: sees `window` tokens besides its own, one too far back."""
    total = 0
    for row in range(math.ceil(T / tile)):
        first = max(0, row * tile - window) // tile
        total += row - first + 1
    return total


def wrong_last_query(T, tile, window):
    """wrong: looks back from the last query of each row of tiles, not the first."""
    total = 0
    for row in range(math.ceil(T / tile)):
        query = min(T, (row + 1) * tile) - 1
        first = max(0, query - window + 1) // tile
        total += row - first + 1
    return total


def wrong_drops_the_rest(T, tile, window):
    """wrong: leaves out the smaller tiles at the end."""
    total = 0
    for row in range(T // tile):
        first = max(0, row * tile - window + 1) // tile
        total += row - first + 1
    return total


def wrong_one_row_too_many(T, tile, window):
    """wrong: always adds a row for the rest, even where tile divides T."""
    total = 0
    for row in range(T // tile + 1):
        first = max(0, row * tile - window + 1) // tile
        total += row - first + 1
    return total


def wrong_before_the_text(T, tile, window):
    """wrong: lets the window begin before position 0, and counts tiles there."""
    total = 0
    for row in range(math.ceil(T / tile)):
        first = (row * tile - window + 1) // tile
        total += row - first + 1
    return total


def wrong_truncates(T, tile, window):
    """wrong: truncates a negative beginning towards 0, good only for small windows."""
    total = 0
    for row in range(math.ceil(T / tile)):
        first = int((row * tile - window + 1) / tile)
        total += row - first + 1
    return total


def wrong_whole_tiles_only(T, tile, window):
    """wrong: counts only tiles in which every score is visible."""
    i = torch.arange(T)[:, None]
    j = torch.arange(T)[None, :]
    visible = (j <= i) & (j > i - window)
    count = 0
    for a in range(0, T, tile):
        for b in range(0, T, tile):
            if visible[a : a + tile, b : b + tile].all():
                count += 1
    return count


def wrong_skipped_tiles(T, tile, window):
    """wrong: counts the tiles that can be skipped."""
    n = -(-T // tile)
    walk = sum(r - max(0, r * tile - window + 1) // tile + 1 for r in range(n))
    return n * n - walk


def wrong_counts_scores(T, tile, window):
    """wrong: counts visible scores, not tiles."""
    return sum(min(i + 1, window) for i in range(T))


def wrong_area(T, tile, window):
    """wrong: divides the number of visible scores by the scores of a tile."""
    scores = sum(min(i + 1, window) for i in range(T))
    return math.ceil(scores / tile**2)


def wrong_window_of_tiles(T, tile, window):
    """wrong: lets each row of tiles see its last `window` tiles, not tokens."""
    n = math.ceil(T / tile)
    return sum(min(r + 1, window) for r in range(n))


def wrong_one_too_near(T, tile, window):
    """wrong: begins the window one token too late, so it sees window - 1 tokens."""
    total = 0
    for row in range(math.ceil(T / tile)):
        first = max(0, row * tile - window + 2) // tile
        total += max(row - first + 1, 1)
    return total


def wrong_first_corner(T, tile, window):
    """wrong: judges a tile by its first query and its first key only."""
    count = 0
    for q in range(0, T, tile):
        for k in range(0, T, tile):
            if k <= q and q - k < window:
                count += 1
    return count


def wrong_breaks_too_soon(T, tile, window):
    """wrong: walks a row from the left and stops at the first hidden tile."""
    count = 0
    for q in range(0, T, tile):
        for k in range(0, q + 1, tile):
            last_key = min(k + tile, T) - 1
            if last_key < q - window + 1:
                break
            count += 1
    return count


def wrong_full_window_is_square(T, tile, window):
    """wrong: thinks a window of T or more hides nothing at all, not even the future."""
    n = math.ceil(T / tile)
    if window >= T:
        return n * n
    return sum(r - max(0, r * tile - window + 1) // tile + 1 for r in range(n))


def wrong_no_diagonal_and_floor(T, tile, window):
    """wrong: leaves out the tiles of the diagonal and the smaller ones at the end."""
    total = 0
    for row in range(T // tile):
        first = max(0, row * tile - window + 1) // tile
        total += row - first
    return total


ANSWERS = [
    right_row_by_row,
    right_brute_force_mask,
    right_max_pool,
    right_closed_formula,
    right_recursion_by_columns,
    wrong_no_window,
    wrong_not_causal,
    wrong_own_not_included,
    wrong_last_query,
    wrong_drops_the_rest,
    wrong_one_row_too_many,
    wrong_before_the_text,
    wrong_truncates,
    wrong_whole_tiles_only,
    wrong_skipped_tiles,
    wrong_counts_scores,
    wrong_area,
    wrong_window_of_tiles,
    wrong_one_too_near,
    wrong_first_corner,
    wrong_breaks_too_soon,
    wrong_full_window_is_square,
    wrong_no_diagonal_and_floor,
]
