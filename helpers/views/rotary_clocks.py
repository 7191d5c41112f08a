"""A query and a key as hands of clocks that turn with their places."""

import cmath
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from helpers import validation
from helpers.views.view import Table, View

BASE = 10_000.0  # of the speeds
LAST_PLACE = 63
SLOPE = 0.5  # of the steepest of eight heads
SCHEMES = ("rotary", "none", "ALiBi")


def rotary_clocks(
    query: Tensor,
    key: Tensor,
    *,
    names: Sequence[str] = ("query", "key"),
    places: Sequence[int] = (5, 1),
) -> View:
    """Move two words along a text, and see what their score knows of it.

    Each pair of features is a clock with two hands, the query's and the key's. Rotary
    positions turn them with their places; ALiBi takes the distance off the score.

    Args:
        query: (D,), D even, of at most 8; features 2n and 2n + 1 are a pair.
        key: (D,), likewise.
        names: what the two words are.
        places: where they stand at first, from 0 to 63.

    Returns:
        view: a View.

    Raises:
        ValueError: other shapes, an odd or larger D, numbers that aren't finite, names
            that aren't two, or places that aren't two whole numbers from 0 to 63.

    Source: Su et al. 2021, section 3.2. Chapter 12.
    """
    validation.require_float(query=query, key=key)
    shape = validation.shape_of(query)
    if len(shape) != 1 or shape[0] not in (2, 4, 6, 8):
        raise ValueError(f"query must have shape (D,) with D 2, 4, 6 or 8, got {shape}")
    if validation.shape_of(key) != shape:
        raise ValueError(
            f"key must have shape {shape} as query has, got {validation.shape_of(key)}"
        )
    if not torch.cat([query, key]).isfinite().all():
        raise ValueError("query and key must be finite")
    if len(names) != 2:
        raise ValueError(f"names must hold 2 texts, got {len(names)}")
    known = range(LAST_PLACE + 1)
    if len(places) != 2 or not all(place in known for place in places):
        raise ValueError(
            f"places must be two whole numbers from 0 to {LAST_PLACE}, got {places!r}"
        )
    speeds = [BASE ** (-2 * pair / shape[0]) for pair in range(shape[0] // 2)]
    vectors = query.tolist(), key.tolist()
    named = [str(name) for name in names]
    pairs = range(len(speeds))
    return View(
        "rotary_clocks",
        "Two words as the hands of clocks",
        {
            "vectors": vectors,
            "names": named,
            "places": [int(place) for place in places],
            "last": LAST_PLACE,
            "speeds": speeds,
            "schemes": SCHEMES,
            "slope": SLOPE,
        },
        [
            Table(
                "Two words",
                vectors,
                columns=[f"pair {pair}, {side}" for pair in pairs for side in "ab"],
                rows=named,
                decimals=2,
            ),
            Table(
                f"Their score at places {places[0]} and {places[1]}",
                [_scores(*vectors, speeds, places[0] - places[1])],
                columns=SCHEMES,
                decimals=2,
            ),
        ],
    )


def _scores(
    query: list[float], key: list[float], speeds: list[float], distance: int
) -> list[float]:
    """One for each of the schemes; each pair is read as a complex number."""
    products = [
        complex(*query[i : i + 2]) * complex(*key[i : i + 2]).conjugate()
        for i in range(0, len(query), 2)
    ]
    turned = [
        product * cmath.exp(1j * speed * distance)
        for product, speed in zip(products, speeds, strict=True)
    ]
    scale = math.sqrt(len(query))
    rotary, none = (sum(some).real / scale for some in (turned, products))
    return [rotary, none, none - SLOPE * abs(distance)]
