"""Which looks does SmolLM2's answer to "it" need, and does it need head 13.8?

Attention knockout, on all sentences of a half; the effects are changes of the logit of
the noun meant minus that of the other.

Source: Geva et al. 2023, section 4 (attention knockout).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from experiments import many
from experiments.real_model import pronoun_weights
from experiments.real_model.attending import Masked
from experiments.real_model.heads import Head, mean_contexts, without
from experiments.real_model.intervals import over
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.pronoun_answers import (
    added,
    all_nouns,
    of_choices,
    of_nouns,
)
from experiments.real_model.reading import batches
from helpers.attention import causal_mask
from helpers.models.switches import attending_with
from helpers.text import coreference
from helpers.text.coreference import Sentence

PLACES = pronoun_weights.PLACES
# Who can't see what: "both" pronouns, the last word ("end"), or all from the verb "on";
# the nouns, or the words before these ("control").
HIDDEN = (
    ("both", "nouns"),
    ("end", "nouns"),
    ("end", "control"),
    ("on", "nouns"),
)
FOUND: Head = (13, 8)


def leads_of(some: Sequence[Sentence]) -> Tensor:
    """The logit of the noun meant minus that of the other (N,)."""
    return _leads(some, of_nouns(some, start=True))


def hiding(pairs: int) -> many.Run:
    """What the lead loses when some words may no longer look at others, in all heads.

    Args:
        pairs: of nouns a scene.

    Returns:
        found: on half 1, the number of sentences ("n"), the "lead", and intervals over
            scenes of its change, for ``HIDDEN``; as it is and for ``HIDDEN``, what
            ``_shares`` says; and what the last word's looks at the nouns add to logits
            ("added").
    """
    some = coreference.sentences(1, pairs)
    whole, scenes = of_nouns(some, start=True), [one.scene for one in some]
    before = _leads(some, whole)
    found: many.Run = {"n": len(some), "lead": over(scenes, before)}
    found |= _shares(scenes, before)
    for place, keys in HIDDEN:
        logits, name = _cut(some, place, keys), f"{place} to {keys}"
        after = _leads(some, logits)
        found[name] = over(scenes, after - before)
        for key, three in _shares(scenes, after).items():
            found[f"{name}, {key}"] = three
        if name == "end to nouns":
            found["added"] = added(some, 1, whole - logits)
    return found


def switched_off(pairs: int) -> many.Run:
    """What the lead loses without head 13.8, and without each other head of its layer.

    Args:
        pairs: of nouns a scene.

    Returns:
        found: intervals over scenes of the change on half 1, where the head's context
            is "zero" or its "mean" over all places of these sentences; "zero, others"
            and "mean, others", the mean changes without each of the others.
    """
    model, tokenizer = smollm2()
    some = coreference.sentences(1, pairs)
    whole, scenes = leads_of(some), [one.scene for one in some]
    texts = [one.text for one in some]
    read = [ids for _, ids in batches(texts, tokenizer, start=True)]
    means = mean_contexts(model, [(ids, ids >= 0) for ids in read])
    found: many.Run = {}
    for name in ("zero", "mean"):
        changes = []
        for number in range(model.config.num_heads):
            head = FOUND[0], number
            with without(model, {head: means[head] if name == "mean" else 0.0}):
                changes.append(over(scenes, leads_of(some) - whole))
        found[name] = changes.pop(FOUND[1])
        found[f"{name}, others"] = [mean for mean, *_ in changes]
    return found


def _leads(some: Sequence[Sentence], logits: Tensor) -> Tensor:
    """The leads (N,) in the logits (N, nouns) of all nouns."""
    pair = of_choices(some, logits)
    return pair[:, 0] - pair[:, 1]


def _shares(scenes: Sequence[int], leads: Tensor) -> dict[str, list[float]]:
    """How often the answer is right, and how often it doesn't change with the verb.

    Args:
        scenes: of N sentences, of which two that differ in their verb stand side by
            side.
        leads: (N,), of the noun meant.

    Returns:
        found: intervals over scenes: in how many sentences the noun "meant" leads, and
            in how many pairs the "same" noun, whichever is meant.
    """
    right = leads > 0
    same = right[::2] != right[1::2]
    return {
        "meant": over(scenes, right.float()),
        "same": over(scenes[::2], same.float()),
    }


def _cut(some: Sequence[Sentence], place: str, to: str) -> Tensor:
    """All nouns' logits (N, nouns) where some words can't look at others."""
    model, _ = smollm2()
    logits = torch.empty(len(some), len(all_nouns()))
    for scene in sorted({(one.scene, len(one.words)) for one in some}):
        own = [i for i, one in enumerate(some) if (one.scene, len(one.words)) == scene]
        first = some[own[0]]  # the others have their words in the same places
        looking = asking(first, place)
        keys = {
            "nouns": list(first.nouns),
            "control": [noun - 1 for noun in first.nouns],
        }[to]
        core = blind(len(first.words) + 1, looking, keys)
        with attending_with(model, core):
            logits[own] = of_nouns([some[i] for i in own], start=True)
    return logits


def asking(one: Sentence, place: str) -> Sequence[int]:
    """Where the words stand that can't look."""
    last = len(one.words)
    begins = {"on": one.verb, "end": last - 1}
    if place in begins:
        return range(begins[place], last)
    at = dict(zip(PLACES, pronoun_weights.places(one), strict=True))
    return [at["it"], at["It"]] if place == "both" else [at[place]]


def blind(T: int, asking: Sequence[int], keys: Sequence[int]) -> Masked:
    """A core that lets no one of some words, behind a start token, see some others.

    Args:
        T: the number of tokens, the start token included.
        asking: the places of the words that look.
        keys: the places that they can't look at.
    """
    mask = causal_mask(T)
    rows = torch.tensor(list(asking))[:, None] + 1
    mask[rows, torch.tensor(list(keys))[None] + 1] = False
    return Masked(mask)
