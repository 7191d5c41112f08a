"""Texts as a trained model reads them: fed otherwise, it answers another question.

A model that learned whole documents has always seen the start character at position 0.
Without it, each character stands where it never stood in training: the loss is high,
and so is the gradient of the first characters, in every batch alike.
"""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from helpers.text.tokenizer import CharTokenizer

TRAINED_ON = ("documents", "windows")


def encode_for_model(
    texts: str | Sequence[str],
    tokenizer: CharTokenizer,
    *,
    trained_on: str = "documents",
) -> Tensor:
    """The ids that a trained model is to read, as in its training.

    Args:
        texts: a string, or several.
        tokenizer: the model's.
        trained_on: how the training text was cut. "documents": whole texts, each behind
            the tokenizer's start character, as ``Documents`` cuts them; a text may end
            anywhere, but begins where a document does. "windows": windows cut anywhere
            in a stream, as ``Windows`` cuts them, with nothing before them.

    Returns:
        ids: (B, T) int64 on the CPU; B is 1 for a single string. Shorter texts are
            padded behind their end, which no causal model sees from within the text.

    Raises:
        ValueError: texts that aren't strings; none; another ``trained_on``; documents
            for a tokenizer without a start character, or that begin with it; an empty
            window; a character that the tokenizer doesn't know.
    """
    if not isinstance(texts, Iterable):
        raise ValueError(
            f"texts must be a string or several, got {type(texts).__name__}"
        )
    require_tokenizer(tokenizer)
    texts = [texts] if isinstance(texts, str) else list(texts)
    if not texts:
        raise ValueError("texts must hold at least one text, got none")
    start = _start(tokenizer, trained_on)
    rows = []
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(
                f"texts[{index}] must be a string, got {type(text).__name__}"
            )
        if start and text.startswith(start):
            raise ValueError(
                f"texts[{index}] must not begin with the start character {start!r}, "
                f"which is added here, got {text!r:.60}"
            )
        if not start + text:
            raise ValueError(f"texts[{index}] must hold at least one character, got ''")
        ids = tokenizer.encode(start) + tokenizer.encode(text)
        rows.append(torch.tensor(ids))
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


def require_tokenizer(tokenizer: object) -> None:
    """It encodes, and says which character stands before a document, if any does.

    Args:
        tokenizer: a ``CharTokenizer``, or another one that has what is used here.

    Raises:
        ValueError: something else.
    """
    if not (hasattr(tokenizer, "encode") and hasattr(tokenizer, "start_character")):
        raise ValueError(
            "tokenizer must have encode and start_character, got "
            f"{type(tokenizer).__name__}"
        )


def require_start_character(tokenizer: CharTokenizer) -> str:
    """The character that stands before a document.

    Args:
        tokenizer: with a ``start_character``.

    Returns:
        start: that character.

    Raises:
        ValueError: a tokenizer whose ``start_character`` is None.
    """
    require_tokenizer(tokenizer)
    if tokenizer.start_character is None:
        raise ValueError("tokenizer must have a start character, got None")
    return tokenizer.start_character


def _start(tokenizer: CharTokenizer, trained_on: str) -> str:
    if trained_on not in TRAINED_ON:
        raise ValueError(
            f"trained_on must be one of {', '.join(TRAINED_ON)}, got {trained_on!r}"
        )
    return "" if trained_on == "windows" else require_start_character(tokenizer)
