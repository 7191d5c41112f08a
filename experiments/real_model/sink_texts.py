"""Five kinds of text as windows of tokens: none of them begins where its text does.

"shakespeare" and "stories" (little-world) are texts of ``helpers.text.corpus``, and
"random" are random tokens. "prose" and "code" were sentences of this book's chapters
and files of its library, which change; ``book_excerpts.json`` keeps the pieces that
were read, so that they can be read again.
"""

import functools
import json
import pathlib

import torch
from torch import Tensor

from experiments.real_model.pretrained_models import smollm2
from helpers.text import corpus

EXCERPTS = pathlib.Path(__file__).with_name("book_excerpts.json")
OF_THE_BOOK = ("prose", "code")
TEXTS = ("shakespeare", *OF_THE_BOOK, "stories", "random")


def windows(name: str, count: int, length: int) -> Tensor:
    """Pieces of a text, spread evenly over it.

    Args:
        name: one of ``TEXTS``.
        count: how many.
        length: T, tokens of each.

    Returns:
        ids: (count, T) int64; every second one, from the second on, is a test piece.

    Raises:
        ValueError: an unknown name, a text that is too short for so many, or pieces of
            the book that weren't kept.
    """
    if name in OF_THE_BOOK:
        return excerpts(name, count, length)
    ids = tokens(name)
    stride = (len(ids) - length) // count
    if stride < length:
        raise ValueError(
            f"{name!r} has {len(ids)} tokens, too few for {count} pieces of {length}"
        )
    return torch.stack(
        [ids[start : start + length] for start in range(7, count * stride, stride)]
    )


def excerpts(name: str, count: int, length: int) -> Tensor:
    """The pieces that were kept of one of ``OF_THE_BOOK``; as for ``windows``."""
    kept = json.loads(EXCERPTS.read_text(encoding="utf-8"))
    pieces = kept.get(f"{name} {length}", [])
    if len(pieces) != count:
        raise ValueError(
            f"of {name!r} there are {', '.join(kept)}, got {count} pieces of {length}"
        )
    _, tokenizer = smollm2()
    rows = []
    for piece in pieces:
        # A number is a token that is a part of a character, where a piece begins.
        first, text = ([], piece) if isinstance(piece, str) else (piece[:1], piece[1])
        rows.append([*first, *tokenizer.encode(text)])
    return torch.tensor(rows)


@functools.cache
def tokens(name: str) -> Tensor:
    """A whole text's tokens (T,), without any special ones."""
    _, tokenizer = smollm2()
    if name == "random":
        generator = torch.Generator().manual_seed(0)
        return torch.randint(17, tokenizer.vocab_size, (60_000,), generator=generator)
    corpora = {"shakespeare": "tiny-shakespeare", "stories": "little-world"}
    if name not in corpora:
        raise ValueError(f"name must be one of {', '.join(TEXTS)}, got {name!r}")
    return torch.tensor(tokenizer.encode(corpus.load(corpora[name]).held_out_text))
