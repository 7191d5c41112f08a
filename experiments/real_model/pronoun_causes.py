"""What does SmolLM2's answer to "it" need: which edges, which places?

All on sentences about which the model is right, whichever of the two nouns is meant;
the effects are changes of the logit of the noun meant minus that of the other.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model import pronoun_weights
from experiments.real_model.attending import Masked
from experiments.real_model.heads import Head
from experiments.real_model.intervals import interval, over
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.pronoun_answers import of_choices, of_nouns
from experiments.real_model.reading import batches
from helpers.attention import causal_mask
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, replaced, watched
from helpers.models.switches import attending_with
from helpers.text import coreference
from helpers.text.coreference import Sentence

FOUND: Head = (13, 8)  # the head in which one sentence showed "it" and its noun
PLACES = pronoun_weights.PLACES
TESTED = 20  # pairs of sentences, at the most, for cuts, patches and sets
# Who can't see the word before it: the second noun's "the", and that noun (both before
# the verb), the verb, and words behind it.
BY_THEIR_SIDE = ("its the", "noun", "verb", "It", "was", "the")
LAYERS = range(0, 30, 3)


def right_pairs(half: int, pairs: int) -> list[Sentence]:
    """Two sentences in a row about the same scene, about both of which it is right."""
    some = coreference.sentences(half, pairs)
    leads = leads_of(some)
    right = [bool(one) for one in (leads > 0)]
    return [
        one
        for i in range(0, len(some), 2)
        if right[i] and right[i + 1]
        for one in some[i : i + 2]
    ]


def leads_of(some: Sequence[Sentence]) -> Tensor:
    """The logit of the noun meant minus that of the other (N,)."""
    pair = of_choices(some, of_nouns(some, start=True))
    return pair[:, 0] - pair[:, 1]


def spread(some: Sequence[Sentence], count: int) -> list[Sentence]:
    """So many pairs of sentences, of as many scenes as there are."""
    numbers = list(range(len(some) // 2))
    scenes = [one.scene for one in some[::2]]
    numbers.sort(key=lambda i: scenes[:i].count(scenes[i]))
    return [one for i in numbers[:count] for one in some[2 * i : 2 * i + 2]]


def cutting(pairs: int) -> many.Run:
    """What the lead loses when a word may no longer look at others, in all heads.

    Args:
        pairs: of nouns a scene.

    Returns:
        found: for each half, the number of sentences, and intervals over scenes of the
            change, where one of ``PLACES``, or all behind the verb, can't attend to the
            "nouns", to the words before them ("control") or to the "verb"; where "it"
            can't attend to the word "before" the verb, or a place of ``BY_THEIR_SIDE``
            to its "previous" word, and by how much the cut from "it" to the verb goes
            "beyond" that; where "both" pronouns can't attend to the nouns;
            and where only ``FOUND`` can't look from "it" to the nouns.
    """
    found: many.Run = {}
    for half in (0, 1):
        some = spread(right_pairs(half, pairs), TESTED)
        whole, scenes = leads_of(some), [one.scene for one in some]
        own: dict[str, Any] = {"n": len(some), "lead": over(scenes, whole)}
        for place, keys in itertools.product((*PLACES, "behind"), ("nouns", "control")):
            own[f"{place} to {keys}"] = over(scenes, _cut(some, place, keys) - whole)
        for place in (*PLACES[1:], "behind"):
            own[f"{place} to verb"] = over(scenes, _cut(some, place, "verb") - whole)
        own["it to before"] = over(scenes, _cut(some, "it", "before") - whole)
        own["both to nouns"] = over(scenes, _cut(some, "both", "nouns") - whole)
        from_verb = _cut(some, "it", "verb")
        for place in BY_THEIR_SIDE:
            beside = _cut(some, place, "previous")
            own[f"{place} to previous"] = over(scenes, beside - whole)
            own[f"it to verb, beyond {place}"] = over(scenes, from_verb - beside)
        one_head = _cut(some, "it", "nouns", FOUND) - whole
        own["it to nouns, one head"] = over(scenes, one_head)
        found[f"half {half}"] = own
    return found


def _cut(
    some: Sequence[Sentence], place: str, to: str, head: Head | None = None
) -> Tensor:
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
            "before": [first.verb - 1],
            "previous": [looking[0] - 1],
        }[to]
        where = model if head is None else model.blocks[head[0]]
        size = model.config.num_heads, len(first.words) + 1
        core = blind(size, looking, keys, None if head is None else head[1])
        with attending_with(where, core):
            leads[own] = leads_of([some[i] for i in own])
    return leads


def asking(one: Sentence, place: str) -> Sequence[int]:
    """Where the words stand that can't look."""
    if place == "behind":
        return range(one.it, len(one.words))
    at = dict(zip(PLACES, pronoun_weights.places(one), strict=True))
    at |= {"noun": one.nouns[1], "its the": one.nouns[1] - 1}
    return [at["it"], at["It"]] if place == "both" else [at[place]]


def blind(
    size: tuple[int, int],
    asking: Sequence[int],
    keys: Sequence[int],
    head: int | None = None,
) -> Masked:
    """A core that lets no one of some words, behind a start token, see some others.

    Args:
        size: H and T, the start token included.
        asking: the places of the words that look.
        keys: the places that they can't look at.
        head: the only head of which that is so; all where None.
    """
    H, T = size
    mask = causal_mask(T).repeat(H, 1, 1)
    rows = torch.tensor(list(asking))[:, None] + 1
    columns = torch.tensor(list(keys))[None] + 1
    for one in range(H) if head is None else [head]:
        mask[one, rows, columns] = False
    return Masked(mask)


def patching(pairs: int) -> many.Run:
    """How much of the answer comes back with one place's stream of one layer.

    The model reads a sentence with one verb, and gets at one place what it had there
    with the other verb: of both sentences of a pair, each is the clean one once.

    Args:
        pairs: of nouns a scene.

    Returns:
        found: for each half, the number of pairs, and for each of ``PLACES`` and
            ``LAYERS`` the share of the difference that comes back, over scenes.
    """
    model, tokenizer = smollm2()
    found: many.Run = {}
    for half in (0, 1):
        some = spread(right_pairs(half, pairs), TESTED)
        whole = leads_of(some)
        own: dict[str, Any] = {"n": len(some) // 2}
        back = torch.zeros(len(PLACES), len(LAYERS), len(some))
        for numbers, ids in batches([one.text for one in some], tokenizer, start=True):
            stream = [Part("stream", layer) for layer in LAYERS]
            with watched(model, stream) as given, torch.no_grad():
                model(ids)
            streams = [given[part] for part in stream]
            group = [some[i] for i in numbers]
            partner = torch.tensor([numbers.index(i ^ 1) for i in numbers])
            rows = torch.arange(len(group))
            for layer, before in zip(LAYERS, streams, strict=True):
                upper = last_blocks(model, layer)
                for k in range(len(PLACES)):
                    at = (
                        torch.tensor([pronoun_weights.places(one)[k] for one in group])
                        + 1
                    )
                    mixed = before.clone()
                    mixed[rows, at] = before[partner, at[partner]]
                    with replaced(upper, {Part("stream", 0): mixed}), torch.no_grad():
                        logits = upper(ids)[:, -1]
                    patched = of_pair(group, logits)
                    row = whole[numbers]
                    back[k, LAYERS.index(layer), numbers] = row - patched
        apart = whole + whole.view(-1, 2).flip(1).flatten()
        scenes = [one.scene for one in some]
        for k, place in enumerate(PLACES):
            own[place] = [_ratio(scenes, one, apart) for one in back[k]]
        found[f"half {half}"] = own
    return found


def _ratio(scenes: Sequence[int], part: Tensor, whole: Tensor) -> list[float]:
    """A share of a whole, both summed in a scene, over scenes."""
    own = [
        torch.tensor([one == scene for one in scenes]) for scene in sorted(set(scenes))
    ]
    return interval([float(part[one].sum() / whole[one].sum()) for one in own])


def of_pair(some: Sequence[Sentence], logits: Tensor) -> Tensor:
    """The lead of the noun meant (N,), in all logits (N, vocab_size)."""
    _, tokenizer = smollm2()
    ids = [[tokenizer.encode(f" {noun}")[0] for noun in one.choices] for one in some]
    pair = logits.gather(1, torch.tensor(ids))
    return pair[:, 0] - pair[:, 1]


def last_blocks(model: TransformerLM, layer: int) -> TransformerLM:
    """A model of the blocks from one layer on, with the same weights."""
    config = dataclasses.replace(model.config, num_layers=len(model.blocks) - layer)
    with torch.device("meta"):
        upper = TransformerLM(config)
    state = {}
    for name, weight in model.state_dict().items():
        parts = name.split(".")
        if parts[0] == "blocks":
            if int(parts[1]) < layer:
                continue
            parts[1] = str(int(parts[1]) - layer)
        state[".".join(parts)] = weight
    upper.load_state_dict(state, assign=True)
    return upper.eval()
