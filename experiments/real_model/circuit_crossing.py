"""Which name 23.3 looks at and lowers: the giver's, the latest, or the one said twice.

In "Mary and John …, John gave a drink to", one name is all three. Here they part:

    Mary and John …, Paul gave a drink to
    Mary and John …, John gave Paul's drink to
    Mary and John …, Paul gave John's drink to
"""

import random
import re

import torch

from experiments import many
from experiments.real_model.circuit_switches import CROSSING
from experiments.real_model.heads import head_name
from experiments.real_model.prefixes import streams
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, as_ids, direct_effect
from experiments.real_model.reading import single_tokens
from experiments.real_model.two_prompts import over_frames
from helpers.models.patching import Part, watched
from helpers.text.indirect_objects import prompt

HEADS = (CROSSING, (24, 4))
# Of each kind: who gives, and whose thing it is: one of the two, or a third.
KINDS = {
    "one gives": ("one", None),
    "third gives": ("third", None),
    "one gives the third's": ("one", "third"),
    "third gives one's": ("third", "one"),
}


def crossing(half: str, *, count: int = 8) -> many.Run:
    """What 23.3 and 24.4 look at and add where giver, latest and repeated name part.

    Returns:
        found: a dict of means and intervals over the frames in which something is
            given. Of each head and each of ``KINDS``, such as "23.3, third gives": the
            weight from the last token on each of "one" (said twice but where a third
            one gives only), "third" and "rest" (who is named once, at the beginning),
            where it stands last; and what the head adds to each one's logit, above the
            mean over names, as "23.3, third gives, adds to third".
    """
    rows = [
        {
            name: number
            for kind in KINDS
            for name, number in of_kind(half, frame, kind, count).items()
        }
        for frame in HALVES[half][0]
        if owned(frame, "Paul") != frame
    ]
    return over_frames(rows)


def owned(frame: str, name: str) -> str:
    """The frame with a name as the owner of what is given, if anything is."""
    begin, end = frame.split("{S}")
    return begin + "{S}" + re.sub(r" (a|the|some) ", f" {name}'s ", end, count=1)


def of_kind(half: str, frame: str, kind: str, count: int) -> dict[str, float]:
    """What ``crossing`` says of one frame and kind."""
    model, tokenizer = smollm2()
    names, rng = HALVES[half][1], random.Random(frame)
    texts, who = [], []
    for row in range(count):
        first, second, third = rng.sample(names, 3)
        one, rest = (first, second)[:: -1 if row % 2 else 1]
        cast = {"one": one, "third": third, "rest": rest}
        gives, owner = KINDS[kind]
        own = owned(frame, cast[owner]) if owner else frame
        texts.append(prompt(own, (first, second), cast[gives]).text)
        who.append(cast)
    ids = as_ids(tokenizer, texts, start=False)
    others, B = single_tokens(names, tokenizer), torch.arange(count)
    parts = [Part("context", *head) for head in HEADS]
    with torch.no_grad(), watched(model, parts) as given:
        _, weights = model(ids, return_weights=True)
    end = streams(model, ids, -1)[:, -1]
    found: dict[str, float] = {}
    for head, part in zip(HEADS, parts, strict=True):
        effect = direct_effect(model, given[part][:, -1], head, end)
        for name in who[0]:
            token = single_tokens([cast[name] for cast in who], tokenizer)
            stands = ids == token[:, None]
            last = ids.shape[1] - 1 - stands.flip(1).int().argmax(dim=1)
            title = f"{head_name(head)}, {kind}"
            if stands.any():
                weight = weights[head[0]][B, head[1], -1, last]
                found[f"{title}, on {name}"] = weight.mean().item()
            above = effect[B, token] - effect[:, others].mean(dim=1)
            found[f"{title}, adds to {name}"] = above.mean().item()
    return found
