"""Two vectors in the plane, and their dot product as lengths and an angle."""

from collections.abc import Sequence

from torch import Tensor

from helpers import validation
from helpers.views.view import Table, View


def dot_product(
    query: Tensor,
    key: Tensor,
    *,
    names: Sequence[str] = ("query", "key"),
    columns: Sequence[str] = ("x", "y"),
) -> View:
    """Drag two vectors and see their dot product change.

    The view shows the products of their entries, and the product of their lengths and
    the cosine of their angle, which is the same number; the key's shadow on the query
    is how far it points the query's way.

    Args:
        query: (2,), coordinates from -2 to 2.
        key: (2,), likewise.
        names: what the two vectors are.
        columns: what their two numbers are.

    Returns:
        view: a View.

    Raises:
        ValueError: other shapes, a coordinate outside -2 to 2, or names and columns
            that aren't two each.

    Source: Vaswani et al. 2017, section 3.2.1 (dot products as scores). Chapter 1.
    """
    validation.require_float(query=query, key=key)
    for name, vector in (("query", query), ("key", key)):
        if validation.shape_of(vector) != (2,):
            raise ValueError(
                f"{name} must have shape (2,), got {validation.shape_of(vector)}"
            )
        if not (vector.abs() <= 2).all():
            raise ValueError(f"{name} must have coordinates from -2 to 2")
    for option, texts in (("names", names), ("columns", columns)):
        if len(texts) != 2:
            raise ValueError(f"{option} must hold 2 texts, got {len(texts)}")
    named, headed = [str(one) for one in names], [str(one) for one in columns]
    rows = [query.tolist(), key.tolist()]
    products = [query[0] * key[0], query[1] * key[1], query @ key]
    lengths = query.norm().item(), key.norm().item()
    return View(
        "dot_product",
        "A dot product as a picture",
        {"vectors": rows, "names": named, "columns": headed},
        [
            Table("Two vectors", rows, columns=headed, rows=named, decimals=2),
            Table(
                "Their dot product",
                [[one.item() for one in products]],
                columns=[*(f"products of {one}" for one in headed), "sum"],
                decimals=2,
            ),
            Table("Their lengths", [lengths], columns=named, decimals=2),
        ],
    )
