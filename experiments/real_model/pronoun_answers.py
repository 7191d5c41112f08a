"""Which noun does SmolLM2 go on with, behind a sentence with "it"?"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.intervals import over
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.reading import batches
from helpers.text import coreference
from helpers.text.coreference import Sentence

REPEATED = ". In other words , this person {} the"
QUESTIONS: dict[str, dict[str, Any]] = {
    "it": {},
    "something": {"instead": "something"},
    "neutral": {"kind": "neutral"},
    "behind": {"kind": "behind"},
    "repeated": {"asks": REPEATED},
    "no scene": {"scene": False},
    "behind, no scene": {"kind": "behind", "scene": False},
    "repeated, no scene": {"asks": REPEATED, "scene": False},
}
ALONE = {
    "it": "no scene",
    "behind": "behind, no scene",
    "repeated": "repeated, no scene",
}


def answers(pairs: int, *, start: bool) -> many.Run:
    """How often the noun that is meant has the larger logit, and by how much.

    Args:
        pairs: of nouns a scene.
        start: put the start token before each sentence; without it, two ``QUESTIONS``.

    Returns:
        found: a dict from ``QUESTIONS`` and halves to what ``_led`` says, and, where
            the same is asked without the scene, to what ``added`` says.
    """
    found: many.Run = {}
    asked = list(QUESTIONS) if start else ["it", "no scene"]
    for half in (0, 1):
        logits: dict[str, Tensor] = {}
        for kind in asked:
            some = coreference.sentences(half, pairs, **QUESTIONS[kind])
            logits[kind] = of_nouns(some, start=start)
            found.setdefault(kind, {})[f"half {half}"] = _led(some, logits[kind])
        for kind in set(ALONE) & set(asked):
            some = coreference.sentences(half, pairs, **QUESTIONS[kind])
            more = logits[kind] - logits[ALONE[kind]]
            found[kind][f"half {half}"] |= added(some, half, more)
    return found


def all_nouns() -> list[str]:
    """The nouns of both halves, one behind the other."""
    kinds = coreference.THINGS.values()
    return [noun for half in (0, 1) for one in kinds for noun in one[half][0].split()]


def of_nouns(some: Sequence[Sentence], *, start: bool) -> Tensor:
    """SmolLM2's logits behind N sentences, for all nouns (N, nouns)."""
    model, tokenizer = smollm2()
    nouns = [tokenizer.encode(f" {noun}")[0] for noun in all_nouns()]
    logits = torch.empty(len(some), len(nouns))
    for numbers, ids in batches([one.text for one in some], tokenizer, start=start):
        with torch.no_grad():
            logits[numbers] = model(ids)[:, -1, nouns]
    return logits


def of_choices(some: Sequence[Sentence], logits: Tensor) -> Tensor:
    """The two of N sentences' logits (N, 2) that are the noun meant's and the other's.

    Args:
        some: the sentences.
        logits: (N, nouns), of all nouns.
    """
    names = {noun: i for i, noun in enumerate(all_nouns())}
    places = [[names[noun] for noun in one.choices] for one in some]
    return logits.gather(1, torch.tensor(places))


def _led(some: Sequence[Sentence], logits: Tensor) -> dict[str, Any]:
    """Whether the larger logit is the one of a noun, in intervals over scenes.

    Returns:
        found: how often it is the noun that is "meant", the "first" or the "subject";
            and the "difference" of logits, meant minus other.
    """
    scenes = [one.scene for one in some]
    pair = of_choices(some, logits)
    leads = pair[:, 0] - pair[:, 1]
    meant = (leads > 0).float()
    first = torch.tensor([one.meant == 0 for one in some])
    subject = torch.tensor([one.meant == one.subject for one in some])
    no_subject = torch.tensor([one.subject is None for one in some])
    followed = meant.where(subject, 1 - meant).masked_fill(no_subject, torch.nan)
    return {
        "meant": over(scenes, meant),
        "first": over(scenes, meant.where(first, 1 - meant)),
        "subject": over(scenes, followed),
        "difference": over(scenes, leads),
    }


def added(some: Sequence[Sentence], half: int, more: Tensor) -> dict[str, Any]:
    """What a scene, or a look at it, adds to logits, in intervals over scenes.

    Args:
        some: N sentences.
        half: theirs.
        more: (N, nouns), the logits with it minus those without.

    Returns:
        found: what it adds to the noun "meant more than other", and to each of both
            "above unmentioned" nouns of the half.
    """
    scenes = [one.scene for one in some]
    pair = of_choices(some, more)
    own = more.chunk(2, dim=1)[half]
    rest = (own.sum(dim=1) - pair.sum(dim=1)) / (own.shape[1] - 2)
    return {
        "meant more than other": over(scenes, pair[:, 0] - pair[:, 1]),
        "meant above unmentioned": over(scenes, pair[:, 0] - rest),
        "other above unmentioned": over(scenes, pair[:, 1] - rest),
    }
