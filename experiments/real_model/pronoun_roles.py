"""Which noun does "it" look at where no verb decides: its place, its role, its kind?

The frames of half 0 were looked at first, those of half 1 written before they were run.
"""

import random
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.reading import batches, interval

# The first noun is the subject or object, the second stands behind a preposition; the
# same with the second first; a thing that does something to another; the same passive.
ROLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "object, preposition": (
        (
            "Tom put the {} behind the {}. Anna liked it",
            "We moved the {} near the {}. Tom found it",
            "Peter saw the {} on the {}. Anna liked it",
        ),
        (
            "Tom left the {} beside the {}. Mary knew it",
            "They carried the {} past the {}. David noticed it",
            "My sister kept the {} under the {}. Tom wanted it",
            "She noticed the {} with the {}. Peter needed it",
        ),
    ),
    "preposition, object": (
        (
            "Behind the {} Tom put the {}. Anna liked it",
            "Near the {} we saw the {}. Tom found it",
            "On the {} Peter placed the {}. Anna liked it",
        ),
        (
            "Beside the {} Tom left the {}. Mary knew it",
            "Past the {} they carried the {}. David noticed it",
            "Under the {} my sister kept the {}. Tom wanted it",
            "With the {} she noticed the {}. Peter needed it",
        ),
    ),
    "subject, object": (
        (
            "The {} touched the {}. Anna liked it",
            "The {} hid the {}. Anna liked it",
            "The {} damaged the {}. Tom found it",
        ),
        (
            "The {} covered the {}. Mary knew it",
            "The {} hit the {}. David noticed it",
            "The {} followed the {}. Tom wanted it",
            "The {} blocked the {}. Peter needed it",
        ),
    ),
    "subject, by": (
        (
            "The {} was touched by the {}. Anna liked it",
            "The {} was hidden by the {}. Anna liked it",
            "The {} was damaged by the {}. Tom found it",
        ),
        (
            "The {} was covered by the {}. Mary knew it",
            "The {} was hit by the {}. David noticed it",
            "The {} was followed by the {}. Tom wanted it",
            "The {} was blocked by the {}. Peter needed it",
        ),
    ),
}
# A person and a thing, in both orders; the words for the thing and for the person.
KINDS: tuple[tuple[tuple[str, str, str], ...], tuple[tuple[str, str, str], ...]] = (
    (
        ("The {person} bought the {thing}. Anna liked", "it", "him"),
        ("Near the {thing} the {person} waited. Anna liked", "it", "him"),
        ("The {person} carried the {thing} home. Then", "it", "he"),
        ("The {thing} was next to the {person}.", "It", "He"),
    ),
    (
        ("The {person} looked at the {thing}. Then", "it", "he"),
        ("Behind the {thing} stood the {person}. Anna liked", "it", "him"),
        ("The {thing} belonged to the {person}.", "It", "He"),
        ("The {person} needed the {thing}. Mary saw", "it", "him"),
        ("With the {thing} came the {person}. Mary forgot", "it", "him"),
        ("Tom talked to the {person} about the {thing}.", "It", "He"),
    ),
)
THINGS = (
    "bread cake pizza book letter hat coat shirt car truck guitar",
    "rice pie poem diary jacket suit wagon bike piano bell shrub",
)
PERSONS = (
    "teacher doctor farmer king soldier uncle",
    "father pilot judge prince sailor brother",
)
FOUND = 13 * 9 + 8
EACH = 20  # sentences of a frame, each with both words of KINDS


def roles(each: int = EACH) -> many.Run:
    """Which of two nouns one head looks at from "it", and which heads know its kind.

    Args:
        each: sentences of a frame.

    Returns:
        found: "roles", a dict from ``ROLES`` and halves to intervals over frames for
            head 13.8: how often the "first" noun gets more weight, and the mean weights
            on both. "kinds", for the head that differs most between "it" and "he" on
            half 0 ("best") and for 13.8 ("found"): the mean weights on the "thing" and
            the "person", from "it" and from "he"; beside them the mean difference, and
            how many heads' lies above a tenth on half 1.
    """
    return {"roles": _roles(each), "kinds": _kinds(each)}


def _roles(each: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for role, frames in ROLES.items():
        found[role] = {}
        for half in (0, 1):
            generator = random.Random(half)
            rows = []
            for frame in frames[half]:
                pairs = [
                    tuple(generator.sample(THINGS[half].split(), 2)) for _ in range(each)
                ]
                texts = [frame.format(*pair) for pair in pairs]
                rows.append(last_on_words(texts, pairs)[:, FOUND])  # (each, 2)
            first = [float((one[:, 0] > one[:, 1]).float().mean()) for one in rows]
            found[role][f"half {half}"] = {
                "first": interval(first),
                "by frame": [round(one, 4) for one in first],
                "on first": interval([float(one[:, 0].mean()) for one in rows]),
                "on second": interval([float(one[:, 1].mean()) for one in rows]),
            }
    return found


def _kinds(each: int) -> dict[str, Any]:
    weights = [_by_kind(half, each) for half in (0, 1)]  # (frames, heads, it/he, 2)
    # A thing gains from "it", and a person from "he".
    gains = [
        (one[:, :, 0, 0] - one[:, :, 1, 0] + one[:, :, 1, 1] - one[:, :, 0, 1]) / 2
        for one in weights
    ]  # (frames, heads)
    best = int(gains[0].mean(dim=0).argmax())
    found: dict[str, Any] = {}
    for name, head in (("best", best), ("found", FOUND)):
        found[name] = {"head": f"{head // 9}.{head % 9}"}
        for half in (0, 1):
            own = weights[half][:, head]
            found[name][f"half {half}"] = {
                f"{word} to {noun}": interval(own[:, i, j].tolist())
                for i, word in enumerate(("it", "he"))
                for j, noun in enumerate(("thing", "person"))
            } | {"gain": interval(gains[half][:, head].tolist())}
    found["mean gain"] = round(float(gains[1].mean()), 4)
    mean_gains = gains[1].mean(dim=0)
    found["above a tenth"] = [
        f"{one // 9}.{one % 9}" for one in (mean_gains > 0.1).nonzero()[:, 0].tolist()
    ]
    return found


def _by_kind(half: int, each: int) -> Tensor:
    """Mean weights on thing and person, from "it" and "he" (frames, heads, 2, 2)."""
    generator = random.Random(half)
    rows = []
    for frame, *words in KINDS[half]:
        pairs = [
            (
                generator.choice(THINGS[half].split()),
                generator.choice(PERSONS[half].split()),
            )
            for _ in range(each)
        ]
        told = [frame.format(thing=thing, person=person) for thing, person in pairs]
        both = [
            last_on_words([f"{one} {word}" for one in told], pairs).mean(dim=0)
            for word in words
        ]
        rows.append(torch.stack(both, dim=1))
    return torch.stack(rows)


def last_on_words(texts: list[str], words: list[tuple[str, ...]]) -> Tensor:
    """The weights of SmolLM2's last token on some words (N, heads, words).

    Args:
        texts: N texts, read behind a start token.
        words: for each, some of its words that are one token.
    """
    model, tokenizer = smollm2()
    rows: list[Tensor] = [torch.empty(0)] * len(texts)
    for numbers, ids in batches(texts, tokenizer, start=True):
        with torch.no_grad():
            _, layers = model(ids, return_weights=True)
        weights = torch.cat([one[:, :, -1] for one in layers], dim=1)  # (B, heads, T)
        for number, row, own in zip(numbers, weights, ids.tolist(), strict=True):
            at = [own.index(tokenizer.encode(f" {word}")[0]) for word in words[number]]
            rows[number] = row[:, at]
    return torch.stack(rows)
