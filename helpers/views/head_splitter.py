"""Queries, keys and values are cut into heads, step by step."""

from collections.abc import Callable, Sequence

from torch import Tensor

from helpers import validation
from helpers.attention import (
    causal_mask,
    dot_product_scores,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
from helpers.views.view import Table, View


def head_splitter(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    num_heads: int,
    *,
    tokens: Sequence[str],
) -> View:
    """Step through view, transpose, scores, contexts and merge, number by number.

    Each number keeps the colour of its head and the frame of its token. The transpose
    can be left out: tokens and heads then mix, and the view says whose numbers each
    head holds. The mask is causal, and no weight is dropped.

    Args:
        queries: (1, T, C), for all heads side by side.
        keys: (1, T, C)
        values: (1, T, C)
        num_heads: H, a divisor of C.
        tokens: T names.

    Returns:
        view: a View.

    Raises:
        ValueError: other shapes, ``num_heads`` that doesn't divide C, or tokens that
            don't count the rows.

    Source: Vaswani et al. 2017, section 3.2.2. Chapter 6.
    """
    parts = {"queries": queries, "keys": keys, "values": values}
    validation.require_values(queries, keys, values)
    shape = validation.shape_of(queries)
    if len(shape) != 3 or shape[0] != 1:
        raise ValueError(f"queries must have shape (1, T, C), got {shape}")
    for name, tensor in parts.items():
        if validation.shape_of(tensor) != shape:
            got = validation.shape_of(tensor)
            raise ValueError(f"{name} must have the queries' shape {shape}, got {got}")
    _, T, C = shape
    validation.require_heads(num_heads, C, "C")
    if len(tokens) != T:
        raise ValueError(f"tokens must hold {T} names, got {len(tokens)}")
    tokens = [str(token) for token in tokens]

    def attend(split: Callable[[Tensor], Tensor]) -> Tensor:
        return _merged(split(queries), split(keys), split(values))

    right = attend(lambda x: split_heads(x, num_heads))
    wrong = attend(lambda x: x.reshape(1, num_heads, T, -1))
    slots = [f"h{c * num_heads // C}.{c % (C // num_heads)}" for c in range(C)]
    tables = [
        Table("Keys, all heads side by side", keys[0].tolist(), slots, tokens),
        Table("Contexts, merged", right[0].tolist(), slots, tokens),
        Table("The same without the transpose", wrong[0].tolist(), slots, tokens),
    ]
    grouped = split_heads(keys, num_heads)[0]
    scores = dot_product_scores(split_heads(queries, num_heads)[0], grouped)
    for head in reversed(range(num_heads)):
        rows = scores[head].tolist()
        tables.insert(1, Table(f"Scores of head {head}", rows, tokens, tokens))
        tables.insert(
            1, Table(f"Keys of head {head}", grouped[head].tolist(), None, tokens)
        )
    state = {name: tensor[0].tolist() for name, tensor in parts.items()}
    return View(
        "head_splitter",
        "Queries, keys and values are cut into heads",
        state | {"heads": int(num_heads), "tokens": tokens},
        tables,
        decimals=6,
    )


def _merged(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Contexts of split queries, keys and values under a causal mask, merged."""
    mask = causal_mask(queries.shape[-2])
    context, _ = scaled_dot_product_attention(queries, keys, values, mask=mask)
    return merge_heads(context)
