"""How many tiles of a windowed, causal table are needed."""

import math

import torch


def by_mask(T, tile, window):
    places = torch.arange(T)
    back = places[:, None] - places
    visible = (back >= 0) & (back < window)
    tiles = visible.nonzero() // tile
    return len({tuple(pair) for pair in tiles.tolist()})


def by_loops(T, tile, window):
    count = 0
    for row in range(0, T, tile):
        for column in range(0, T, tile):
            last_query = min(row + tile, T) - 1
            last_key = min(column + tile, T) - 1
            if column <= last_query and last_key > row - window:
                count += 1
    return count


def by_first_tile(T, tile, window):
    total = 0
    for i in range(math.ceil(T / tile)):
        first_key = max(0, i * tile - window + 1)
        total += i - first_key // tile + 1
    return total


def by_splitting(T, tile, window):
    visible = torch.ones(T, T, dtype=torch.bool).tril().triu(1 - window)
    return sum(
        bool(square.any())
        for rows in visible.split(tile, dim=0)
        for square in rows.split(tile, dim=1)
    )


def by_pairs(T, tile, window):
    needed = set()
    for query in range(T):
        for key in range(max(0, query - window + 1), query + 1):
            needed.add((query // tile, key // tile))
    return len(needed)


def half_of_them(T, tile, window):
    n = math.ceil(T / tile)
    return n * (n + 1) // 2


def rounded_down(T, tile, window):
    return sum(i - max(0, i * tile - window + 1) // tile + 1 for i in range(T // tile))


def window_without_itself(T, tile, window):
    total = 0
    for i in range(math.ceil(T / tile)):
        total += i - max(0, i * tile - window) // tile + 1
    return total


def counted_scores(T, tile, window):
    return int(torch.ones(T, T).tril().triu(1 - window).sum())


def full_tiles_only(T, tile, window):
    visible = torch.ones(T, T, dtype=torch.bool).tril().triu(1 - window)
    return sum(
        bool(square.all())
        for rows in visible.split(tile, dim=0)
        for square in rows.split(tile, dim=1)
    )


def both_sides(T, tile, window):
    places = torch.arange(T)
    near = (places[:, None] - places).abs() < window
    return sum(
        bool(square.any())
        for rows in near.split(tile, dim=0)
        for square in rows.split(tile, dim=1)
    )


RIGHT = [by_mask, by_loops, by_first_tile, by_splitting, by_pairs]
WRONG = [
    (half_of_them, "a causal mask without a window"),
    (rounded_down, "a last tile that is left out"),
    (window_without_itself, "a window one too wide"),
    (counted_scores, "a count of scores"),
    (full_tiles_only, "a count of tiles with nothing hidden"),
    (both_sides, "a window without a causal mask"),
]
