"""What is missed without some heads of the circuit, and what the others do then.

Source: Wang et al. 2022, section 3.4 (heads that take over the job of others).
"""

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.circuit_ablation import LOOKING, OTHERS
from experiments.real_model.heads import Head, drawn, features, without
from experiments.real_model.prefixes import streams
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, Prompts, direct_effect, prompts
from experiments.real_model.two_prompts import (
    MOVERS,
    Direction,
    over_frames,
)
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, watched

CROSSING: Head = (23, 3)
DRAWS = 3
OTHER_MOVERS: tuple[Head, ...] = ((23, 4), (23, 5), (23, 6), (23, 8))
# Heads that are switched off together, and as many others of their layers.
SETS: dict[str, tuple[tuple[Head, ...], tuple[Head, ...]]] = {
    "23.3": ((CROSSING,), ((23, 4),)),
    "19.2 and 20.0": (LOOKING, OTHERS[0]),
    "name movers": (MOVERS, OTHER_MOVERS),
}


def switches(half: str, *, count: int = 8) -> many.Run:
    """What the lead of the right name comes to with some heads off, and why.

    Each prompt is read with either of its names as the one that gives, so that what the
    model thinks of a name cancels. Heads that are off give a context of zeros.

    Returns:
        found: a dict of means and intervals over frames: the lead with "all heads",
            without each of ``SETS`` and without its "others"; by how much the right
            name is "named" there, above the mean over names; and by how much "more" is
            "lost" of both than without the "others", frame by frame.
    """
    model, _ = smollm2()
    rows = []
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        off: dict[str, tuple[Head, ...]] = {"all heads": ()}
        for name, (heads, others) in SETS.items():
            off |= {f"without {name}": heads, f"without others than {name}": others}
        row = {name: lead(model, of, heads) for name, heads in off.items()}
        row |= {
            f"named, {name}": named(model, of, heads) for name, heads in off.items()
        }
        row |= {
            f"{what}more lost without {name}": row[f"{what}without others than {name}"]
            - row[f"{what}without {name}"]
            for what in ("", "named, ")
            for name in SETS
        }
        rows.append(row)
    return over_frames(rows)


def both_roads(half: str, *, count: int = 8) -> many.Run:
    """What 23.3 and the two that steer the movers bring together; and 24.4's answer.

    Returns:
        found: a dict of means and intervals over frames. In logits that a swap at the
            end moves: the "swing", of the whole prompt; the "long road" (19.2 and
            20.0), what of it goes "by way of movers" and what goes on where they are
            held; the "short road" (23.3); "both" at once, their "share" of the swing,
            and "both, drawn 0" and so on, of as many others of their layers. What 24.4
            adds to the right name above the mean over names: "24.4, all on", with the
            "movers off" and with "others off" instead; and the "change" of either.
    """
    model, _ = smollm2()
    roads = (*LOOKING, CROSSING)
    draws = [drawn(roads, random.Random(seed)) for seed in range(DRAWS)]
    rows = []
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        way = Direction(model, of, of.swapped, of.clean)
        last = [way.target.shape[1] - 1]

        def moved(
            heads: Sequence[Head],
            held: Sequence[Head] = (),
            way: Direction = way,
            last: Sequence[int] = last,
        ) -> float:
            swap, kept = (
                [Part("context", *head) for head in of_them]
                for of_them in (heads, held)
            )
            return way.moved(way.share(swap, last, kept))

        row = {
            "swing": abs(float(way.whole)),
            "long road": moved(LOOKING),
            "long road, movers held": moved(LOOKING, MOVERS),
            "short road": moved([CROSSING]),
            "both": moved(roads),
            "both, share": way.share([Part("context", *one) for one in roads], last),
        }
        row["by way of movers"] = row["long road"] - row["long road, movers held"]
        row |= {f"both, drawn {i}": moved(heads) for i, heads in enumerate(draws)}
        for name, heads in (("movers", MOVERS), ("others", OTHER_MOVERS)):
            row[f"24.4, {name} off"] = raised(model, of, (24, 4), heads)
        row["24.4, all on"] = raised(model, of, (24, 4))
        for name in ("movers", "others"):
            change = row[f"24.4, {name} off"] - row["24.4, all on"]
            row[f"24.4, change, {name} off"] = change
        rows.append(row)
    return over_frames(rows)


def raised(
    model: TransformerLM, of: Prompts, head: Head, off: tuple[Head, ...] = ()
) -> float:
    """What a head adds to the right name above the mean over names, with some off."""
    layer, found = Part("context", head[0]), []
    for ids, right in ((of.clean, of.answer), (of.swapped, of.subject)):
        with torch.no_grad(), without(model, dict.fromkeys(off, 0.0)):
            with watched(model, [layer]) as given:
                model(ids)
            end = streams(model, ids, -1)[:, -1]
            context = given[layer][:, -1, features(model, head[1])]
            logits = direct_effect(model, context, head, end)
        found.append(of.above_others(logits, right))
    return float(torch.cat(found).mean())


def both_ways(of: Prompts) -> list[tuple[Tensor, float]]:
    """Prompts with either name as the giver, and the sign of their difference."""
    return [(of.clean, 1.0), (of.swapped, -1.0)]


def lead(model: TransformerLM, of: Prompts, heads: tuple[Head, ...] = ()) -> float:
    """By how many logits the right name leads, with some heads off."""
    with torch.no_grad(), without(model, dict.fromkeys(heads, 0.0)):
        leads = [sign * of.difference(model(ids)) for ids, sign in both_ways(of)]
    return float(torch.cat(leads).mean())


def named(model: TransformerLM, of: Prompts, heads: tuple[Head, ...] = ()) -> float:
    """The right name's logit above the mean over all names, with some heads off."""
    with torch.no_grad(), without(model, dict.fromkeys(heads, 0.0)):
        above = [
            of.above_others(model(ids)[:, -1], right)
            for ids, right in ((of.clean, of.answer), (of.swapped, of.subject))
        ]
    return float(torch.cat(above).mean())
