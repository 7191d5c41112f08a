"""A query among keys in the plane: scores, weights and context follow it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from helpers import validation
from helpers.attention import softmax
from helpers.views.view import Table, View


def query_explorer(keys: Tensor, names: Sequence[str], query: Tensor) -> View:
    """Drag a query among keys that are their own values.

    The view shows each key's score, its weight by softmax and by a hard maximum, and
    where both contexts lie.

    Args:
        keys: (S, 2), the words' vectors; coordinates from -2 to 2.
        names: S names.
        query: (2,), where the query starts.

    Returns:
        view: a View.

    Raises:
        ValueError: other shapes, a coordinate outside -2 to 2, or names that don't
            count the keys.

    Source: Bahdanau et al. 2015, section 3.1 (a weighted average). Chapter 1.
    """
    validation.require_float(keys=keys, query=query)
    shapes = validation.shape_of(keys), validation.shape_of(query)
    if len(shapes[0]) != 2 or shapes[0][1:] != (2,) or shapes[1] != (2,):
        raise ValueError(
            f"keys and query must have shapes (S, 2) and (2,), got {shapes[0]} and "
            f"{shapes[1]}"
        )
    if len(names) != len(keys):
        raise ValueError(f"names must hold {len(keys)} names, got {len(names)}")
    if not (torch.cat([keys, query.unsqueeze(0)]).abs() <= 2).all():
        raise ValueError("keys and query must have coordinates from -2 to 2")
    scores = keys @ query
    weights = softmax(scores)
    rows = torch.stack([scores, weights], dim=1).tolist()
    context = (weights @ keys).tolist()
    names = [str(name) for name in names]
    return View(
        "query_explorer",
        "A query among keys",
        {"keys": keys.tolist(), "names": names, "query": query.tolist()},
        [
            Table("Each key", rows, columns=["score", "weight"], rows=names),
            Table("The context", [context], columns=["x", "y"]),
        ],
    )
