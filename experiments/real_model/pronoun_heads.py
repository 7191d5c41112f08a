"""Which heads does SmolLM2's answer to "it" need, and do those look at the noun?

Source: Jain and Wallace 2019, for weights that don't explain an answer.
"""

import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model import pronoun_weights
from experiments.real_model.heads import (
    Head,
    drawn,
    head_name,
    mean_contexts,
    without,
)
from experiments.real_model.intervals import interval, over
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.pronoun_causes import (
    FOUND,
    PLACES,
    TESTED,
    last_blocks,
    leads_of,
    of_pair,
    right_pairs,
    spread,
)
from experiments.real_model.reading import batches
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, replaced, watched
from helpers.text import coreference
from helpers.text.coreference import Sentence

SCREENED = 10  # pairs of sentences for all heads one at a time
MOST = 10  # heads in a set
DRAWS = 12  # sets of random heads


def switching(pairs: int) -> many.Run:
    """What the lead loses without some heads, and whether those look at the nouns.

    Args:
        pairs: of nouns a scene.

    Returns:
        found: on half 0, what the lead loses without each head (mean in its place), how
            that goes together with how much more weight a head gives the noun meant
            ("agreement"), and which heads lead on both counts. On half 1, the losses
            without these sets of heads, without ``FOUND``, and without random sets of
            the same layers. "subject": what the lead of a scene's subject loses, where
            the verb takes both nouns, without each head of ``FOUND``'s layer.
    """
    model, _ = smollm2()
    means = means_of(pairs)
    screened = spread(right_pairs(0, pairs), SCREENED)
    needed = _each_head(model, screened, means)
    weights = pronoun_weights.on_nouns(
        *smollm2(), coreference.sentences(0, pairs), start=True
    )
    signs = [1 - 2 * one.meant for one in coreference.sentences(0, pairs)]
    gaps = (weights[..., 0] - weights[..., 1]) * torch.tensor(signs)[:, None, None]
    gaps = gaps.mean(dim=0)  # (heads, places)
    sets = {"needed": _top(needed)}
    agreement = {}
    for k, place in enumerate(PLACES):
        looking = _top(gaps[:, k])
        if place in ("verb", "it", "the"):
            sets[f"looking from {place}"] = looking
        both = set(sets["needed"]) & set(looking)
        rank = _spearman(gaps[:, k], needed)
        agreement[place] = {"rank correlation": rank, "in both": len(both)}
    sets["found"] = [FOUND]
    some = spread(right_pairs(1, pairs), TESTED)
    return {
        "n": [len(screened), len(some)],
        "needed": [round(one, 3) for one in needed.tolist()],
        "agreement": agreement,
        "without": {
            name: {"heads": list(map(head_name, heads))}
            | _without_set(some, heads, means)
            for name, heads in sets.items()
        },
        "subject": _subject(pairs, means),
    }


def means_of(pairs: int) -> dict[Head, Tensor]:
    """Each head's mean context (D,) over the words of the first half's sentences."""
    model, tokenizer = smollm2()
    texts = [one.text for one in coreference.sentences(0, pairs)]

    def words() -> Iterator[tuple[Tensor, Tensor]]:
        for _, ids in batches(texts, tokenizer, start=True):
            kept = torch.ones_like(ids, dtype=torch.bool)
            kept[:, 0] = False
            yield ids, kept

    return mean_contexts(model, words())


def switched(heads: Sequence[Head], means: Mapping[Head, Tensor] | None) -> Any:
    """A context in which heads give their means, or nothing."""
    return without(
        smollm2()[0], {one: 0.0 if means is None else means[one] for one in heads}
    )


def _each_head(
    model: TransformerLM, some: Sequence[Sentence], means: Mapping[Head, Tensor]
) -> Tensor:
    """What the lead loses on average without each head (heads,)."""
    _, tokenizer = smollm2()
    layers, heads = len(model.blocks), model.config.num_heads
    lost = torch.zeros(layers, heads)
    streams = [Part("stream", layer) for layer in range(layers)]
    for numbers, ids in batches([one.text for one in some], tokenizer, start=True):
        group = [some[i] for i in numbers]
        with watched(model, streams) as given, torch.no_grad():
            whole = of_pair(group, model(ids)[:, -1])
        for layer in range(layers):
            upper = last_blocks(model, layer)
            for head in range(heads):
                instead = {
                    Part("stream", 0): given[streams[layer]],
                    Part("context", 0, head): means[layer, head],
                }
                with replaced(upper, instead), torch.no_grad():
                    left = of_pair(group, upper(ids)[:, -1])
                lost[layer, head] += (whole - left).sum() / len(some)
    return lost.flatten()


def _top(scores: Tensor) -> list[Head]:
    """The heads with the highest scores."""
    return [divmod(one, 9) for one in scores.topk(MOST).indices.tolist()]


def _spearman(one: Tensor, other: Tensor) -> float:
    """Spearman's rank correlation."""
    ranks = [x.argsort().argsort().double() for x in (one, other)]
    return round(statistics.correlation(*(x.tolist() for x in ranks)), 4)


def _without_set(
    some: Sequence[Sentence], heads: Sequence[Head], means: Mapping[Head, Tensor]
) -> dict[str, Any]:
    """What the lead loses without a set of heads, and without random ones."""
    whole, scenes = leads_of(some), [one.scene for one in some]

    def lost(instead: Mapping[Head, Tensor] | None, which: Sequence[Head]) -> Tensor:
        with switched(which, instead):
            return whole - leads_of(some)

    found: dict[str, Any] = {
        "mean": over(scenes, lost(means, heads)),
        "zero": over(scenes, lost(None, heads)),
    }
    generator = random.Random(0)
    of_others: list[float] = []
    for _ in range(DRAWS if len(heads) > 1 else 8):
        if len(heads) == 1:  # each other head of the layer once
            others = [(heads[0][0], k) for k in range(9) if k != heads[0][1]]
            control = [others[len(of_others)]]
        else:
            control = drawn(heads, generator)
        of_others.append(float(lost(means, control).mean()))
    found["random, mean"] = interval(of_others)
    found["random, highest"] = round(max(of_others), 4)
    return found


def _subject(pairs: int, means: Mapping[Head, Tensor]) -> dict[str, Any]:
    """What the lead of the subject loses without each head of one layer."""
    found: dict[str, Any] = {}
    for half in (0, 1):
        some = [
            one
            for one in coreference.sentences(half, pairs, kind="neutral")
            if one.subject is not None and one.meant == one.subject
        ]
        whole, scenes = leads_of(some), [one.scene for one in some]
        own = found[f"half {half}"] = {"n": len(some), "lead": over(scenes, whole)}
        for head in range(9):
            with switched([(FOUND[0], head)], means):
                lost = whole - leads_of(some)
            own[head_name((FOUND[0], head))] = over(scenes, lost)
    return found
