"""From prompt to answer: who receives, where two names are told and one comes again.

"When Mary and John went to the store, John gave a drink to" wants "Mary". Which layers,
positions and heads carry that, by activation patching (from the prompt in which the
other name comes again, and back), path patching, direct logit attribution, and by
ablation of everything else. Heads are chosen on the first half of frames and names.

Source: Wang et al. 2022 (the task, the method and the circuit of GPT-2 small).
"""

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.circuit_ablation import ablation, by_path, falls
from experiments.real_model.circuit_arrows import arrows
from experiments.real_model.circuit_beginning import beginning
from experiments.real_model.circuit_behaviour import behaviour
from experiments.real_model.circuit_controls import controls
from experiments.real_model.circuit_crossing import crossing
from experiments.real_model.circuit_movers import movers
from experiments.real_model.circuit_switches import both_roads, switches
from experiments.real_model.heads import Head, features, head_name
from experiments.real_model.intervals import interval, rounded
from experiments.real_model.prefixes import streams
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, Prompts, direct_effect, prompts
from experiments.real_model.two_prompts import (
    AT_AGAIN,
    AT_END,
    Direction,
    directions,
    over_frames,
)
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part

PLAN: list[many.Settings] = [
    {"what": "behaviour", "start": False},
    {"what": "behaviour", "start": True},
    {"what": "streams"},
    {"what": "scan", "place": "end"},
    {"what": "scan", "place": "again"},
    {"what": "heads"},
    {"what": "paths"},
    {"what": "switches"},
    {"what": "both roads"},
    {"what": "ablation"},
    {"what": "beginning"},
    {"what": "controls"},
    {"what": "movers"},
    {"what": "crossing"},
    {"what": "falls"},
    {"what": "arrows"},
]
LOOKS = (0, 6, 12, 18, 20, 22, 24, 27)  # dense where the streams move


def measure(settings: many.Settings) -> many.Run:
    """What one kind of measurement finds; each lists what it returns.

    Args:
        settings: a dict of "what", and of what else ``PLAN`` has beside it.
    """
    if settings["what"] == "behaviour":
        return {half: behaviour(half, start=settings["start"]) for half in HALVES}
    if settings["what"] == "scan":
        return scan(settings["place"])
    kinds: dict[str, Callable[[str], many.Run]] = {
        "streams": by_stream,
        "heads": by_head,
        "paths": by_path,
        "switches": switches,
        "both roads": both_roads,
        "ablation": ablation,
        "beginning": beginning,
        "controls": controls,
    }
    later = {
        "movers": movers,
        "crossing": crossing,
        "falls": falls,
        "arrows": arrows,
    }
    if settings["what"] in later:  # asked of what nothing was chosen on
        return {"testing": later[settings["what"]]("testing")}
    return {half: kinds[settings["what"]](half) for half in HALVES}


def by_stream(half: str, *, count: int = 4) -> many.Run:
    """The share of the difference that a layer's stream carries, by position.

    Returns:
        found: a dict of "layers", and by direction, "into swapped" (the clean stream is
            put into the swapped prompt) and "into clean", of dicts from positions
            ("again", "between", "end") to lists of mean and interval over frames; and
            the same in logits, "logits into swapped" and "logits into clean".
    """
    model, _ = smollm2()
    layers = LOOKS
    rows: dict[str, dict[str, list[list[float]]]] = {}
    for frame in HALVES[half][0]:
        for way, one in directions(model, prompts(half, frame, count)).items():
            last = one.target.shape[1] - 1
            places = {"again": [0], "between": list(range(1, last)), "end": [last]}
            for name, place in places.items():
                shares = [one.share([Part("stream", layer)], place) for layer in layers]
                for key, found in (
                    (way, shares),
                    (f"logits {way}", list(map(one.moved, shares))),
                ):
                    rows.setdefault(key, {}).setdefault(name, []).append(found)
    return {
        "layers": list(layers),
        **{
            way: {
                name: [interval(column) for column in zip(*several, strict=True)]
                for name, several in of.items()
            }
            for way, of in rows.items()
        },
    }


def scan(place: str, *, half: str = "choosing", count: int = 6) -> many.Run:
    """The share of the difference that each head brings at one position, by itself.

    Returns:
        shares: (num_layers, H) as nested lists, the mean over frames (three of
            them at the second mention, where all that follows is read anew); "low" and
            "high", the least and the most of a frame.
    """
    model, _ = smollm2()
    at_end = place == "end"
    # Streams say where nothing can be found: before layer 12 at the end, and from layer
    # 25 on at the second mention.
    layers = range(12, model.config.num_layers) if at_end else range(25)
    H = model.config.num_heads
    several = []
    for frame in HALVES[half][0][: None if at_end else 3]:
        of = prompts(half, frame, count)
        way = Direction(model, of, of.clean, of.swapped)
        at = [way.target.shape[1] - 1 if at_end else 0]
        rows = torch.zeros(model.config.num_layers, H)
        for layer, head in itertools.product(layers, range(H)):
            rows[layer, head] = way.share([Part("context", layer, head)], at)
        several.append(rows)
    all_rows = torch.stack(several)
    return {
        name: rounded(rows)
        for name, rows in (
            ("shares", all_rows.mean(dim=0)),
            ("low", all_rows.amin(dim=0)),
            ("high", all_rows.amax(dim=0)),
        )
    }


def by_head(half: str, *, count: int = 8) -> many.Run:
    """What each head of the circuit looks at, adds and carries, beside its layer's.

    Returns:
        found: a dict from heads, such as "23.3", to mean and interval over frames of
            the weight, from the position at which it works, "on answer" and "on
            subject" (where they first stand), "behind subject" (one token), "on again",
            "on start" and "on itself"; what it adds "to answer" and "to subject", their
            logits above the mean over names, by itself, and "direct", the difference;
            the shares that it carries "into swapped" and "into clean", the latter in
            "logits", too, and "rest", the first of these for the mean of the other
            heads of its layer.
    """
    model, _ = smollm2()
    rows: dict[str, list[dict[str, float]]] = {}
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        ways = directions(model, of)
        with torch.no_grad():
            _, weights = model(of.clean, return_weights=True)
        end = streams(model, of.clean, -1)[:, -1]
        last = of.clean.shape[1] - of.again - 1
        others: dict[int, float] = {}  # by layer
        working = [(one, 0) for one in AT_AGAIN] + [(one, last) for one in AT_END]
        for head, place in working:
            found = {
                **looks(of, weights[head[0]][:, head[1]], of.again + place),
                **{
                    way: one.share([Part("context", *head)], [place])
                    for way, one in ways.items()
                },
            }
            found["logits"] = ways["into clean"].moved(found["into clean"])
            if place:
                found |= adds(model, of, ways["into swapped"], head, end)
            if head[0] not in others:
                others[head[0]] = rest(ways["into swapped"], head, place)
            found["rest"] = others[head[0]]
            rows.setdefault(head_name(head), []).append(found)
    return {one: over_frames(several) for one, several in rows.items()}


def looks(of: Prompts, weights: Tensor, place: int) -> dict[str, float]:
    """A head's weights (B, T, T) from a position on those that count."""
    B = torch.arange(len(weights))
    subject, answer = of.place(of.subject), of.place(of.answer)
    places = {
        "on answer": answer,
        "on subject": subject,
        "behind subject": subject + 1,
        "on again": torch.full_like(subject, of.again),
        "on start": torch.zeros_like(subject),
        "on itself": torch.full_like(subject, place),
    }
    return {one: float(weights[B, place, at].mean()) for one, at in places.items()}


def adds(
    model: TransformerLM, of: Prompts, way: Direction, head: Head, end: Tensor
) -> dict[str, float]:
    """Direct logit attribution of a head at the end of the clean prompts."""
    context = way.given[Part("context", head[0])][:, -1, features(model, head[1])]
    with torch.no_grad():
        added = direct_effect(model, context, head, end)
    both = [
        float(of.above_others(added, one).mean()) for one in (of.answer, of.subject)
    ]
    return {
        "to answer": both[0],
        "to subject": both[1],
        "direct": both[0] - both[1],
    }


def rest(way: Direction, head: Head, place: int) -> float:
    """The mean share of a layer's heads outside of the circuit."""
    layer = head[0]
    chosen = AT_END if place else AT_AGAIN
    heads = [
        one for one in range(way.model.config.num_heads) if (layer, one) not in chosen
    ]
    shares = [way.share([Part("context", layer, one)], [place]) for one in heads]
    return sum(shares) / len(shares)
