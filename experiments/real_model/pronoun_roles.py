"""Which noun does "it" look at where no verb decides: its place, its role, its kind?"""

import random
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.heads import drawn, head_name
from experiments.real_model.intervals import interval
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.pronoun_frames import KINDS, PERSONS, ROLES, THINGS
from experiments.real_model.pronoun_heads import means_of, switched
from experiments.real_model.reading import batches, weights_of

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
            which heads' lies above a tenth on half 1. "needed": what ``_needed`` says.
    """
    by_role = {
        role: {f"half {half}": one_role(frames[half], half, each) for half in (0, 1)}
        for role, frames in ROLES.items()
    }
    return {"roles": by_role, "kinds": _kinds(each), "needed": _needed(each)}


def one_role(frames: Sequence[str], half: int, each: int) -> dict[str, Any]:
    """Which noun of some frames 13.8 looks at from their last word.

    Args:
        frames: sentences with two {}.
        half: which nouns.
        each: sentences of a frame.

    Returns:
        found: as under "roles" of ``roles``, for one role and half.
    """
    generator = random.Random(half)
    rows = []
    for frame in frames:
        pairs = [generator.sample(THINGS[half].split(), 2) for _ in range(each)]
        texts = [frame.format(*pair) for pair in pairs]
        rows.append(last_on_words(texts, pairs)[:, FOUND])  # (each, 2)
    first = [float((one[:, 0] > one[:, 1]).float().mean()) for one in rows]
    return {
        "first": interval(first),
        "by frame": [round(one, 4) for one in first],
        "on first": interval([float(one[:, 0].mean()) for one in rows]),
        "on second": interval([float(one[:, 1].mean()) for one in rows]),
    }


def _kinds(each: int) -> dict[str, Any]:
    weights = [_by_kind(half, each) for half in (0, 1)]  # (frames, heads, it/he, 2)
    gains = [_gains(one) for one in weights]
    best = int(gains[0].mean(dim=0).argmax())
    found: dict[str, Any] = {}
    for name, head in (("best", best), ("found", FOUND)):
        found[name] = {"head": head_name(divmod(head, 9))}
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
        head_name(divmod(one, 9)) for one in (mean_gains > 0.1).nonzero()[:, 0].tolist()
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


def _needed(each: int) -> dict[str, Any]:
    """Whether what follows needs the heads that know the kind.

    Asked is "Anna liked it, the": by how much the logit of the thing leads that of the
    person behind "it", and that of the person the other's behind "he".

    Returns:
        found: for each half, an interval over frames for the "lead", half of the sum of
            both, and how often each is above 0 ("right"); and what is lost without each
            head of the layer of 13.8, and without the ten heads that differ most on
            half 0 ("ten"), beside random sets of the same layers.
    """
    means = means_of(1)
    ten = [
        divmod(one, 9)
        for one in _gains(_by_kind(0, each)).mean(dim=0).topk(10).indices.tolist()
    ]
    found: dict[str, Any] = {"ten": list(map(head_name, ten))}
    for half in (0, 1):
        frames = _asked(half, each // 2)
        whole = _leads(frames)
        own: dict[str, Any] = {
            "lead": interval(whole.mean(dim=(1, 2)).tolist()),
            "right": interval((whole > 0).float().mean(dim=(1, 2)).tolist()),
        }
        sets = {f"13.{head}": [(13, head)] for head in range(9)} | {"ten": ten}
        for name, heads in sets.items():
            for kind, instead in (("mean", means), ("zero", None)):
                if kind == "zero" and name not in ("13.8", "ten"):
                    continue
                with switched(heads, instead):
                    lost = whole - _leads(frames)
                own[f"{name} {kind}"] = interval(lost.mean(dim=(1, 2)).tolist())
        generator = random.Random(0)
        others = []
        for _ in range(10):
            with switched(drawn(ten, generator), means):
                others.append(float((whole - _leads(frames)).mean()))
        own["random mean"] = interval(others)
        own["random, highest"] = round(max(others), 4)
        found[f"half {half}"] = own
    return found


def _gains(weights: Tensor) -> Tensor:
    """What a thing gains from "it", and a person from "he" (frames, heads)."""
    (it_thing, it_person), (he_thing, he_person) = weights.permute(2, 3, 0, 1)
    return (it_thing - he_thing + he_person - it_person) / 2


Asked = list[list[tuple[str, str, str]]]  # for each frame: text, what is right, other


def _asked(half: int, each: int) -> Asked:
    """Sentences that go on with "the", for "it" and "he" in turn."""
    generator = random.Random(half)
    frames: Asked = []
    for frame, it, he in KINDS[half]:
        rows = []
        for _ in range(each):
            thing = generator.choice(THINGS[half].split())
            person = generator.choice(PERSONS[half].split())
            told = frame.format(thing=thing, person=person)
            rows += [
                (f"{told} {it}, the", thing, person),
                (f"{told} {he}, the", person, thing),
            ]
        frames.append(rows)
    return frames


def _leads(frames: Asked) -> Tensor:
    """The logit of what is right minus the other's (frames, each, 2)."""
    model, tokenizer = smollm2()
    rows = [row for frame in frames for row in frame]
    leads = torch.empty(len(rows))
    for numbers, ids in batches([row[0] for row in rows], tokenizer, start=True):
        with torch.no_grad():
            logits = model(ids)[:, -1]
        for number, own in zip(numbers, logits, strict=True):
            right, other = (tokenizer.encode(f" {one}")[0] for one in rows[number][1:])
            leads[number] = own[right] - own[other]
    return leads.view(len(frames), -1, 2)


def last_on_words(texts: Sequence[str], words: Sequence[Sequence[str]]) -> Tensor:
    """The weights of SmolLM2's last token on some words (N, heads, words).

    Args:
        texts: N texts, read behind a start token.
        words: for each, some of its words that are one token.
    """
    model, tokenizer = smollm2()
    rows: list[Tensor] = [torch.empty(0)] * len(texts)
    for number, ids, own in weights_of(model, tokenizer, texts, start=True):
        at = [ids.index(tokenizer.encode(f" {word}")[0]) for word in words[number]]
        rows[number] = own[:, -1, at]
    return torch.stack(rows)
