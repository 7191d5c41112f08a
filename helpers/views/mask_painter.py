"""A mask that is chosen or painted: weights and contexts follow it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from helpers import validation
from helpers.attention import causal_mask, scaled_dot_product_attention
from helpers.views.view import Table, View


def mask_painter(
    inputs: Tensor,
    W_query: Tensor,
    W_key: Tensor,
    W_value: Tensor,
    *,
    words: Sequence[str],
    replacement: Tensor,
    replacement_word: str,
) -> View:
    """Choose a mask, or paint one, and see which contexts a replaced word moves.

    The view shows the weights of one head under no mask, a causal one, a sliding
    window, padding, a prefix, or a mask of the reader's own. Replacing a word changes
    its query, key and value; each context says how far it moves.

    Args:
        inputs: (T, d_in), one row a word.
        W_query: (d_in, D); queries are ``inputs @ W_query``.
        W_key: (d_in, D)
        W_value: (d_in, D_v)
        words: T names.
        replacement: (d_in,), the input that stands in for a word.
        replacement_word: its name.

    Returns:
        view: a View.

    Raises:
        ValueError: shapes that don't fit, or words that don't count the inputs.

    Source: Vaswani et al. 2017, section 3.2.3 (causal); Beltagy et al. 2020, section
    3.1 (sliding window); Raffel et al. 2020, section 3.2.1 (prefix). Chapter 4.
    """
    matrices = {"W_query": W_query, "W_key": W_key, "W_value": W_value}
    validation.require_float(inputs=inputs, **matrices, replacement=replacement)
    _require_shapes(inputs, matrices, replacement)
    if len(words) != len(inputs):
        raise ValueError(f"words must hold {len(inputs)} names, got {len(words)}")
    words = [str(word) for word in words]

    def attend(x: Tensor) -> tuple[Tensor, Tensor]:
        return scaled_dot_product_attention(
            x @ W_query, x @ W_key, x @ W_value, mask=causal_mask(len(x))
        )

    context, weights = attend(inputs)
    changes = []
    for t in range(len(words)):
        changed = inputs.clone()
        changed[t] = replacement
        changes.append((attend(changed)[0] - context).abs().amax(dim=-1))
    state = {name: matrix.tolist() for name, matrix in matrices.items()}
    return View(
        "mask_painter",
        "A mask to choose or to paint",
        state
        | {"inputs": inputs.tolist(), "words": words}
        | {
            "replacement": replacement.tolist(),
            "replacementWord": str(replacement_word),
        },
        [
            Table("Causal weights", weights.tolist(), columns=words, rows=words),
            Table(
                "How far each context moves when the word above is replaced",
                torch.stack(changes, dim=1).tolist(),
                columns=words,
                rows=words,
            ),
        ],
        decimals=6,
    )


def _require_shapes(
    inputs: Tensor, matrices: dict[str, Tensor], replacement: Tensor
) -> None:
    validation.require_rank("inputs", inputs, "T, d_in")
    validation.require_rows("inputs", inputs, "T")
    if inputs.dim() != 2:
        got = validation.shape_of(inputs)
        raise ValueError(f"inputs must have shape (T, d_in), got {got}")
    d_in = inputs.shape[-1]
    for name, matrix in matrices.items():
        got = validation.shape_of(matrix)
        if len(got) != 2 or got[0] != d_in or got[1] == 0:
            letter = "D_v" if name == "W_value" else "D"
            raise ValueError(f"{name} must have shape ({d_in}, {letter}), got {got}")
    got = (
        validation.shape_of(matrices["W_query"]),
        validation.shape_of(matrices["W_key"]),
    )
    validation.require_same(
        "the last axis (D)", W_query=(got[0][1], got[0]), W_key=(got[1][1], got[1])
    )
    if validation.shape_of(replacement) != (d_in,):
        got = validation.shape_of(replacement)
        raise ValueError(f"replacement must have shape ({d_in},), got {got}")
