import math
import torch
import torch.nn.functional as F


def right_1(T, tile, window):
    """right: builds the whole mask and looks at every tile"""
    p = torch.arange(T)
    back = p[:, None] - p
    visible = (back >= 0) & (back < window)
    count = 0
    for r in range(0, T, tile):
        for c in range(0, T, tile):
            if visible[r:r + tile, c:c + tile].any():
                count += 1
    return count


def right_2(T, tile, window):
    """right: set of tile pairs touched"""
    touched = set()
    for q in range(T):
        for k in range(max(0, q - window + 1), q + 1):
            touched.add((q // tile, k // tile))
    return len(touched)


def wrong_1(T, tile, window):
    """wrong: window one too wide"""
    count = 0
    for number, first in enumerate(range(0, T, tile)):
        farthest = max(0, first - window)
        count += number - farthest // tile + 1
    return count


def wrong_2(T, tile, window):
    """wrong: T // tile rows: drops the smaller tiles at the end"""
    count = 0
    for row in range(T // tile):
        begin = max(0, row * tile - window + 1)
        count += row - begin // tile + 1
    return count


def wrong_3(T, tile, window):
    """wrong: takes the last query of the row of tiles, not the first"""
    count = 0
    for number, first in enumerate(range(0, T, tile)):
        last = min(first + tile, T) - 1
        begin = max(0, last - window + 1)
        count += number - begin // tile + 1
    return count


def wrong_4(T, tile, window):
    """wrong: forgets max(0, ...): negative tiles counted"""
    count = 0
    for i, first in enumerate(range(0, T, tile)):
        farthest = first - window + 1
        count += i - farthest // tile + 1
    return count


def wrong_5(T, tile, window):
    """wrong: forgets the tile on the diagonal"""
    count = 0
    for i in range(math.ceil(T / tile)):
        start = max(0, i * tile - window + 1) // tile
        count += i - start
    return count


def wrong_6(T, tile, window):
    """wrong: ignores the window: whole causal triangle"""
    n = -(-T // tile)
    return n * (n + 1) // 2


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
