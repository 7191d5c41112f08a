"""Does each clue move a word toward its own meaning, and where do the six heads look?

A word after a clue, beside the same word after nouns that say nothing of any meaning;
the weights of the heads that bring the clue, from the word and from others in its
place; and what the clues do to the next token without the word.
"""

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.intervals import interval
from experiments.real_model.prefixes import after, read
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.two_meanings_heads import (
    HALVES,
    HEADS,
    LAYER,
    axis_of,
    noun_in,
    nouns_of,
    prefixes,
    tokens,
)
from experiments.real_model.two_meanings_steering import gain
from helpers.text.ambiguous_words import FRAMES, PLAIN_WORDS, WORDS

UNTOLD = ("man", "thing", "place", "story")  # they say nothing of any meaning
KINDS = ("word", "another", "plain", "relatives")  # what asks


def measure() -> many.Run:
    """Where words go from where they stand without a clue, on the second half.

    Returns:
        found: "sides", for either meaning the interval over words of how far its clues
            move a word toward it, in shares of the axis, from the mean place after
            ``UNTOLD``; "toward", in how many of the words and meanings it is more than
            0. "looks": a dict from ``KINDS`` (the word; the next of the ten in its
            place; ``PLAIN_WORDS``; "relatives", the words at the axis' ends) to an
            interval over words for each of ``HEADS``, its weight on the clue;
            "elsewhere", from the word, its mean weight on each place between the first
            token and the word but the clue's; "first", on the first token. "told", the
            gain of ``two_meanings_steering`` where clues are told: with the word
            ("whole"), with ``PLAIN_WORDS`` in its place ("plain"), and the difference
            ("beyond plain").
    """
    sides = torch.stack([sides_of(word) for word in WORDS])  # (words, meanings)
    looks = [looks_of(word) for word in WORDS]
    told = [
        {
            "whole": gain(word, word),
            "plain": sum(gain(word, one) for one in PLAIN_WORDS) / len(PLAIN_WORDS),
        }
        for word in WORDS
    ]
    for one in told:
        one["beyond plain"] = one["whole"] - one["plain"]
    return {
        "sides": [interval(column) for column in sides.T.tolist()],
        "toward": int((sides > 0).sum()),
        "looks": {
            name: [
                interval(column)
                for column in torch.stack([one[name] for one in looks]).T.tolist()
            ]
            for name in looks[0]
        },
        "told": {name: interval([one[name] for one in told]) for name in told[0]},
    }


@torch.no_grad()
def sides_of(word: str) -> Tensor:
    """How far the clues of each meaning move a word toward it (2,), by its axis."""
    model, _ = smollm2()
    frames, nouns = FRAMES[HALVES["testing"][0]], nouns_of(word, "testing")
    axis = axis_of(word, FRAMES[HALVES["choosing"][0]], nouns_of(word, "choosing"))
    along, rows = axis / axis.square().sum(), []
    for frame in frames:
        before = prefixes(frame, [*nouns, *UNTOLD])
        stream = after(model, read(model, before), before, tokens(word))
        at = stream[:, 0, LAYER] @ along
        told, untold = at[: len(nouns)].unflatten(0, (2, -1)), at[len(nouns) :]
        first, second = told.mean(dim=1) - untold.mean()
        rows.append(torch.stack([first, -second]))
    return torch.stack(rows).mean(dim=0)


@torch.no_grad()
def looks_of(word: str) -> dict[str, Tensor]:
    """What ``HEADS`` look at from a word and from others in its place (heads,)."""
    model, _ = smollm2()
    names = list(WORDS)
    another = names[(names.index(word) + 1) % len(names)]
    relatives = [one for sense in WORDS[word] for one in sense.relatives]
    asking = dict(zip(KINDS, ([word], [another], PLAIN_WORDS, relatives), strict=True))
    found: dict[str, list[Tensor]] = {}
    for frame in FRAMES[HALVES["testing"][0]]:
        before = prefixes(frame, nouns_of(word, "testing"))
        clue, T = noun_in(before), before.shape[1]
        for kind in KINDS:
            own = []
            for one in asking[kind]:
                ids = torch.cat([before, tokens(one).expand(len(before), 1)], dim=1)
                _, weights = model(ids, return_weights=True)
                rows = [weights[layer][:, head, -1] for layer, head in HEADS]
                own.append(torch.stack(rows).mean(dim=1))  # (heads, T + 1)
            row = torch.stack(own).mean(dim=0)
            found.setdefault(kind, []).append(row[:, clue])
            if kind == "word":
                others = [i for i in range(1, T) if i != clue]
                found.setdefault("elsewhere", []).append(row[:, others].mean(dim=1))
                found.setdefault("first", []).append(row[:, 0])
    return {name: torch.stack(rows).mean(dim=0) for name, rows in found.items()}
