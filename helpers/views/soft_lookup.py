"""One word's lookup: its query meets every key, and its context is made of values."""

from collections.abc import Sequence

from torch import Tensor

from helpers import validation
from helpers.attention import scaled_dot_product_attention
from helpers.views.view import Table, View


def soft_lookup(
    inputs: Tensor,
    W_query: Tensor,
    W_key: Tensor,
    W_value: Tensor,
    words: Sequence[str],
    *,
    word: int = 0,
    features: Sequence[str] | None = None,
) -> View:
    """Choose the word that asks, change ``W_query``, and follow every number.

    The view shows the word's query and, for each word, its key, score, scaled score,
    weight, value and weighted value. The context is their sum.

    Args:
        inputs: (T, d_in), the words' vectors.
        W_query: (d_in, d_out); its entries can be changed in the view.
        W_key: (d_in, d_out)
        W_value: (d_in, D_v)
        words: T names.
        word: the place of the word that asks first, from 0 to T - 1.
        features: d_in names, of the vectors' numbers and so of the rows of ``W_query``;
            where left out, they are counted from 0.

    Returns:
        view: a View.

    Raises:
        ValueError: shapes that don't fit, words that don't count the inputs, a word
            outside them, or features that don't count d_in.

    Source: Vaswani et al. 2017, section 3.2.1, equation 1. Chapter 2.
    """
    matrices = {"W_query": W_query, "W_key": W_key, "W_value": W_value}
    _require_shapes(inputs, matrices, words)
    whole = isinstance(word, int) and not isinstance(word, bool)
    if not whole or not 0 <= word < len(words):
        raise ValueError(
            f"word must be a whole number from 0 to {len(words) - 1}, got {word!r}"
        )
    words = [str(name) for name in words]
    d_in = inputs.shape[1]
    names = [str(name) for name in (range(d_in) if features is None else features)]
    if len(names) != d_in:
        raise ValueError(f"features must hold d_in = {d_in} names, got {len(names)}")
    query, keys, values = inputs[word] @ W_query, inputs @ W_key, inputs @ W_value
    context, weights = scaled_dot_product_attention(query.unsqueeze(0), keys, values)
    scores = keys @ query
    columns = [scores, scores / len(query) ** 0.5, weights[0]]
    rows = [list(row) for row in zip(*(one.tolist() for one in columns), strict=True)]
    state = {name: matrix.tolist() for name, matrix in matrices.items()}
    return View(
        "soft_lookup",
        "A soft lookup",
        {
            **state,
            "inputs": inputs.tolist(),
            "words": words,
            "word": word,
            "features": names,
        },
        [
            Table(f"The query of {words[word]}", [query.tolist()]),
            Table(
                "What each word gives",
                rows,
                columns=["score", "scaled score", "weight"],
                rows=words,
            ),
            Table(f"The context of {words[word]}", context.tolist()),
        ],
        decimals=6,  # so that four decimals are right after the browser's arithmetic
    )


def _require_shapes(
    inputs: Tensor, matrices: dict[str, Tensor], words: Sequence[str]
) -> None:
    """inputs (T, d_in), matrices (d_in, ...), queries as wide as keys, T words."""
    validation.require_float(inputs=inputs, **matrices)
    for name, matrix in {"inputs": inputs, **matrices}.items():
        shape = validation.shape_of(matrix)
        if len(shape) != 2 or 0 in shape:
            raise ValueError(
                f"{name} must have two axes that aren't empty, got {shape}"
            )
    for name, matrix in matrices.items():
        validation.require_same(
            "d_in",
            **{
                "inputs": (inputs.shape[1], validation.shape_of(inputs)),
                name: (matrix.shape[0], validation.shape_of(matrix)),
            },
        )
    query, key = (validation.shape_of(matrices[name]) for name in ("W_query", "W_key"))
    validation.require_same("d_out", W_query=(query[1], query), W_key=(key[1], key))
    if len(words) != len(inputs):
        raise ValueError(f"words must hold {len(inputs)} names, got {len(words)}")
