"""What else do clues bring to a word than its move along the axis, and by which heads?

What they move off the axis is taken away, as much of it as on the axis and all; the six
heads that bring the clue give their mean, one at a time for the move, and all together
for the next token.

Source: Ravfogel et al. 2020 (projecting a direction out); Hewitt and Liang 2019 (a
control beside each task).
"""

import dataclasses
import random
from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments import many
from experiments.real_model.heads import Head, drawn, features, without
from experiments.real_model.intervals import interval
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import as_ids
from experiments.real_model.two_meanings_heads import HEADS, LAYER, averaged
from experiments.real_model.two_meanings_steering import (
    TESTED,
    TOLD,
    WORD,
    axis_of,
    gap_of,
    go_on,
    lead_of,
)
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, watched
from helpers.text.ambiguous_words import WORDS

DRAWS = 2  # in each of three sentence frames, for each of ten words
CONTEXTS = [Part("context", layer) for layer in range(LAYER)]


def measure() -> many.Run:
    """What the gain of ``two_meanings_steering`` and the move owe to other parts.

    Returns:
        found: intervals over words. "share", how much of the squared norm of what clues
            change in the word's vector at ``LAYER`` lies on its axis. Of the gain where
            clues are told ("whole") is lost without what they change on the "axis",
            without as much of the rest ("rest, as much"; the difference of these two is
            "beyond as much"), without all the "rest", where the six ``HEADS`` give
            their mean over clues at the word ("heads"), and where as many others of
            their layers do ("others", the mean over ``DRAWS`` draws). Of the move into
            ``LAYER`` is left without each of ``HEADS`` ("one less", a list).
    """
    rows = [of_gain(word) for word in WORDS]
    lefts = torch.stack([row.pop("one less") for row in rows])
    found = {name: interval([float(row[name]) for row in rows]) for name in rows[0]}
    return {**found, "one less": [interval(column) for column in lefts.T.tolist()]}


def of_gain(word: str) -> dict[str, Tensor]:
    """What ``measure`` says of one word's gain."""
    axis = F.normalize(axis_of(word), dim=0)
    return averaged([in_frame(word, frame, axis) for frame in TESTED])


@torch.no_grad()
def in_frame(word: str, frame: str, axis: Tensor) -> dict[str, Tensor]:
    """What is lost in one frame without some of what clues bring."""
    model, tokenizer = smollm2()
    nouns = [clue for sense in WORDS[word] for clue in sense.clues[:TOLD]]
    texts = [frame.format(noun, word) + " and the" for noun in nouns]
    ids, part = as_ids(tokenizer, texts, start=False), Part("stream", LAYER)
    with watched(model, [*CONTEXTS, part]) as given:
        whole = gap_of(lead_of(word, model(ids)[:, -1]))
    stream = given[part]
    moved = stream[:, WORD] - stream[:, WORD].mean(dim=0)
    on = (moved @ axis)[:, None] * axis
    rest = moved - on
    as_much = rest * (on.norm(dim=1) / rest.norm(dim=1))[:, None]
    found = {"whole": whole, "share": on.square().sum() / moved.square().sum()}
    for name, away in (("axis", on), ("rest, as much", as_much), ("rest", rest)):
        less = stream.clone()
        less[:, WORD] -= away
        found[name] = whole - gap_of(lead_of(word, go_on(less)))
    found["beyond as much"] = found["axis"] - found["rest, as much"]
    generator, lost = random.Random(word + frame), []
    for heads in (HEADS, *(drawn(HEADS, generator) for _ in range(DRAWS))):
        with without(model, means_at(given, heads)):
            lost.append(whole - gap_of(lead_of(word, model(ids)[:, -1])))
    found |= {"heads": lost[0], "others": torch.stack(lost[1:]).mean()}
    return found | {"one less": one_less(ids, given, moved, axis)}


def one_less(
    ids: Tensor, given: Mapping[Part, Tensor], moved: Tensor, axis: Tensor
) -> Tensor:
    """The share of the move into ``LAYER`` left without each of ``HEADS`` (heads,).

    Args:
        ids: (nouns, T), the sentences.
        given: the contexts (nouns, T, C) of their words.
        moved: (nouns, C), from the word's mean at ``LAYER``.
        axis: (C,)
    """
    lower, rows, part = first_blocks(smollm2()[0], LAYER + 1), [], Part("stream", LAYER)
    for head in HEADS:
        with without(lower, means_at(given, [head])), watched(lower, [part]) as left:
            lower(ids)
        rows.append(gap_of(left[part][:, WORD] @ axis))
    return torch.stack(rows) / gap_of(moved @ axis)


def means_at(
    given: Mapping[Part, Tensor], heads: Sequence[Head]
) -> dict[Head, float | Tensor]:
    """Contexts in which some heads give the word their mean over clues."""
    instead: dict[Head, float | Tensor] = {}
    for layer, head in heads:
        own = given[Part("context", layer)][..., features(smollm2()[0], head)].clone()
        own[:, WORD] = own[:, WORD].mean(dim=0)
        instead[layer, head] = own
    return instead


def first_blocks(model: TransformerLM, count: int) -> TransformerLM:
    """A model of the first blocks, with the same weights."""
    with torch.device("meta"):
        lower = TransformerLM(dataclasses.replace(model.config, num_layers=count))
    state = model.state_dict()
    lower.load_state_dict(
        {name: state[name] for name in lower.state_dict()}, assign=True
    )
    return lower.eval()
