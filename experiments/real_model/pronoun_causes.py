"""What does SmolLM2's answer to "it" need: which edges, which places, which heads?

All on sentences about which the model is right, whichever of the two nouns is meant;
the effects are changes of the logit of the noun meant minus that of the other.
"""

import contextlib
import dataclasses
import itertools
import random
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments import many
from experiments.real_model import pronoun_weights
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.pronoun_answers import of_choices, of_nouns
from experiments.real_model.reading import batches, interval, over
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, replaced, watched
from helpers.models.switches import attending_with
from helpers.text import coreference
from helpers.text.coreference import Sentence

Head = tuple[int, int]  # its layer and number, from 0
FOUND: Head = (13, 8)  # the head in which one sentence showed "it" and its noun
PLACES = pronoun_weights.PLACES
TESTED = 20  # pairs of sentences, at the most, for cuts, patches and sets
SCREENED = 10  # pairs of sentences for all heads one at a time
LAYERS = range(0, 30, 3)
MOST = 10  # heads in a set
DRAWS = 12  # sets of random heads


def right_pairs(half: int, pairs: int) -> list[Sentence]:
    """Two sentences in a row about the same scene, about both of which it is right."""
    some = coreference.sentences(half, pairs)
    leads = _leads(some)
    right = [bool(one) for one in (leads > 0)]
    return [
        one
        for i in range(0, len(some), 2)
        if right[i] and right[i + 1]
        for one in some[i : i + 2]
    ]


def _leads(some: Sequence[Sentence]) -> Tensor:
    """The logit of the noun meant minus that of the other (N,)."""
    pair = of_choices(some, of_nouns(some, start=True))
    return pair[:, 0] - pair[:, 1]


def cutting(pairs: int) -> many.Run:
    """What the lead loses when a word may no longer look at others, in all heads.

    Args:
        pairs: of nouns a scene.

    Returns:
        found: for each half, the number of sentences, and intervals over scenes of the
            change, where one of ``PLACES``, or all behind the verb, can't attend to the
            "nouns", to the words before them ("control") or to the "verb"; and where
            only ``FOUND`` can't look from "it" to the nouns.
    """
    found: many.Run = {}
    for half in (0, 1):
        some = _spread(right_pairs(half, pairs), TESTED)
        whole, scenes = _leads(some), [one.scene for one in some]
        own: dict[str, Any] = {"n": len(some), "lead": over(scenes, whole)}
        for place, keys in itertools.product((*PLACES, "behind"), ("nouns", "control")):
            own[f"{place} to {keys}"] = over(scenes, _cut(some, place, keys) - whole)
        for place in (*PLACES[1:], "behind"):
            own[f"{place} to verb"] = over(scenes, _cut(some, place, "verb") - whole)
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
        at = dict(zip(PLACES, pronoun_weights.places(first), strict=True))
        asking = range(first.it, len(first.words)) if place == "behind" else [at[place]]
        keys = [noun - (to == "control") for noun in first.nouns]
        keys = [first.verb] if to == "verb" else keys
        where = model if head is None else model.blocks[head[0]]
        core = _without(asking, keys, None if head is None else head[1])
        with attending_with(where, core):
            leads[own] = _leads([some[i] for i in own])
    return leads


def _without(
    asking: Sequence[int], keys: Sequence[int], head: int | None
) -> Callable[..., Tensor]:
    """A core that lets no one of some words, behind a start token, see some others."""
    rows = torch.tensor(list(asking))[:, None] + 1
    columns = torch.tensor(list(keys))[None] + 1

    def core(queries: Tensor, keys: Tensor, values: Tensor, **_: Any) -> Tensor:
        _, H, T, _ = queries.shape
        mask = torch.ones(H, T, T, dtype=torch.bool).tril()
        for one in range(H) if head is None else [head]:
            mask[one, rows, columns] = False
        keys, values = (
            one.repeat_interleave(H // one.shape[1], dim=1) for one in (keys, values)
        )
        return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)

    return core


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
        some = _spread(right_pairs(half, pairs), TESTED)
        whole = _leads(some)
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
                    patched = _of_pair(group, logits)
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


def _of_pair(some: Sequence[Sentence], logits: Tensor) -> Tensor:
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
    means = mean_contexts(model, pairs)
    screened = _spread(right_pairs(0, pairs), SCREENED)
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
    some = _spread(right_pairs(1, pairs), TESTED)
    return {
        "n": [len(screened), len(some)],
        "needed": [round(one, 3) for one in needed.tolist()],
        "agreement": agreement,
        "without": {
            name: {"heads": [f"{layer}.{head}" for layer, head in heads]}
            | _without_set(some, heads, means)
            for name, heads in sets.items()
        },
        "subject": _subject(pairs, means),
    }


def _spread(some: Sequence[Sentence], count: int) -> list[Sentence]:
    """So many pairs of sentences, of as many scenes as there are."""
    numbers = list(range(len(some) // 2))
    scenes = [one.scene for one in some[::2]]
    numbers.sort(key=lambda i: scenes[:i].count(scenes[i]))
    return [one for i in numbers[:count] for one in some[2 * i : 2 * i + 2]]


def mean_contexts(model: TransformerLM, pairs: int) -> dict[Head, Tensor]:
    """Each head's mean context (D,) over the words of the first half's sentences."""
    _, tokenizer = smollm2()
    texts = [one.text for one in coreference.sentences(0, pairs)]
    parts = [Part("context", layer) for layer in range(len(model.blocks))]
    total, count = torch.zeros(len(parts), model.config.d_model), 0
    for _, ids in batches(texts, tokenizer, start=True):
        with watched(model, parts) as given, torch.no_grad():
            model(ids)
        total += torch.stack([given[one][:, 1:].sum(dim=(0, 1)) for one in parts])
        count += ids[:, 1:].numel()
    heads = model.config.num_heads
    by_head = (total / count).view(len(parts), heads, -1)
    every = itertools.product(range(len(parts)), range(heads))
    return {head: by_head[head] for head in every}


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
            whole = _of_pair(group, model(ids)[:, -1])
        for layer in range(layers):
            upper = last_blocks(model, layer)
            for head in range(heads):
                instead = {
                    Part("stream", 0): given[streams[layer]],
                    Part("context", 0, head): means[layer, head],
                }
                with replaced(upper, instead), torch.no_grad():
                    left = _of_pair(group, upper(ids)[:, -1])
                lost[layer, head] += (whole - left).sum() / len(some)
    return lost.flatten()


def _top(scores: Tensor) -> list[Head]:
    """The heads with the highest scores."""
    return [divmod(one, 9) for one in scores.topk(MOST).indices.tolist()]


def _spearman(one: Tensor, other: Tensor) -> float:
    """Spearman's rank correlation."""
    ranks = [x.argsort().argsort().double() for x in (one, other)]
    return round(statistics.correlation(*(x.tolist() for x in ranks)), 4)


@contextlib.contextmanager
def switched(
    heads: Sequence[Head], means: Mapping[Head, Tensor] | None
) -> Iterator[None]:
    """Heads give their means, or nothing."""
    instead: dict[Part, float | Tensor] = {
        Part("context", *head): 0.0 if means is None else means[head] for head in heads
    }
    with replaced(smollm2()[0], instead):
        yield


def _without_set(
    some: Sequence[Sentence], heads: Sequence[Head], means: Mapping[Head, Tensor]
) -> dict[str, Any]:
    """What the lead loses without a set of heads, and without random ones."""
    whole, scenes = _leads(some), [one.scene for one in some]

    def lost(instead: Mapping[Head, Tensor] | None, which: Sequence[Head]) -> Tensor:
        with switched(which, instead):
            return whole - _leads(some)

    found: dict[str, Any] = {
        "mean": over(scenes, lost(means, heads)),
        "zero": over(scenes, lost(None, heads)),
    }
    generator = random.Random(0)
    drawn: list[float] = []
    for _ in range(DRAWS if len(heads) > 1 else 8):
        if len(heads) == 1:  # each other head of the layer once
            others = [(heads[0][0], k) for k in range(9) if k != heads[0][1]]
            control = [others[len(drawn)]]
        else:
            control = random_set(heads, generator)
        drawn.append(float(lost(means, control).mean()))
    found["random, mean"] = interval(drawn)
    found["random, highest"] = round(max(drawn), 4)
    return found


def random_set(heads: Sequence[Head], generator: random.Random) -> list[Head]:
    """As many heads in each layer, others where there are enough of them."""
    chosen: list[Head] = []
    for layer in sorted({one for one, _ in heads}):
        own = {head for one, head in heads if one == layer}
        others = [head for head in range(9) if head not in own]
        count = min(len(own), len(others))
        chosen += [(layer, head) for head in generator.sample(others, count)]
    return chosen


def _subject(pairs: int, means: Mapping[Head, Tensor]) -> dict[str, Any]:
    """What the lead of the subject loses without each head of one layer."""
    found: dict[str, Any] = {}
    for half in (0, 1):
        some = [
            one
            for one in coreference.sentences(half, pairs, kind="neutral")
            if one.subject is not None and one.meant == one.subject
        ]
        whole, scenes = _leads(some), [one.scene for one in some]
        own = found[f"half {half}"] = {"n": len(some), "lead": over(scenes, whole)}
        for head in range(9):
            with switched([(FOUND[0], head)], means):
                lost = whole - _leads(some)
            own[f"{FOUND[0]}.{head}"] = over(scenes, lost)
    return found
