"""What moves a word toward the meaning that its neighbours tell, in SmolLM2.

All is measured along one axis, the way from the relatives of the second meaning to
those of the first, as "toward" in ``two_meanings``: of the whole difference between the
meanings, much is what any word takes from the nouns before it.

Source: Geva et al. 2023, section 5 (attention knockout); Elhage et al. 2021 (what each
head and MLP adds to the residual stream).
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.attending import Masked
from experiments.real_model.heads import (
    Head,
    drawn,
    features,
    head_name,
    output_of,
    without,
)
from experiments.real_model.intervals import interval
from experiments.real_model.meaning_measures import way
from experiments.real_model.prefixes import after, read, streams
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.reading import ids_of, single_tokens
from helpers.models.patching import Part, replaced, watched
from helpers.models.switches import attending_with
from helpers.text.ambiguous_words import FRAMES, PLAIN_WORDS, WORDS

LAYER = 9  # before which the meanings drift apart the most, by the first half
# What adds at least a hundredth of the whole difference there, by the first half.
HEADS = ((4, 1), (4, 2), (5, 1), (6, 7), (8, 6), (8, 7))
MLPS = range(4, 9)  # from the first layer of those heads
HALVES = {
    "choosing": (slice(0, 5), slice(0, 6)),
    "testing": (slice(5, 10), slice(6, 12)),
}
DRAWS = 8
PARTS = [Part(kind, layer) for kind in ("context", "mlp") for layer in range(LAYER)]
Given = dict[Part, Tensor]  # of PARTS, (nouns, C) each


def measure(half: str) -> many.Run:
    """How ten words come to move along their axis, at the word's position.

    The axis of both halves is fitted on the frames and nouns of the first.

    Returns:
        found: mean and interval over words. "move", how far the first meaning lies
            ahead of the second before ``LAYER``, 1 being the whole way between the
            relatives. Shares of that move: "heads" and "mlps", by layer, which they
            write; "top", what each of ``HEADS`` writes; the sums of these three;
            "plain" and "plain mlps", how far words of one meaning move along the same
            axis, and what MLPs write for them. Shares that are left: "without clue",
            where no head of any layer sees the noun from the word; "without another",
            where none sees the token before the last; "without heads", where the
            ``HEADS`` give their mean over both meanings; "without random", the same for
            as many of the same layers, drawn several times; "without mlps", where the
            ``MLPS`` give theirs at the word; "without earlier mlps", where those of all
            layers below do. "weight" and "weight of plain": what each of ``HEADS``
            gives to the noun from the word, and from a word of one meaning. "ahead",
            the largest change of any number of the word's vectors, in all layers, where
            only a noun behind the word is another one. "names", those of ``HEADS``.
    """
    rows = [of_word(word, half) for word in WORDS]
    found: many.Run = {}
    for name, first in rows[0].items():
        if isinstance(first, list):
            columns = zip(*(row[name] for row in rows), strict=True)
            found[name] = [interval(list(column)) for column in columns]
        else:
            found[name] = interval([row[name] for row in rows])
    for name in ("heads", "mlps", "top"):
        found[f"{name}, sum"] = interval([sum(row[name]) for row in rows])
    found["ahead"] = max(row["ahead"] for row in rows)
    found["names"] = [head_name(head) for head in HEADS]
    return found


def of_word(word: str, half: str) -> dict[str, Any]:
    """What ``measure`` says, for one word."""
    frames, fitted = FRAMES[HALVES[half][0]], FRAMES[HALVES["choosing"][0]]
    nouns = nouns_of(word, half)
    axis = axis_of(word, fitted, nouns_of(word, "choosing"))
    moves = averaged([in_frame(word, frame, nouns, axis) for frame in frames])
    looks = averaged([looking(word, frame, nouns) for frame in frames])
    move = moves.pop("move")
    found = {name: one / move for name, one in moves.items()} | {"move": move} | looks
    return {name: one.tolist() for name, one in found.items()} | {
        "ahead": max(ahead(word, frame, nouns) for frame in frames)
    }


def nouns_of(word: str, half: str) -> list[str]:
    """The nouns of a half, those of the first meaning first."""
    return [clue for sense in WORDS[word] for clue in sense.clues[HALVES[half][1]]]


def averaged(several: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean over frames of what each name has."""
    return {
        name: torch.stack([one[name] for one in several]).mean(dim=0)
        for name in several[0]
    }


def axis_of(word: str, frames: Sequence[str], nouns: list[str]) -> Tensor:
    """The axis (C,) before ``LAYER``, from all these nouns in all these frames."""
    model, _ = smollm2()
    relatives = tokens(*(one for sense in WORDS[word] for one in sense.relatives))
    rows = []
    for frame in frames:
        before = prefixes(frame, nouns)
        rows.append(after(model, read(model, before), before, relatives))
    axis: Tensor = way(torch.stack(rows).unbind(2))[LAYER]
    return axis


def prefixes(frame: str, nouns: list[str]) -> Tensor:
    """The ids (nouns, T) of a frame up to the word."""
    _, tokenizer = smollm2()
    return torch.tensor(
        [
            ids_of(frame.format(noun, "").rstrip(), tokenizer, start=False)
            for noun in nouns
        ]
    )


def tokens(*words: str) -> Tensor:
    """The ids (words, 1) of words behind a space."""
    _, tokenizer = smollm2()
    return single_tokens(words, tokenizer)[:, None]


@torch.no_grad()
def in_frame(
    word: str, frame: str, nouns: list[str], axis: Tensor
) -> dict[str, Tensor]:
    """The moves in one frame, in parts of the way.

    Args:
        word: it stands behind each noun.
        frame: one of ``FRAMES``.
        nouns: as many of the first meaning as of the other, which come behind them.
        axis: (C,), from the relatives of the second meaning to those of the first.
    """
    model, _ = smollm2()
    before = prefixes(frame, nouns)
    cache, along = read(model, before), axis / axis.square().sum()
    with watched(model, PARTS) as given:
        rows = after(model, cache, before, tokens(word, *PLAIN_WORDS))[..., LAYER, :]
    of_words = {
        part: one[:, 0].unflatten(0, (len(nouns), -1)) for part, one in given.items()
    }
    own = {part: one[:, 0] for part, one in of_words.items()}
    plain = {part: one[:, 1:].mean(dim=1) for part, one in of_words.items()}

    def left() -> Tensor:
        rows = after(model, cache, before, tokens(word))
        return apart(rows[:, 0, LAYER]) @ along

    return {
        "move": apart(rows[:, 0]) @ along,
        "plain": apart(rows[:, 1:].mean(dim=1)) @ along,
        "plain mlps": by_mlps(plain, along),
        "mlps": by_mlps(own, along),
        **by_heads(own, along),
        **unseen(left, before),
        **ablated(left, own, random.Random(word + frame)),
    }


def by_mlps(given: Given, along: Tensor) -> Tensor:
    """What each layer's MLP writes along the axis, (LAYER,)."""
    return torch.stack(
        [apart(given[Part("mlp", layer)]) @ along for layer in range(LAYER)]
    )


def by_heads(given: Given, along: Tensor) -> dict[str, Tensor]:
    """What the heads of each layer write along the axis, and each of ``HEADS``."""
    model, _ = smollm2()
    rows = []
    for layer in range(LAYER):
        added = apart(given[Part("context", layer)]) * (along @ output_of(model, layer))
        rows.append(added.unflatten(0, (model.config.num_heads, -1)).sum(dim=1))
    return {
        "heads": torch.stack(rows).sum(dim=1),
        "top": torch.stack([rows[layer][head] for layer, head in HEADS]),
    }


def unseen(left: Callable[[], Tensor], before: Tensor) -> dict[str, Tensor]:
    """What is left where the word can't see its noun, or the token before the last."""
    model, _ = smollm2()
    found, T = {}, before.shape[1]
    for name, hidden in (("clue", noun_in(before)), ("another", T - 2)):
        seen = torch.arange(T + 1) != hidden
        with attending_with(model, Masked(seen[None])):
            found[f"without {name}"] = left()
    return found


def ablated(
    left: Callable[[], Tensor], given: Given, rng: random.Random
) -> dict[str, Tensor]:
    """What is left where heads or MLPs give their mean over both meanings."""
    model, _ = smollm2()
    means = {part: rows.mean(dim=0) for part, rows in given.items()}
    lefts = []
    for heads in (HEADS, *(drawn(HEADS, rng) for _ in range(DRAWS))):
        instead: dict[Head, float | Tensor] = {
            (layer, head): means[Part("context", layer)][features(model, head)]
            for layer, head in heads
        }
        with without(model, instead):
            lefts.append(left())
    found = {
        "without heads": lefts[0],
        "without random": torch.stack(lefts[1:]).mean(),
    }
    for name, layers in (("mlps", MLPS), ("earlier mlps", range(MLPS[0]))):
        mlps = [Part("mlp", layer) for layer in layers]
        with replaced(model, {part: means[part] for part in mlps}):
            found[f"without {name}"] = left()
    return found


def apart(rows: Tensor) -> Tensor:
    """The mean (C,) of the first half of some rows (nouns, C) minus the other's."""
    first, second = rows.unflatten(0, (2, -1)).mean(dim=1)
    return first - second


def noun_in(before: Tensor) -> int:
    """The noun's position: the only one at which the prefixes differ."""
    return int((before != before[0]).any(dim=0).nonzero()[0])


@torch.no_grad()
def looking(word: str, frame: str, nouns: list[str]) -> dict[str, Tensor]:
    """What each of ``HEADS`` gives to the noun, from the word and from a plain one."""
    model, _ = smollm2()
    before = prefixes(frame, nouns)
    found = {}
    for name, said in (("weight", word), ("weight of plain", PLAIN_WORDS[0])):
        ids = torch.cat([before, tokens(said).expand(len(nouns), 1)], dim=1)
        _, weights = model(ids, return_weights=True)
        found[name] = torch.stack(
            [
                weights[layer][:, head, -1, noun_in(before)].mean()
                for layer, head in HEADS
            ]
        )
    return found


def ahead(word: str, frame: str, nouns: list[str]) -> float:
    """How much a word's vectors change with the noun behind it."""
    model, tokenizer = smollm2()
    texts = [frame.format(word, one) for one in nouns]
    ids = torch.tensor([ids_of(one, tokenizer, start=False) for one in texts])
    own = tokenizer.encode(f" {word}")[0]
    place = int((ids == own).all(dim=0).nonzero()[-1])
    rows = streams(model, ids, place)
    return float((rows - rows[0]).abs().max())
