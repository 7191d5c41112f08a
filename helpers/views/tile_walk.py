"""A table of scores, walked in tiles, and what each row keeps meanwhile."""

from collections.abc import Sequence

import torch
from torch import Tensor

from helpers import validation
from helpers.views.view import Table, View

MOST = 16  # tokens that a page's width has room for
WINDOW = 4


def tile_walk(
    scores: Tensor, values: Tensor, *, names: Sequence[str], tile: int = 2
) -> View:
    """Walk a table of scores in tiles, and watch one row's softmax grow.

    A tile's scores are shown while it is computed, and forgotten afterwards. What goes
    on to a row's next tile is its largest score, its sum and its weighted sum.

    Args:
        scores: (T, T), T from 2 to 16.
        values: (T,), one number for each token.
        names: the T tokens.
        tile: queries and keys in a tile at first, from 1 to T.

    Returns:
        view: a View.

    Raises:
        ValueError: other shapes, numbers that aren't finite, not T names, or a tile
            outside its range.

    Source: Dao et al. 2022, algorithm 1; Milakov and Gimelshein 2018, algorithm 3.
    Chapter 14.
    """
    validation.require_float(scores=scores, values=values)
    shape = validation.shape_of(scores)
    if len(shape) != 2 or shape[0] != shape[1] or not 2 <= shape[0] <= MOST:
        raise ValueError(
            f"scores must have shape (T, T) with T from 2 to {MOST}, got {shape}"
        )
    T = shape[0]
    if validation.shape_of(values) != (T,):
        raise ValueError(
            f"values must have shape ({T},) as scores have {T} keys, got "
            f"{validation.shape_of(values)}"
        )
    if not torch.cat([scores.flatten(), values]).isfinite().all():
        raise ValueError("scores and values must be finite")
    if len(names) != T:
        raise ValueError(f"names must hold {T} texts, got {len(names)}")
    validation.require_integers(tile=tile)
    if tile > T:
        raise ValueError(f"tile must lie in 1 to T = {T}, got {tile}")
    tokens = [str(name) for name in names]
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    contexts = [
        one.softmax(dim=-1) @ values
        for one in (scores, scores.masked_fill(future, -torch.inf))
    ]
    return View(
        "tile_walk",
        "A table of scores, walked in tiles",
        {
            "scores": scores.tolist(),
            "values": values.tolist(),
            "names": tokens,
            "tile": int(tile),
            "window": WINDOW,
        },
        [
            Table("Scores", scores.tolist(), columns=tokens, rows=tokens, decimals=2),
            Table(
                "Contexts",
                torch.stack([values, *contexts], dim=1).tolist(),
                columns=["value", "context, no mask", "context, causal"],
                rows=tokens,
                decimals=3,
            ),
        ],
    )
