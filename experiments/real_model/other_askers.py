"""Does a head find a word for the one that asks, or for any word in its place?

Two heads that ``head_claims`` chose, on the same sentences of other frames, where
another word stands in the place of the one that asks.

Source: Hewitt and Liang 2019 (a control task beside each task).
"""

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.head_claims import EACH, hits_of, on_words
from experiments.real_model.heads import head_name
from experiments.real_model.intervals import interval, over
from experiments.real_model.pretrained_models import minilm, smollm2
from experiments.real_model.two_meanings_heads import (
    noun_in,
    nouns_of,
    prefixes,
    tokens,
)
from experiments.real_model.two_meanings_rest import first_blocks
from helpers.text.ambiguous_words import FRAMES
from helpers.text.ambiguous_words import WORDS as AMBIGUOUS
from helpers.text.relations import RELATIONS, Pair, sentences

PLAN: list[many.Settings] = [
    {"model": "smollm2", "relation": "verb to subject"},
    {"model": "minilm", "relation": "two meanings to clue"},
    {"model": "smollm2", "chosen by": "contrast"},
    {"model": "smollm2", "asked by": "relatives"},
]
HEADS = {"smollm2": (13, 8), "minilm": (4, 0)}
RELATED = (9, 2)  # SmolLM2's head that ``by_contrast`` finds
INSTEAD = ("quickly", "it", "and")


def measure(settings: many.Settings, *, each: int = EACH) -> many.Run:
    """How often the head's largest weight lies on the target, whoever asks.

    Args:
        settings: one of ``PLAN``.
        each: sentences of a template.

    Returns:
        found: the "head", and intervals over frames: from the word's "own" place; from
            each of ``INSTEAD`` there; for two meanings instead from "another" word of
            two meanings that the clue says nothing of, and by how much less often that
            is ("beyond another"). Where the head is chosen by contrast, or
            asked by relatives, what the functions of these names return.
    """
    if "chosen by" in settings:
        return by_contrast(each)
    if "asked by" in settings:
        return by_relatives()
    head = HEADS[settings["model"]]
    some = sentences(RELATIONS[settings["relation"]], 1, each)
    frames = [one.template for one in some]
    own = _hits(settings["model"], some)
    found: many.Run = {"head": head_name(head), "own": over(frames, own)}
    if settings["model"] == "minilm":
        another = _hits("minilm", [one.mismatched() for one in some])
        found["another"] = over(frames, another)
        found["beyond another"] = over(frames, own - another)
        return found
    for word in INSTEAD:
        found[word] = over(frames, _hits("smollm2", [asked_by(word, p) for p in some]))
    return found


def by_contrast(each: int) -> many.Run:
    """SmolLM2's head that finds a clue for its word more often than for another.

    Args:
        each: sentences of a template.

    Returns:
        found: the "head" for which the difference is largest in half 0's frames, that
            difference there ("chosen"), and, in half 1's, the intervals over frames of
            "own", "another" and "beyond another".
    """
    model, tokenizer = smollm2()
    rates = []
    for half in (0, 1):
        some = sentences(RELATIONS["two meanings to clue"], half, each)
        rates.append(
            [
                hits_of(own, on_words(model, tokenizer, True, own))
                for own in (some, [one.mismatched() for one in some])
            ]
        )
    beyond = [own - another for own, another in rates]
    best = int(beyond[0].mean(dim=0).argmax())
    frames = [one.template for one in some]
    return {
        "head": head_name(divmod(best, model.config.num_heads)),
        "chosen": round(float(beyond[0][:, best].mean()), 4),
        "own": over(frames, rates[1][0][:, best]),
        "another": over(frames, rates[1][1][:, best]),
        "beyond another": over(frames, beyond[1][:, best]),
    }


@torch.no_grad()
def by_relatives() -> many.Run:
    """Does the head of ``by_contrast`` find what says the meaning, or what is related?

    Returns:
        found: in ``FRAMES`` with one clue, intervals over ``AMBIGUOUS`` words of how
            often the head's largest weight, among the words before the last, lies on
            the clue: from the "word", from one of one meaning that means the same as
            the clue says ("same"), from one that means the other ("other"), and from
            the next ambiguous word ("another").
    """
    model, (layer, head) = first_blocks(smollm2()[0], RELATED[0] + 1), RELATED
    names, rows = list(AMBIGUOUS), []
    for number, (word, senses) in enumerate(AMBIGUOUS.items()):
        nouns = nouns_of(word, "testing")
        own = [sense.relatives[0] for sense in senses]
        asking = {
            "word": [word, word],
            "same": own,
            "other": own[::-1],
            "another": [names[(number + 1) % len(names)]] * 2,
        }
        found = {}
        for kind, both in asking.items():
            last = tokens(*both).repeat_interleave(len(nouns) // 2, dim=0)
            hits = []
            for frame in FRAMES[5:8]:
                before = prefixes(frame, nouns)
                _, weights = model(torch.cat([before, last], 1), return_weights=True)
                row = weights[layer][
                    :, head, -1, 1:-1
                ]  # not the first token, or itself
                hits.append((row.argmax(dim=1) == noun_in(before) - 1).float().mean())
            found[kind] = float(torch.stack(hits).mean())
        rows.append(found)
    return {kind: interval([row[kind] for row in rows]) for kind in rows[0]}


def asked_by(word: str, pair: Pair) -> Pair:
    """The same sentence with another word in the place of the one that asks."""
    words = [*pair.words]
    words[pair.asks] = word
    return pair._replace(words=tuple(words))


def _hits(name: str, some: list[Pair]) -> Tensor:
    """Whether the head's largest weight lies on the target (N,), 1 or 0."""
    model, tokenizer = smollm2() if name == "smollm2" else minilm()
    layer, head = HEADS[name]
    number = layer * model.config.num_heads + head
    rows = on_words(model, tokenizer, name == "smollm2", some)
    hits = [
        float(row[number].argmax() == one.target)
        for row, one in zip(rows, some, strict=True)
    ]
    return torch.tensor(hits)
