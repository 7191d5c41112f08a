"""Answers to tiles_to_walk by hand q."""

import torch
import torch.nn.functional as F


def right_algebra(T, tile, window):
    """right: whole band of tiles less the corner that sticks out, no loop."""
    n = -(-T // tile)
    reach = min(-(-(window - 1) // tile), n - 1)
    return n * (reach + 1) - reach * (reach + 1) // 2


def right_row_sum(T, tile, window):
    """right: walks rows of tiles, from the first query's oldest key on."""
    total = 0
    for row, start in enumerate(range(0, T, tile)):
        oldest = max(0, start - window + 1)
        total += row - oldest // tile + 1
    return total


def right_max_pool(T, tile, window):
    """right: max-pools the mask itself, with a ragged edge padded by hidden."""
    seen = torch.ones(T, T).tril().triu(1 - window)
    pad = -T % tile
    seen = F.pad(seen, (0, pad, 0, pad))
    return int(F.max_pool2d(seen[None], tile).sum())


def right_scatter_amin(T, tile, window):
    """right: each query's oldest tile, reduced per row of tiles by scatter."""
    q = torch.arange(T)
    row = q // tile
    first = (q - window + 1).clamp(min=0) // tile
    n = (T + tile - 1) // tile
    low = torch.full((n,), T).scatter_reduce(0, row, first, "amin")
    return int((torch.arange(n) - low + 1).sum())


def right_corner_test(T, tile, window):
    """right: compares tile edges: not all future and not all too old."""
    start = torch.arange(0, T, tile)
    last = (start + tile - 1).clamp(max=T - 1)
    not_future = start[None, :] <= last[:, None]
    not_old = last[None, :] > start[:, None] - window
    return (not_future & not_old).sum().item()


def wrong_drops_ragged_tiles(T, tile, window):
    """wrong: pools without padding, so the smaller tiles at the end are lost."""
    n = T // tile
    m = n * tile
    seen = torch.ones(m, m).tril().triu(1 - window)
    return int(seen.view(n, tile, n, tile).amax(dim=(1, 3)).sum()) if n else 0


def wrong_floors_reach(T, tile, window):
    """wrong: rounds the window's reach in tiles down, not up."""
    n = -(-T // tile)
    reach = (window - 1) // tile
    return sum(min(i, reach) + 1 for i in range(n))


def wrong_window_excludes_self(T, tile, window):
    """wrong: takes the window as the past tokens besides the query's own."""
    n = -(-T // tile)
    reach = -(-window // tile)
    return sum(min(i, reach) + 1 for i in range(n))


def wrong_ignores_window(T, tile, window):
    """wrong: counts the causal triangle of tiles, whatever the window."""
    n = -(-T // tile)
    return n * (n + 1) // 2


def wrong_returns_float(T, tile, window):
    """wrong: divides with a slash, so a float comes back."""
    n = -(-T // tile)
    reach = min(-(-(window - 1) // tile), n - 1)
    return n * (reach + 1) - reach * (reach + 1) / 2


def wrong_strict_diagonal(T, tile, window):
    """wrong: leaves out the tiles on the diagonal."""
    n = -(-T // tile)
    reach = -(-(window - 1) // tile)
    return sum(min(i, reach) for i in range(n))


def wrong_prints(T, tile, window):
    """wrong: prints the count instead of returning it."""
    n = -(-T // tile)
    reach = -(-(window - 1) // tile)
    print(sum(min(i, reach) + 1 for i in range(n)))


def wrong_raises_wide_window(T, tile, window):
    """wrong: refuses a window wider than T."""
    if window > T:
        raise ValueError("window is wider than the text")
    n = -(-T // tile)
    reach = -(-(window - 1) // tile)
    return sum(min(i, reach) + 1 for i in range(n))


def wrong_unclamped_corner(T, tile, window):
    """wrong: doesn't cap the reach, so a window far beyond T cuts too much off."""
    n = -(-T // tile)
    reach = -(-(window - 1) // tile)
    return n * (reach + 1) - reach * (reach + 1) // 2


def wrong_wholly_visible(T, tile, window):
    """wrong: counts only the tiles in which no score at all is hidden."""
    seen = torch.ones(T, T).tril().triu(1 - window)
    rows = seen.split(tile)
    return sum(int(t.all()) for row in rows for t in row.split(tile, dim=1))


def wrong_last_row_reach(T, tile, window):
    """wrong: takes the oldest key of a tile's last query, not of its first."""
    total = 0
    for row, start in enumerate(range(0, T, tile)):
        last = min(start + tile, T) - 1
        total += row - max(0, last - window + 1) // tile + 1
    return total


def wrong_symmetric_band(T, tile, window):
    """wrong: lets the window reach into the future as well."""
    i = torch.arange(T)
    seen = ((i[:, None] - i[None, :]).abs() < window).float()
    pad = -T % tile
    seen = F.pad(seen, (0, pad, 0, pad))
    return int(F.max_pool2d(seen[None], tile).sum())


def wrong_uint8_sum(T, tile, window):
    """wrong: sums in uint8, so counts wrap at 256."""
    n = -(-T // tile)
    reach = -(-(window - 1) // tile)
    live = torch.ones(n, n, dtype=torch.uint8).tril().triu(-reach)
    return int(live.sum(dtype=torch.uint8))


ANSWERS = [
    right_algebra,
    right_row_sum,
    right_max_pool,
    right_scatter_amin,
    right_corner_test,
    wrong_drops_ragged_tiles,
    wrong_floors_reach,
    wrong_window_excludes_self,
    wrong_ignores_window,
    wrong_returns_float,
    wrong_strict_diagonal,
    wrong_prints,
    wrong_raises_wide_window,
    wrong_unclamped_corner,
    wrong_wholly_visible,
    wrong_last_row_reach,
    wrong_symmetric_band,
    wrong_uint8_sum,
]
