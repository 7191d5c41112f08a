"""Whether a word's vector comes to depend on its neighbours: two meanings of a word.

Ten words of two meanings stand in frames that fit both, and one noun before them (or
behind them) tells which is meant. What is fitted is fitted on the first half of frames
and nouns; the record has the numbers of a fit within that half ("choosing"), and those
of the whole half's fit on other frames with other nouns ("testing"). The same is asked
of words of one meaning in the same sentences, because any word's vector takes something
from its neighbours.

Source: Ethayarajh 2019 (vectors of a word in many contexts); Wiedemann et al. 2019
(nearest neighbours by meaning); Geva et al. 2023, section 5 (attention knockout).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model import (
    two_meanings_alone,
    two_meanings_heads,
    two_meanings_rest,
    two_meanings_sides,
    two_meanings_steering,
)
from experiments.real_model.intervals import interval, rounded
from experiments.real_model.meaning_measures import Vectors, apart, right, shuffled, way
from experiments.real_model.prefixes import after, read, streams
from experiments.real_model.pretrained_models import minilm, smollm2
from experiments.real_model.reading import ids_of, single_tokens
from helpers.text.ambiguous_words import FRAMES, PLAIN_WORDS, WORDS
from helpers.text.subwords import SubwordTokenizer

PLAN: list[many.Settings] = [
    {"model": "smollm2", "start": False},
    {"model": "smollm2", "start": True},
    {"model": "minilm", "clue": "before"},
    {"model": "minilm", "clue": "behind"},
    {"model": "smollm2", "what": "heads"},
    {"model": "smollm2", "what": "alone"},
    {"model": "smollm2", "what": "steering"},
    {"model": "smollm2", "what": "sides"},
    {"model": "smollm2", "what": "rest"},
]
HALVES = (slice(0, 5), slice(0, 6)), (slice(5, 10), slice(6, 12))  # frames, clues
WITHIN = (slice(0, 3), slice(0, 3)), (slice(3, 5), slice(3, 6))  # of the first half


def measure(settings: many.Settings) -> many.Run:
    """How far the two meanings lie apart in each layer, or what brings it about.

    Args:
        settings: a dict of the "model"; for SmolLM2 whether a "start" token stands
            first; for MiniLM whether the "clue" stands "before" or "behind" the word.

    Returns:
        run: a dict of "choosing" and "testing", each from what ``apart`` names and from
            "word", "plain", "relatives", "other" and "beyond plain", "beyond relatives"
            to a list over layers of mean and interval over the ten words; of "words",
            the same without intervals by word in the test half (neither with a start
            token, which is there for comparison); "shuffled" and "bag",
            the accuracy with shuffled labels and with the neighbours' embeddings alone;
            "natural" and "natural plain", the share of natural sentences, with the word
            and with "thing" in its place, on their meaning's side. With "heads" for
            "what", what ``two_meanings_heads`` finds; with "alone", "rest", "sides" or
            "steering", what the modules of these names do, as "testing".
    """
    if settings.get("what") == "alone":
        return {"testing": two_meanings_alone.measure()}
    if settings.get("what") == "steering":
        return {"testing": two_meanings_steering.measure()}
    if settings.get("what") == "sides":
        return {"testing": two_meanings_sides.measure()}
    if settings.get("what") == "rest":
        return {"testing": two_meanings_rest.measure()}
    if settings.get("what") == "heads":
        halves = two_meanings_heads.HALVES
        return {half: two_meanings_heads.measure(half) for half in halves}
    found = {word: of_word(settings, word) for word in WORDS}
    run: many.Run = {
        half: over_words([one[half] for one in found.values()])
        for half in ("choosing", "testing")
    }
    run["words"] = {
        word: {name: rounded(row["word"]) for name, row in one["testing"].items()}
        for word, one in found.items()
    }
    if settings.get("start"):  # there for comparison alone
        del run["choosing"], run["words"]
    for name in ("shuffled", "bag", "natural", "natural plain"):
        run[name] = of_columns(torch.stack([one[name] for one in found.values()]))
    return run


def of_word(settings: many.Settings, word: str) -> dict[str, Any]:
    """What one word and its controls give, each (num_layers + 1,)."""
    fit, test = (vectors_of(settings, word, half) for half in HALVES)
    within = {
        name: tuple(cut(one, part) for part in WITHIN) for name, one in fit.items()
    }
    found: dict[str, Any] = {
        "choosing": compare({name: (a, b) for name, (a, b) in within.items()}, word),
        "testing": compare(
            {name: (one, test[name]) for name, one in fit.items()}, word
        ),
        "shuffled": shuffled(fit[word], test[word], seed=word),
        "bag": right(*(bags(settings, word, half) for half in HALVES)),
    }
    for name, said in (("natural", word), ("natural plain", PLAIN_WORDS[0])):
        found[name] = in_natural(settings, word, said, fit[said])
    return found


def compare(
    pairs: Mapping[str, tuple[Vectors, Vectors]], word: str
) -> dict[str, dict[str, Tensor]]:
    """The word beside words of one meaning: by measure, and by kind of word."""
    relatives = [one for sense in WORDS[word] for one in sense.relatives]
    axis = way([pairs[one][0] for one in relatives])
    kinds = {
        "word": [word],
        "plain": list(PLAIN_WORDS),
        "relatives": relatives,
        "other": [other_than(word)],
    }
    found: dict[str, dict[str, Tensor]] = {}
    for kind, names in kinds.items():
        for name, rows in averaged([apart(*pairs[one], axis) for one in names]).items():
            found.setdefault(name, {})[kind] = rows
    for rows_of in found.values():
        for kind in ("plain", "relatives"):
            rows_of[f"beyond {kind}"] = rows_of["word"] - rows_of[kind]
    return found


def vectors_of(
    settings: many.Settings, word: str, half: tuple[slice, slice]
) -> dict[str, Vectors]:
    """Vectors of a word and of its controls in each layer, in the frames of a half."""
    names = [word, *PLAIN_WORDS, other_than(word)]
    names += [one for sense in WORDS[word] for one in sense.relatives]
    rows: dict[str, list[Tensor]] = {name: [] for name in names}
    for frame in FRAMES[half[0]]:
        for name, found in in_frame(
            settings, frame, clues_of(word, half), names
        ).items():
            rows[name].append(found.unflatten(0, (2, -1)))
    return {name: torch.stack(found, dim=1) for name, found in rows.items()}


def clues_of(word: str, half: tuple[slice, slice]) -> list[str]:
    """The nouns of a half, those of the first meaning first."""
    return [clue for sense in WORDS[word] for clue in sense.clues[half[1]]]


def in_frame(
    settings: many.Settings, frame: str, clues: Sequence[str], names: Sequence[str]
) -> dict[str, Tensor]:
    """Each name's vectors (clues, num_layers + 1, C) in one frame."""
    if settings["model"] == "minilm":
        encoder, tokenizer = minilm()
        found = {}
        for name in names:
            ids = minilm_ids(settings["clue"], frame, clues, name)
            own = tokenizer.encode(name)[1]
            found[name] = streams(encoder, ids, place_of(ids, own))
        return found
    model, tokenizer = smollm2()
    before = prefix_ids(tokenizer, frame, clues, start=settings["start"])
    lasts = single_tokens(names, tokenizer)[:, None]
    rows = after(model, read(model, before), before, lasts)
    return dict(zip(names, rows.unbind(1), strict=True))


def prefix_ids(
    tokenizer: SubwordTokenizer, frame: str, clues: Sequence[str], *, start: bool
) -> Tensor:
    """SmolLM2's ids of a frame up to the word, a row for each noun."""
    before = [frame.format(clue, "").rstrip() for clue in clues]
    return torch.tensor([ids_of(text, tokenizer, start=start) for text in before])


def minilm_ids(clue: str, frame: str, clues: Sequence[str], name: str) -> Tensor:
    """MiniLM's ids of whole sentences, with the noun before or behind the word."""
    _, tokenizer = minilm()
    pairs = [(one, name) if clue == "before" else (name, one) for one in clues]
    texts = [frame.format(*both) + "." for both in pairs]
    return torch.tensor([ids_of(one, tokenizer, start=False) for one in texts])


def place_of(ids: Tensor, own: int) -> int:
    """The position at which a token stands in all rows."""
    return int((ids == own).all(dim=0).nonzero()[-1])


def bags(settings: many.Settings, word: str, half: tuple[slice, slice]) -> Vectors:
    """The mean embedding of a word's neighbours, as vectors of one layer."""
    clues, rows = clues_of(word, half), []
    for frame in FRAMES[half[0]]:
        if settings["model"] == "minilm":
            model, tokenizer = minilm()
            ids = minilm_ids(settings["clue"], frame, clues, word)
            own = place_of(ids, tokenizer.encode(word)[1])
            ids = torch.cat([ids[:, :own], ids[:, own + 1 :]], dim=1)
            vectors = model.token_embedding(ids)
        else:
            lm, tokenizer = smollm2()
            ids = prefix_ids(tokenizer, frame, clues, start=False)
            vectors = lm.token_embedding(ids)
        rows.append(vectors.detach().mean(dim=1, keepdim=True).unflatten(0, (2, -1)))
    return torch.stack(rows, dim=1)


def in_natural(settings: many.Settings, word: str, said: str, fit: Vectors) -> Tensor:
    """How many natural sentences fall on their meaning's side of the frames'.

    The middle between the sides is that of the sentences: frames lie elsewhere.
    """
    rows = []
    for sense in WORDS[word]:
        for sentence in sense.natural:
            text = sentence.removesuffix(word) + said
            if settings["model"] == "minilm":
                encoder, tokenizer = minilm()
                ids = torch.tensor([ids_of(text + ".", tokenizer, start=False)])
                rows.append(streams(encoder, ids, -3))
            else:
                model, tokenizer = smollm2()
                start = settings["start"]
                ids = torch.tensor([ids_of(text, tokenizer, start=start)])
                rows.append(streams(model, ids, -1))
    axis = (fit[0] - fit[1]).mean(dim=(0, 1))
    along = (torch.cat(rows) * axis).sum(dim=-1)  # (6, layers)
    along = along - along.mean(dim=0)
    along[3:] *= -1
    return ((along.sign() + 1) / 2).mean(dim=0)


def other_than(word: str) -> str:
    """The next word of two meanings, in whose place it can stand."""
    names = list(WORDS)
    return names[(names.index(word) + 1) % len(names)]


def cut(vectors: Vectors, part: tuple[slice, slice]) -> Vectors:
    """Some frames and clues of them all."""
    frames, clues = part
    return vectors[:, frames, clues]


def averaged(several: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of each name's tensors."""
    return {
        name: torch.stack([one[name] for one in several]).mean(dim=0)
        for name in several[0]
    }


def over_words(several: Sequence[dict[str, dict[str, Tensor]]]) -> dict[str, Any]:
    """Mean and interval over words, by measure, kind and layer."""
    return {
        name: {
            kind: of_columns(torch.stack([one[name][kind] for one in several]))
            for kind in rows
        }
        for name, rows in several[0].items()
    }


def of_columns(rows: Tensor) -> list[list[float]]:
    """Mean and interval of each column of (words, layers)."""
    return [interval(column) for column in rows.T.tolist()]
