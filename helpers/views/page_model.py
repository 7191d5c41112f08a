"""What the views that run a language model in the page have in common."""

import base64
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from helpers import validation
from helpers.views.view import Table

BYTES = {torch.int8: "i1", torch.float16: "<f2"}


def model_state(
    config: Mapping[str, int], weights: Mapping[str, Tensor], alphabet: str
) -> dict[str, Any]:
    """A model as the page's JavaScript reads it.

    Args:
        config: a dict of "contextLength", "width", "heads" and "layers".
        weights: a dict from the names of a TransformerLM's parameters to int8 matrices
            (rows, columns), each with a float16 tensor (rows,) under its name and
            ".scales", and to float16 vectors; learned positions, LayerNorm, GELU, an
            untied head.
        alphabet: a string, the characters in the order of their ids.

    Returns:
        state: a dict for a View, the weights' bytes in base64.

    Raises:
        ValueError: weights that aren't such tensors, or a matrix without its scales.
    """
    for name, tensor in weights.items():
        validation.require_tensor(name, tensor)
        expected = torch.int8 if tensor.dim() == 2 else torch.float16
        if tensor.dim() not in (1, 2) or tensor.dtype != expected:
            raise ValueError(
                "weights must be int8 matrices and float16 vectors, got "
                f"{tensor.dtype} of shape {validation.shape_of(tensor)} for {name}"
            )
        if tensor.dim() == 2 and f"{name}.scales" not in weights:
            raise ValueError(f"weights must hold {name}.scales, one scale for each row")
    parts = (
        tensor.detach().cpu().numpy().astype(BYTES[tensor.dtype]).tobytes()
        for tensor in weights.values()
    )
    return {
        "config": config,
        "shapes": [[name, *tensor.shape] for name, tensor in weights.items()],
        "weights": base64.b64encode(b"".join(parts)).decode(),
        "alphabet": alphabet,
    }


def require_texts(name: str, texts: Mapping[str, str], alphabet: str) -> None:
    """Texts that a model can read.

    Args:
        name: what the message calls one of them.
        texts: a dict from labels to texts.
        alphabet: the characters that the model knows.

    Raises:
        ValueError: a text with another character.
    """
    for label, text in texts.items():
        if unknown := sorted(set(text) - set(alphabet)):
            raise ValueError(f"{name} {label!r} has characters unknown: {unknown}")


def next_characters(caption: str, expected: Tensor, alphabet: str) -> Table:
    """The five most probable next characters, for readers without scripts.

    Args:
        caption: what the table shows.
        expected: (vocab_size,), the probabilities.
        alphabet: the characters in the order of their ids.

    Returns:
        table: a Table.

    Raises:
        ValueError: probabilities that don't count the alphabet.
    """
    if validation.shape_of(expected) != (len(alphabet),):
        raise ValueError(
            f"expected must have shape ({len(alphabet)},), one probability for each "
            f"character, got {validation.shape_of(expected)}"
        )
    best = expected.topk(min(5, len(alphabet)))
    pairs = zip(best.values, best.indices, strict=True)
    return Table(
        caption,
        [[alphabet[i], float(p)] for p, i in pairs],
        columns=["next character", "probability"],
        decimals=2,
    )
