"""Five kinds of text as windows of tokens: none of them begins where its text does.

"prose" and "code" are the sentences of the book's chapters and its library as they are
now; "shakespeare", "stories" (little-world) and "random" tokens stay what they are.
"""

import functools
import json
import random

import torch
from torch import Tensor

from experiments.real_model.pretrained_models import smollm2
from helpers.recorded import results
from helpers.text import corpus

ROOT = results.FOLDER.parents[1]
TEXTS = ("shakespeare", "prose", "code", "stories", "random")
FORMAL = set("$`|<>*[]{}\\")  # a line with one of these is no plain sentence


def windows(name: str, count: int, length: int) -> Tensor:
    """Pieces of a text, spread evenly over it.

    Args:
        name: one of ``TEXTS``.
        count: how many.
        length: T, tokens of each.

    Returns:
        ids: (count, T) int64; every second one, from the second on, is a test piece.

    Raises:
        ValueError: an unknown name, or a text that is too short for so many.
    """
    ids = tokens(name)
    stride = (len(ids) - length) // count
    if stride < length:
        raise ValueError(
            f"{name!r} has {len(ids)} tokens, too few for {count} pieces of {length}"
        )
    return torch.stack(
        [ids[start : start + length] for start in range(7, count * stride, stride)]
    )


@functools.cache
def tokens(name: str) -> Tensor:
    """A whole text's tokens (T,), without any special ones."""
    _, tokenizer = smollm2()
    if name == "random":
        generator = torch.Generator().manual_seed(0)
        return torch.randint(17, tokenizer.vocab_size, (60_000,), generator=generator)
    return torch.tensor(tokenizer.encode(_text(name)))


def _text(name: str) -> str:
    if name == "shakespeare":
        return corpus.load("tiny-shakespeare").held_out_text
    if name == "stories":
        return corpus.load("little-world").held_out_text
    if name == "prose":
        return _prose()
    if name == "code":
        files = sorted((ROOT / "helpers").rglob("*.py"))
        random.Random(0).shuffle(files)
        return "\n".join(one.read_text(encoding="utf-8") for one in files[:40])
    raise ValueError(f"name must be one of {', '.join(TEXTS)}, got {name!r}")


def _prose() -> str:
    """The plain sentences of the book's chapters."""
    lines = []
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                lines += "".join(cell["source"]).split("\n")
    plain = (one for one in lines if one[:1].isupper() and one.endswith("."))
    return "\n".join(one for one in plain if not FORMAL & set(one))
