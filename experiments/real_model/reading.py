"""Texts as ids, in batches of equal length, and the weights of all heads on them."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from helpers.models.encoder import TransformerEncoder
from helpers.models.language_model import TransformerLM
from helpers.text.subwords import SubwordTokenizer

START = "<|endoftext|>"  # stands between the texts that SmolLM2 was trained on
TOGETHER = 32


def ids_of(text: str, tokenizer: SubwordTokenizer, *, start: bool) -> list[int]:
    """The ids of a text.

    Args:
        text: what to read.
        tokenizer: SmolLM2's or MiniLM's, which writes its own [CLS] and [SEP].
        start: put ``START`` before the text.
    """
    first = [tokenizer.token_id(START)] if start else []
    return first + tokenizer.encode(text)


def single_tokens(words: Sequence[str], tokenizer: SubwordTokenizer) -> Tensor:
    """The token (N,) of each word behind a space.

    Raises:
        ValueError: a word of several tokens.
    """
    tokens = [tokenizer.encode(f" {word}") for word in words]
    for word, one in zip(words, tokens, strict=True):
        if len(one) != 1:
            raise ValueError(f"words must be of one token each, got {word!r}")
    return torch.tensor([token for (token,) in tokens])


def batches(
    texts: Sequence[str], tokenizer: SubwordTokenizer, *, start: bool
) -> Iterator[tuple[list[int], Tensor]]:
    """Token ids of texts, those of equal length side by side.

    Args:
        texts: what to read.
        tokenizer: as for ``ids_of``.
        start: put ``START`` before each text.

    Yields:
        The numbers of some texts, and their ids (B, T).
    """
    ids = [ids_of(text, tokenizer, start=start) for text in texts]
    for length in sorted({len(one) for one in ids}):
        same = [i for i, one in enumerate(ids) if len(one) == length]
        for begin in range(0, len(same), TOGETHER):
            some = same[begin : begin + TOGETHER]
            yield some, torch.tensor([ids[i] for i in some])


def weights_of(
    model: TransformerLM | TransformerEncoder,
    tokenizer: SubwordTokenizer,
    texts: Sequence[str],
    *,
    start: bool,
) -> Iterator[tuple[int, list[int], Tensor]]:
    """What all heads look at in some texts.

    Args:
        model: SmolLM2 or MiniLM.
        tokenizer: the model's.
        texts: what to read.
        start: put ``START`` before each text.

    Yields:
        The number of a text, its ids, and the weights (L · H, T, T), layer by layer;
        texts of equal length one behind the other.
    """
    for numbers, ids in batches(texts, tokenizer, start=start):
        with torch.no_grad():
            _, layers = model(ids, return_weights=True)
        weights = torch.cat(layers, dim=1)  # (B, L · H, T, T)
        yield from zip(numbers, ids.tolist(), weights, strict=True)
