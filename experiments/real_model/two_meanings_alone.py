"""Are a few heads enough to move a word toward the meaning that is meant?

``two_meanings_heads`` takes them away; here they alone see the noun before the word.

Source: Geva et al. 2023, section 5 (attention knockout).
"""

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.attending import Masked, masked
from experiments.real_model.heads import Head, drawn
from experiments.real_model.intervals import interval
from experiments.real_model.prefixes import after, read
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.two_meanings_heads import (
    DRAWS,
    HALVES,
    HEADS,
    LAYER,
    apart,
    axis_of,
    noun_in,
    nouns_of,
    prefixes,
    tokens,
)
from helpers.models.kv_cache import KVCache
from helpers.text.ambiguous_words import FRAMES, WORDS

THREE = HEADS[:3]  # without each of them alone a fifth of the move or more is lost


def measure() -> many.Run:
    """How much of the move is left where the word's other heads can't see the noun.

    Returns:
        found: shares of the move into ``LAYER``, in the sentences of the second half:
            mean and interval over words where only ``HEADS`` see the noun ("heads"),
            only the three of them that are missed most one by one ("three"), or only
            the other three ("other three"); and the mean over words for each of several
            draws of as many others as ``HEADS`` from their layers ("random").
    """
    draws = [drawn(HEADS, random.Random(draw)) for draw in range(DRAWS)]
    sets = {"heads": HEADS, "three": THREE, "other three": HEADS[len(THREE) :]}
    rows = torch.stack([of_word(word, [*sets.values(), *draws]) for word in WORDS])
    found = zip(sets, rows.T.tolist(), strict=False)  # (words, sets), the draws last
    return {
        **{name: interval(column) for name, column in found},
        "random": [round(one, 4) for one in rows[:, len(sets) :].mean(dim=0).tolist()],
    }


@torch.no_grad()
def of_word(word: str, sets: Sequence[Sequence[Head]]) -> Tensor:
    """The shares of one word's move that are left with each set of heads (sets,)."""
    model, _ = smollm2()
    frames, nouns = FRAMES[HALVES["testing"][0]], nouns_of(word, "testing")
    fitted = FRAMES[HALVES["choosing"][0]], nouns_of(word, "choosing")
    axis = axis_of(word, *fitted)
    moves = torch.zeros(len(sets) + 1)
    for frame in frames:
        before = prefixes(frame, nouns)
        cache = read(model, before)
        moves[0] += _move(word, before, cache) @ axis
        for number, heads in enumerate(sets, 1):
            with masked(model, _only(heads, before)):
                moves[number] += _move(word, before, cache) @ axis
    return moves[1:] / moves[0]


def _move(word: str, before: Tensor, cache: KVCache) -> Tensor:
    """How far the first meaning lies ahead of the second, before ``LAYER`` (C,)."""
    model, _ = smollm2()
    return apart(after(model, cache, before, tokens(word))[:, 0, LAYER])


def _only(heads: Sequence[Head], before: Tensor) -> dict[int, Masked]:
    """For each layer, attention in which only some heads of a word see its noun."""
    model, _ = smollm2()
    cores = {}
    for layer in range(LAYER):
        seen = torch.ones(model.config.num_heads, 1, before.shape[1] + 1).bool()
        blind = [one for one in range(len(seen)) if (layer, one) not in heads]
        seen[blind, 0, noun_in(before)] = False
        cores[layer] = Masked(seen)
    return cores
