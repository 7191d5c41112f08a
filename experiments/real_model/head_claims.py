"""Is there a head for the subject, one for grammar, one for meaning?

What books tell of heads, as tests: on the sentences of ``helpers.text.relations``, does
a head give most of its weight, among the other words, to the one that belongs to the
word that asks? Beside heads that always look equally far back, and shuffled sentences.

Source: Clark et al. 2019, section 4.2 (BERT's heads, beside fixed offsets); Voita et
al. 2019, section 5.2 (translation).
"""

import random
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.heads import head_name
from experiments.real_model.intervals import over
from experiments.real_model.pretrained_models import minilm, smollm2
from experiments.real_model.reading import weights_of
from helpers.models.encoder import TransformerEncoder
from helpers.models.language_model import TransformerLM
from helpers.text import relations
from helpers.text.relations import BEHIND, CLUES, RELATIONS, Pair
from helpers.text.subwords import SubwordTokenizer

PLAN: list[many.Settings] = [
    {"model": "smollm2", "start": True},
    {"model": "smollm2", "start": False},
    {"model": "minilm", "start": False},
]
EACH = 20  # sentences of each of six templates: 120 a half and relation
TURNED = {
    "subject to verb": "verb to subject",
    "verb to object": "object to verb",
    "noun to adjective": "adjective to noun",
}
SOURCE = "I go to the bank to deposit money"
Halves = list[list[Pair]]


def measure(settings: many.Settings, *, each: int = EACH) -> many.Run:
    """How well the heads of one model find what belongs to a word.

    Args:
        settings: a dict of the "model", "smollm2" or "minilm", and whether the former
            reads its "start" token first.
        each: sentences of a template.

    Returns:
        run: "relations", a dict from relations to what ``of_relation`` says; "across",
            how often each one's best head finds the target of all of them, on half 1;
            and, for MiniLM, "source": in how many heads the words of ``SOURCE`` look at
            what is told of them.
    """
    model, tokenizer = smollm2() if settings["model"] == "smollm2" else minilm()
    reader = (model, tokenizer, settings["start"])
    asked = {
        name: [relations.sentences(own, half, each) for half in (0, 1)]
        for name, own in RELATIONS.items()
    }
    if settings["model"] == "minilm":
        for name, own in TURNED.items():
            asked[name] = [[one.turned() for one in half] for half in asked[own]]
        asked["two meanings to clue behind"] = [
            relations.sentences(BEHIND, half, each) for half in (0, 1)
        ]
    found: dict[str, Any] = {}
    hits: dict[str, Tensor] = {}
    best: dict[str, int] = {}
    for name, halves in asked.items():
        found[name], best[name], hits[name] = of_relation(reader, halves)
    across = {
        name: {of: round(float(hits[of][:, head].mean()), 4) for of in asked}
        for name, head in best.items()
    }
    run: many.Run = {"relations": found, "across": across}
    if settings["model"] == "minilm":
        run["source"] = _source(reader)
    return run


def on_words(
    model: TransformerLM | TransformerEncoder,
    tokenizer: SubwordTokenizer,
    start: bool,
    some: Sequence[Pair],
) -> list[Tensor]:
    """The weights of the word that asks on all words, in all heads.

    Args:
        model: SmolLM2 or MiniLM.
        tokenizer: the model's.
        start: put the start token before each sentence.
        some: the sentences.

    Returns:
        weights: a list of (heads, words), 0 on the word that asks, on what SmolLM2
            can't see, and on its first word where no start token stands before it.
    """
    before = int(start or not isinstance(model, TransformerLM))
    rows: list[Tensor] = [torch.empty(0)] * len(some)
    texts = [one.text for one in some]
    for number, _, own in weights_of(model, tokenizer, texts, start=start):
        pair = some[number]
        row = own[:, pair.asks + before, before : before + len(pair.words)].clone()
        row[:, pair.asks] = 0.0
        if not before:
            row[:, 0] = 0.0
        rows[number] = row
    return rows


def hits_of(some: Sequence[Pair], weights: Sequence[Tensor]) -> Tensor:
    """Whether the largest weight lies on the target (N, heads), 1 or 0."""
    both = zip(some, weights, strict=True)
    return torch.stack([(row.argmax(dim=1) == one.target).float() for one, row in both])


def of_relation(
    reader: tuple[Any, Any, bool], halves: Halves
) -> tuple[dict[str, Any], int, Tensor]:
    """How well the best head of half 0 finds the target.

    Args:
        reader: a model, its tokenizer, and whether it reads a start token.
        halves: the sentences.

    Returns:
        found: the "head"; its rate in both halves, over templates, its mean weight on
            the target, and how often that is more than on the "distractor"; the rates
            of the best fixed "offset" and the best fixed "place", chosen on half 0, and
            of the one that would be best on half 1 ("highest"); for two meanings, how
            often the clue gets more than the distractor where another word of two
            meanings asks ("mismatched"), and how much less often that is;
            the best head with "shuffled" sentences, chosen anew on those of half 0, and
            the same head on them; the "mean" and the highest rate over heads, and how
            many heads lie "above the offset" by 0.1, all on half 1.
        best: the number of that head.
        hits: (N, heads), whether the largest weight lies on the target, on half 1.
    """
    weights = [on_words(*reader, half) for half in halves]
    hits = [hits_of(*one) for one in zip(halves, weights, strict=True)]
    best = int(hits[0].mean(dim=0).argmax())
    templates = [[one.template for one in half] for half in halves]
    model, per_layer = reader[0], reader[0].config.num_heads
    found: dict[str, Any] = {"head": head_name(divmod(best, per_layer))}
    for half in (0, 1):
        found[f"half {half}"] = over(templates[half], hits[half][:, best])
    on_target = [
        row[best, one.target] for one, row in zip(halves[1], weights[1], strict=True)
    ]
    found["weight"] = over(templates[1], torch.stack(on_target))
    if halves[1][0].distractor is not None:
        more = _before_distractor(halves[1], weights[1], best)
        found["before the distractor"] = over(templates[1], more)
    if halves[1][0].words[halves[1][0].asks] in CLUES[1]:
        others = [one.mismatched() for one in halves[1]]
        mismatched = _before_distractor(others, on_words(*reader, others), best)
        found["mismatched"] = over(templates[1], mismatched)
        found["beyond mismatched"] = over(templates[1], more - mismatched)
    for name, of in (("offset", _offset), ("place", _place)):
        told = [[of(one) for one in half] for half in halves]
        choice, highest = (max(set(one), key=one.count) for one in told)
        rate = torch.tensor([float(one == choice) for one in told[1]])
        found[name] = {
            "chosen": choice,
            "half 1": over(templates[1], rate),
            "highest": round(told[1].count(highest) / len(told[1]), 4),
        }
    generator = random.Random(0)
    causal = isinstance(model, TransformerLM)
    mixed = [
        [one.shuffled(generator, before=causal) for one in half] for half in halves
    ]
    mixed_hits = [hits_of(half, on_words(*reader, half)) for half in mixed]
    anew = int(mixed_hits[0].mean(dim=0).argmax())
    found["shuffled"] = {
        "same head": over(templates[1], mixed_hits[1][:, best]),
        "head": head_name(divmod(anew, per_layer)),
        "best": over(templates[1], mixed_hits[1][:, anew]),
    }
    rates = hits[1].mean(dim=0)
    found["mean"] = round(float(rates.mean()), 4)
    found["highest"] = round(float(rates.max()), 4)
    above = rates > found["offset"]["half 1"][0] + 0.1
    found["above the offset"] = int(above.sum())
    return found, best, hits[1]


def _before_distractor(
    some: Sequence[Pair], weights: Sequence[Tensor], head: int
) -> Tensor:
    """Whether a head gives the target more than the distractor; nan without one."""
    more = [
        torch.nan
        if one.distractor is None
        else float(row[head, one.target] > row[head, one.distractor])
        for one, row in zip(some, weights, strict=True)
    ]
    return torch.tensor(more)


def _offset(pair: Pair) -> int:
    return pair.target - pair.asks


def _place(pair: Pair) -> int:
    return pair.target


def _source(reader: tuple[Any, Any, bool]) -> dict[str, int]:
    """In how many heads of MiniLM a word's largest weight lies on what is told."""
    words = tuple(SOURCE.split())
    told = {"I to go": (0, (1,)), "bank to deposit or money": (4, (6, 7))}
    found = {}
    for name, (asks, targets) in told.items():
        (row,) = on_words(*reader, [Pair(words, asks, targets[0], None, 0)])
        found[name] = sum(int(one) in targets for one in row.argmax(dim=1))
    return found
