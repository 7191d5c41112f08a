"""Where does "it" look, and what does the answer to "it" depend on?

On the sentences of ``helpers.text.coreference``: which heads give more weight to the
noun that is meant than to the other, beside those that follow the first noun or the
subject; what SmolLM2 answers; and, in ``pronoun_causes`` and ``pronoun_heads``, what
the answer needs.

Source: Clark et al. 2019, section 4.2, for coreference in BERT's heads; Jain and
Wallace 2019, for weights that don't explain an answer.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model import (
    pronoun_answers,
    pronoun_causes,
    pronoun_kinds,
    pronoun_words,
)
from experiments.real_model.heads import Head, head_name
from experiments.real_model.intervals import over
from experiments.real_model.pretrained_models import minilm, smollm2
from experiments.real_model.pronoun_weights import PLACES, on_nouns
from helpers.text import coreference
from helpers.text.coreference import Sentence

PLAN: list[many.Settings] = [
    {"part": "looking", "model": "smollm2"},
    {"part": "looking", "model": "smollm2 without a start"},
    {"part": "looking", "model": "minilm"},
    {"part": "answers", "start": True},
    {"part": "answers", "start": False},
    {"part": "hiding"},
    {"part": "switched off"},
    {"part": "kinds"},
    {"part": "words"},
]
FOUND: Head = (13, 8)  # in which one sentence showed "it" and its noun
PAIRS = 4  # of nouns for each of ten scenes: 160 sentences a half
CUES = ("meant", "first", "subject")
LISTED = ("verb", "it", "the")  # the places for which all heads are kept
CLEAR = 0.75  # of the sentences in which a head follows a cue, to be counted
KINDS: dict[str, dict[str, Any]] = {
    "it": {},
    "something": {"instead": "something"},
    "neutral": {"kind": "neutral"},
    "behind": {"kind": "behind"},
}


def measure(settings: many.Settings, *, pairs: int = PAIRS) -> many.Run:
    """What one part of the study finds.

    Args:
        settings: one of ``PLAN``.
        pairs: of nouns a scene.

    Returns:
        run: as the function of that part returns it.
    """
    part = settings["part"]
    if part == "looking":
        return looking(settings["model"], pairs)
    if part == "answers":
        return pronoun_answers.answers(pairs, start=settings["start"])
    if part == "kinds":
        return pronoun_kinds.kinds()
    causes = {
        "hiding": pronoun_causes.hiding,
        "switched off": pronoun_causes.switched_off,
        "words": pronoun_words.words,
    }
    return causes[part](pairs)


def looking(name: str, pairs: int) -> many.Run:
    """Which noun the heads look at, from which word.

    Args:
        name: a "model" of ``PLAN``.
        pairs: of nouns a scene.

    Returns:
        found: a dict from ``KINDS`` and ``PLACES`` to what ``_at_one_place`` says,
            without its list of all heads but at ``LISTED`` with "it". With "something"
            in place of "it", and with neutral verbs, the heads are those chosen with
            "it".
    """
    start = name == "smollm2"
    kinds = {"it": KINDS["it"]} if name == "smollm2 without a start" else KINDS
    model, tokenizer = minilm() if name == "minilm" else smollm2()
    found: many.Run = {}
    chosen: dict[str, int] = {}  # from places to heads
    for kind, options in kinds.items():
        halves = [coreference.sentences(half, pairs, **options) for half in (0, 1)]
        weights = [on_nouns(model, tokenizer, one, start=start) for one in halves]
        found[kind] = {}
        for i, place in enumerate(PLACES):
            here = [one[:, :, i] for one in weights]
            given = chosen[place] if kind in ("something", "neutral") else None
            chosen[place], own = _at_one_place(halves, here, given)
            if kind != "it" or place not in LISTED:
                del own["by head"]
            found[kind][place] = own
    return found


def follows(some: Sequence[Sentence], weights: Tensor) -> Tensor:
    """Whether heads give more weight to the noun that a cue says.

    Args:
        some: N sentences.
        weights: (N, heads, 2)

    Returns:
        followed: (cues, N, heads), 1 or 0, a half for equal weights; nan where a cue
            says nothing.
    """
    leads = (weights[..., 0] - weights[..., 1]).sign()  # (N, heads)
    said = [
        [one.meant for one in some],
        [0] * len(some),
        [torch.nan if one.subject is None else one.subject for one in some],
    ]
    signs = 1 - 2 * torch.tensor(said)  # (cues, N)
    return (1 + signs[:, :, None] * leads) / 2


def _at_one_place(
    halves: Sequence[Sequence[Sentence]], weights: Sequence[Tensor], best: int | None
) -> tuple[int, dict[str, Any]]:
    """What heads do at one place, with the best of half 0 unless it is given.

    Returns:
        best: the number of the head that follows the meaning best on half 0, among
            those that give the nouns ``pronoun_words.MASS``.
        found: a dict of that "best" head and of ``FOUND`` in both halves; on half 1,
            how many heads give the nouns ``pronoun_words.MASS``, and how many of them
            follow each cue in ``CLEAR`` of the sentences, or do the opposite; and the
            accuracies of all heads on half 1.
    """
    both = list(zip(halves, weights, strict=True))
    rates = [follows(*one).nanmean(dim=1) for one in both]  # (cues, heads) each
    mass = [one.sum(dim=-1).mean(dim=0) for one in weights]
    if best is None:
        best = int(rates[0][0].where(mass[0] >= pronoun_words.MASS, -1.0).argmax())
    looks = mass[1] >= pronoun_words.MASS
    heads = {"best": best}
    causal = rates[0].shape[1] == 270
    per_layer = 9 if causal else 12
    if causal:
        heads["found"] = FOUND[0] * 9 + FOUND[1]
    counts = {"looking": int(looks.sum())}
    for cue, own in zip(CUES, rates[1], strict=True):
        counts[cue] = int((own[looks] >= CLEAR).sum())
        counts[f"not {cue}"] = int((own[looks] <= 1 - CLEAR).sum())
    return best, {
        **{
            name: {"head": head_name(divmod(head, per_layer))}
            | {
                f"half {half}": _one_head(halves[half], weights[half][:, head])
                for half in (0, 1)
            }
            for name, head in heads.items()
        },
        "heads": counts,
        "mean over heads": [round(float(one.mean()), 4) for one in rates[1]],
        "by head": [round(one, 3) for one in rates[1][0].tolist()],
    }


def _one_head(some: Sequence[Sentence], weights: Tensor) -> dict[str, Any]:
    """Each cue's rate, and the weights on the noun meant and the other, over scenes."""
    scenes = [one.scene for one in some]
    followed = follows(some, weights[:, None])[:, :, 0]
    meant = torch.tensor([one.meant for one in some])[:, None]
    return {
        **{cue: over(scenes, own) for cue, own in zip(CUES, followed, strict=True)},
        "on meant": over(scenes, weights.gather(1, meant)[:, 0]),
        "on other": over(scenes, weights.gather(1, 1 - meant)[:, 0]),
    }
