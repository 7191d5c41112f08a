"""Does a head look from "it" at a thing, and from "he" at a person?"""

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.heads import head_name
from experiments.real_model.intervals import interval
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.pronoun_frames import KINDS, PERSONS, THINGS
from experiments.real_model.reading import weights_of

FOUND = 13 * 9 + 8
EACH = 20  # sentences of a frame, each with both words of KINDS


def kinds(each: int = EACH) -> many.Run:
    """What heads give to a thing and to a person, from "it" and from "he".

    Args:
        each: sentences of a frame.

    Returns:
        found: for the head that differs most between "it" and "he" on half 0 ("best")
            and for 13.8 ("found"), intervals over frames: the mean weights on the
            "thing" and the "person", from "it" and from "he", and their "gain"; the
            mean gain over heads, and which heads' lies above a tenth on half 1; for
            13.8 on half 1 also "something to thing" and "to person", from a word in
            place of "it" that stands for neither.
    """
    weights = [_by_kind(half, each) for half in (0, 1)]  # (frames, heads, it/he, 2)
    gains = [_gains(one) for one in weights]
    best = int(gains[0].mean(dim=0).argmax())
    found: many.Run = {}
    for name, head in (("best", best), ("found", FOUND)):
        found[name] = {"head": head_name(divmod(head, 9))}
        for half in (0, 1):
            own = weights[half][:, head]
            found[name][f"half {half}"] = {
                f"{word} to {noun}": interval(own[:, i, j].tolist())
                for i, word in enumerate(("it", "he"))
                for j, noun in enumerate(("thing", "person"))
            } | {"gain": interval(gains[half][:, head].tolist())}
    from_other = _by_kind(1, each, instead="something")[:, FOUND, 0]
    for noun, column in zip(("thing", "person"), from_other.T.tolist(), strict=True):
        found["found"]["half 1"][f"something to {noun}"] = interval(column)
    found["mean gain"] = round(float(gains[1].mean()), 4)
    mean_gains = gains[1].mean(dim=0)
    found["above a tenth"] = [
        head_name(divmod(one, 9)) for one in (mean_gains > 0.1).nonzero()[:, 0].tolist()
    ]
    return found


def _by_kind(half: int, each: int, *, instead: str | None = None) -> Tensor:
    """Mean weights on thing and person, from "it" and "he" (frames, heads, 2, 2).

    Args:
        half: of the frames.
        each: sentences of a frame.
        instead: a word in place of both (then the third size is 1).
    """
    generator = random.Random(half)
    rows = []
    for frame, *own in KINDS[half]:
        words = own
        if instead is not None:
            words = [instead.capitalize() if own[0] == "It" else instead]
        pairs = [
            (
                generator.choice(THINGS[half].split()),
                generator.choice(PERSONS[half].split()),
            )
            for _ in range(each)
        ]
        told = [frame.format(thing=thing, person=person) for thing, person in pairs]
        both = [
            last_on_words([f"{one} {word}" for one in told], pairs).mean(dim=0)
            for word in words
        ]
        rows.append(torch.stack(both, dim=1))
    return torch.stack(rows)


def _gains(weights: Tensor) -> Tensor:
    """What a thing gains from "it", and a person from "he" (frames, heads)."""
    (it_thing, it_person), (he_thing, he_person) = weights.permute(2, 3, 0, 1)
    return (it_thing - he_thing + he_person - it_person) / 2


def last_on_words(texts: Sequence[str], words: Sequence[Sequence[str]]) -> Tensor:
    """The weights of SmolLM2's last token on some words (N, heads, words).

    Args:
        texts: N texts, read behind a start token.
        words: for each, some of its words that are one token.
    """
    model, tokenizer = smollm2()
    rows: list[Tensor] = [torch.empty(0)] * len(texts)
    for number, ids, own in weights_of(model, tokenizer, texts, start=True):
        at = [ids.index(tokenizer.encode(f" {word}")[0]) for word in words[number]]
        rows[number] = own[:, -1, at]
    return torch.stack(rows)
