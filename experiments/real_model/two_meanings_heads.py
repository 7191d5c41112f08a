"""What brings a word the meaning that its neighbours tell, in SmolLM2.

Source: Geva et al. 2023, section 5 (attention knockout); Elhage et al. 2021 (what each
head and MLP adds to the residual stream).
"""

import itertools
import random
import statistics
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.attending import Masked
from experiments.real_model.heads import Head, features, output_of
from experiments.real_model.intervals import interval
from experiments.real_model.prefixes import read, repeated, streams
from experiments.real_model.pretrained_models import smollm2
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, replaced, watched
from helpers.models.switches import attending_with
from helpers.text.ambiguous_words import FRAMES, PLAIN_WORDS, WORDS

LAYER = 9  # before which the meanings drift apart the most, by the first half
# What adds at least a hundredth of the way there, by the first half.
HEADS = ((4, 1), (4, 2), (5, 1), (6, 7), (8, 6), (8, 7))
HALVES = {
    "choosing": (slice(0, 2), slice(0, 6)),
    "testing": (slice(5, 7), slice(6, 12)),
}
DRAWS = 8


def measure(half: str) -> many.Run:
    """How the separation of ten words' meanings comes about, at the word's position.

    Returns:
        found: mean and interval over words. Shares of the separation before ``LAYER``:
            "heads" and "mlps", by layer, which they add; "top", what each of ``HEADS``
            adds. Shares that are left: "without clue", where no head of any layer sees
            the noun from the word; "without another", where none sees the token before
            the last; "without heads", where the ``HEADS`` give their mean over both
            meanings; "without random", the same for as many of the same layers, drawn
            several times. "weight" and "weight of plain": what each of ``HEADS`` gives
            to the noun from the word, and from a word of one meaning. "ahead", the
            largest change of any number of the word's vectors, in all layers, where
            only a noun behind the word is another one.
    """
    rows = [of_word(word, half) for word in WORDS]
    found: many.Run = {}
    for name, first in rows[0].items():
        if isinstance(first, list):
            columns = zip(*(row[name] for row in rows), strict=True)
            found[name] = [interval(list(column)) for column in columns]
        else:
            found[name] = interval([row[name] for row in rows])
    found["ahead"] = max(row["ahead"] for row in rows)
    return found


def of_word(word: str, half: str) -> dict[str, Any]:
    """What ``measure`` says, for one word."""
    frames, clues = HALVES[half]
    nouns = [clue for sense in WORDS[word] for clue in sense.clues[clues]]
    found = [in_frame(word, frame, nouns) for frame in FRAMES[frames]]
    return {
        name: [statistics.fmean(column) for column in zip(*several, strict=True)]
        if isinstance(several[0], list)
        else max(several)
        if name == "ahead"
        else statistics.fmean(several)
        for name in found[0]
        for several in [[one[name] for one in found]]
    }


@torch.no_grad()
def in_frame(word: str, frame: str, nouns: list[str]) -> dict[str, Any]:
    """The same in one frame; the first half of the nouns has the first meaning."""
    model, tokenizer = smollm2()
    before = torch.tensor(
        [tokenizer.encode(frame.format(noun, "").rstrip()) for noun in nouns]
    )
    cache = read(model, before)
    place = int((before != before[0]).any(dim=0).nonzero()[0])  # the noun's
    last = torch.tensor([tokenizer.encode(f" {word}")] * len(nouns))
    layers = range(LAYER)
    parts = [Part(kind, layer) for kind in ("context", "mlp") for layer in layers]
    with watched(model, parts) as given:
        whole = apart(streams(model, last, 0, cache=repeated(cache, before)))
    adds = shares(model, dict(given), whole)

    def left() -> float:
        rows = apart(streams(model, last, 0, cache=repeated(cache, before)))
        return float(rows @ whole / whole.square().sum())

    means = {
        (layer, head): given[Part("context", layer)][..., features(model, head)].mean(0)
        for layer, head in itertools.product(layers, range(9))
    }

    def left_without(heads: list[Head]) -> float:
        with replaced(model, {Part("context", *one): means[one] for one in heads}):
            return left()

    adds["without heads"] = left_without(list(HEADS))
    rng = random.Random(word + frame)
    adds["without random"] = statistics.fmean(
        left_without(drawn(rng)) for _ in range(DRAWS)
    )
    for name, hidden in (("clue", place), ("another", before.shape[1] - 2)):
        seen = torch.arange(before.shape[1] + 1) != hidden
        with attending_with(model, Masked(seen[None])):
            adds[f"without {name}"] = left()
    for name, said in (("weight", word), ("weight of plain", PLAIN_WORDS[0])):
        ids = torch.cat(
            [before, torch.tensor([tokenizer.encode(f" {said}")] * len(nouns))], 1
        )
        _, weights = model(ids, return_weights=True)
        adds[name] = [
            float(weights[layer][:, head, -1, place].mean()) for layer, head in HEADS
        ]
    adds["ahead"] = ahead(word, frame, nouns)
    return adds


def apart(rows: Tensor) -> Tensor:
    """The difference between the meanings' means before ``LAYER``, (C,)."""
    first, second = rows[:, LAYER].unflatten(0, (2, -1)).mean(dim=1)
    return first - second


def shares(
    model: TransformerLM, given: dict[Part, Tensor], whole: Tensor
) -> dict[str, Any]:
    """What heads and MLPs add to the difference, as shares of its square."""
    along = whole / whole.square().sum()
    heads, mlps = torch.zeros(LAYER, model.config.num_heads), []
    for layer in range(LAYER):
        both = given[Part("context", layer)][:, 0].unflatten(0, (2, -1)).mean(dim=1)
        for head in range(model.config.num_heads):
            own = features(model, head)
            added = (both[0] - both[1])[own] @ output_of(model, layer)[:, own].T
            heads[layer, head] = added @ along
        rows = given[Part("mlp", layer)][:, 0].unflatten(0, (2, -1)).mean(dim=1)
        mlps.append(float((rows[0] - rows[1]) @ along))
    return {
        "heads": heads.sum(dim=1).tolist(),
        "mlps": mlps,
        "top": [float(heads[one]) for one in HEADS],
    }


def drawn(rng: random.Random) -> list[Head]:
    """As many heads of the same layers as ``HEADS`` has, outside of them."""
    chosen: list[Head] = []
    for layer, _ in HEADS:
        others = [(layer, one) for one in range(9)]
        chosen.append(
            rng.choice([one for one in others if one not in {*HEADS, *chosen}])
        )
    return chosen


def ahead(word: str, frame: str, nouns: list[str]) -> float:
    """How much a word's vectors change with the noun behind it."""
    model, tokenizer = smollm2()
    ids = torch.tensor([tokenizer.encode(frame.format(word, one)) for one in nouns])
    own = tokenizer.encode(f" {word}")[0]
    place = int((ids == own).all(dim=0).nonzero()[-1])
    rows = streams(model, ids, place)
    return float((rows - rows[0]).abs().max())
