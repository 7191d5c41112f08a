"""Texts as batches of equal length, with the start that SmolLM2 was trained with."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from helpers.recorded.spread import mean_and_interval
from helpers.text.subwords import SubwordTokenizer

START = "<|endoftext|>"  # stands between the texts that SmolLM2 was trained on
TOGETHER = 32


def batches(
    texts: Sequence[str], tokenizer: SubwordTokenizer, *, start: bool
) -> Iterator[tuple[list[int], Tensor]]:
    """Token ids of texts, those of equal length side by side.

    Args:
        texts: what to read.
        tokenizer: SmolLM2's or MiniLM's, which writes its own [CLS] and [SEP].
        start: put ``START`` before each text.

    Yields:
        The numbers of some texts, and their ids (B, T).
    """
    first = [tokenizer.token_id(START)] if start else []
    ids = [first + tokenizer.encode(text) for text in texts]
    for length in sorted({len(one) for one in ids}):
        same = [i for i, one in enumerate(ids) if len(one) == length]
        for begin in range(0, len(same), TOGETHER):
            some = same[begin : begin + TOGETHER]
            yield some, torch.tensor([ids[i] for i in some])


def interval(numbers: Sequence[float]) -> list[float]:
    """Mean, low and high (95 %), rounded; one number alone where there is only one."""
    if len(numbers) < 2:
        return [round(one, 4) for one in numbers]
    return [round(one, 4) for one in mean_and_interval(numbers)]


def over(groups: Sequence[int], numbers: Tensor) -> list[float]:
    """The interval over the means of groups, such as scenes; nan is left out."""
    means = []
    for group in sorted(set(groups)):
        own = numbers[torch.tensor([one == group for one in groups])]
        own = own[~own.isnan()]
        if len(own):
            means.append(own.mean().item())
    return interval(means)
