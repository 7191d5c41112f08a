"""Which looks does SmolLM2's answer to "it" need?

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
from experiments.real_model.intervals import over
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.pronoun_answers import of_choices, of_nouns
from helpers.attention import causal_mask
from helpers.models.switches import attending_with
from helpers.text import coreference
from helpers.text.coreference import Sentence

PLACES = pronoun_weights.PLACES
# Who can't see what: "both" pronouns, or all words "behind" the verb; the nouns, the
# words before these ("control"), or the verb.
HIDDEN = (
    ("both", "nouns"),
    ("behind", "nouns"),
    ("behind", "control"),
    ("behind", "verb"),
)


def leads_of(some: Sequence[Sentence]) -> Tensor:
    """The logit of the noun meant minus that of the other (N,)."""
    pair = of_choices(some, of_nouns(some, start=True))
    return pair[:, 0] - pair[:, 1]


def hiding(pairs: int) -> many.Run:
    """What the lead loses when some words may no longer look at others, in all heads.

    Args:
        pairs: of nouns a scene.

    Returns:
        found: on half 1, the number of sentences ("n"), the "lead", and intervals over
            scenes of its change, for ``HIDDEN``.
    """
    some = coreference.sentences(1, pairs)
    whole, scenes = leads_of(some), [one.scene for one in some]
    found: many.Run = {"n": len(some), "lead": over(scenes, whole)}
    for place, keys in HIDDEN:
        changed = _cut(some, place, keys) - whole
        found[f"{place} to {keys}"] = over(scenes, changed)
    return found


def _cut(some: Sequence[Sentence], place: str, to: str) -> Tensor:
    """The leads where some words can't look at others."""
    model, _ = smollm2()
    leads = torch.empty(len(some))
    for scene in sorted({(one.scene, len(one.words)) for one in some}):
        own = [i for i, one in enumerate(some) if (one.scene, len(one.words)) == scene]
        first = some[own[0]]  # the others have their words in the same places
        looking = asking(first, place)
        keys = {
            "nouns": list(first.nouns),
            "control": [noun - 1 for noun in first.nouns],
            "verb": [first.verb],
        }[to]
        core = blind(len(first.words) + 1, looking, keys)
        with attending_with(model, core):
            leads[own] = leads_of([some[i] for i in own])
    return leads


def asking(one: Sentence, place: str) -> Sequence[int]:
    """Where the words stand that can't look."""
    if place == "behind":
        return range(one.it, len(one.words))
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
