"""What is missed without some heads of the circuit, and what the others do then.

Source: Wang et al. 2022, section 3.4 (heads that take over the job of others).
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.circuit_ablation import LOOKING, OTHERS
from experiments.real_model.heads import Head, features, without
from experiments.real_model.prefixes import streams
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, Prompts, direct_effect, prompts
from experiments.real_model.two_prompts import MOVERS, directions, over_frames
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, watched

CROSSING: Head = (23, 3)
OTHER_MOVERS: tuple[Head, ...] = ((23, 4), (23, 5), (23, 6), (23, 8))
# Heads that are switched off together, and as many others of their layers.
SETS: dict[str, tuple[tuple[Head, ...], tuple[Head, ...]]] = {
    "23.3": ((CROSSING,), ((23, 4),)),
    "19.2 and 20.0": (LOOKING, OTHERS[0]),
    "name movers": (MOVERS, OTHER_MOVERS),
    "19.2, 20.0 and name movers": ((*LOOKING, *MOVERS), (*OTHERS[0], *OTHER_MOVERS)),
}
Heads = Mapping[str, tuple[Head, ...]]
LAST: Heads = {"29.0": ((29, 0),), "29.1": ((29, 1),)}
ADDING: Heads = {"movers": MOVERS, "24.4": ((24, 4),), "23.3": (CROSSING,)}


def switches(half: str, *, count: int = 8) -> many.Run:
    """What the lead of the right name comes to with some heads off, and why.

    Each prompt is read with either of its names as the one that gives, so that what the
    model thinks of a name cancels. Heads that are off give a context of zeros.

    Returns:
        found: a dict of means and intervals over frames: the lead with "all heads",
            without each of ``SETS`` and without its "others", by how much the right
            name is "named" there, above the mean over names, and what the "movers",
            "24.4" and "23.3" add to the lead there; by how much "more" is "lost" of
            both than without the "others", frame by frame; the "size" of the stream at
            the end, with all heads and without the name movers; what ``swapped``
            returns; and of 23.3, the weight on the giver and what it adds to that name
            above the mean over names, where one of the two gives and where a "third"
            does.
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
        row |= {f"{name}, all on": one for name, one in added(model, of).items()}
        row |= {
            f"{name}, movers off": one for name, one in added(model, of, MOVERS).items()
        }
        for name, heads in off.items():
            adds = added(model, of, heads)
            row |= {f"{one}, {name}": adds[one] for one in ADDING}
        row |= swapped(model, of)
        for name, ids, giver in (
            ("one of the two", of.clean, of.subject),
            ("a third", of.third, of.stranger),
        ):
            row |= {
                f"{what}, {name}": one
                for what, one in crossed_out(model, of, ids, giver).items()
            }
        rows.append(row)
    return over_frames(rows)


def swapped(model: TransformerLM, of: Prompts) -> dict[str, float]:
    """What some heads bring at the end that give what they give in the other prompt.

    Returns:
        found: a dict of the share that the movers bring "together", and in logits, of
            "19.2 and 20.0", where all else answers to them, where the "movers" stay as
            they were, and where all "later heads" do.
    """
    way = directions(model, of)["into clean"]
    last = [way.target.shape[1] - 1]
    movers, looking = (
        [Part("context", *head) for head in heads] for heads in (MOVERS, LOOKING)
    )
    later = [
        Part("context", layer, head)
        for layer in range(max(LOOKING)[0] + 1, model.config.num_layers)
        for head in range(model.config.num_heads)
    ]
    found = {"together": way.share(movers, last)}
    for name, held in (("", ()), (", movers", movers), (", later heads", later)):
        moved = way.moved(way.share(looking, last, held))
        found[f"19.2 and 20.0 swapped{name}{' held' * bool(held)}"] = moved
    return found


def last_heads(half: str, *, count: int = 8) -> many.Run:
    """What two heads of the last layer add to the lead, with name movers on and off.

    Returns:
        found: a dict of means and intervals over frames, of ``LAST`` with "all on" and
            with "movers off", in logits, and how much "more" they add with movers off.
    """
    model, _ = smollm2()
    rows = []
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        on, off = (added(model, of, heads, LAST) for heads in ((), MOVERS))
        row = {f"{name}, all on": on[name] for name in LAST}
        row |= {f"{name}, movers off": off[name] for name in LAST}
        row |= {f"{name}, more": off[name] - on[name] for name in LAST}
        rows.append(row)
    return over_frames(rows)


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


def added(
    model: TransformerLM,
    of: Prompts,
    heads: tuple[Head, ...] = (),
    asked: Heads = ADDING,
) -> dict[str, float]:
    """What some heads add to the lead by themselves, with others off.

    Returns:
        found: a dict from the names of ``asked`` to logits; "size", of the stream.
    """
    found: dict[str, list[Tensor]] = {name: [] for name in [*asked, "size"]}
    needed = sorted({layer for several in asked.values() for layer, _ in several})
    layers = [Part("context", layer) for layer in needed]
    for ids, sign in both_ways(of):
        with torch.no_grad(), without(model, dict.fromkeys(heads, 0.0)):
            with watched(model, layers) as given:
                model(ids)
            end = streams(model, ids, -1)[:, -1]
        found["size"].append(end.square().mean(dim=-1).sqrt())
        for name, several in asked.items():
            total = end.new_zeros(len(ids))
            for layer, head in set(several) - set(heads):
                context = given[Part("context", layer)][:, -1, features(model, head)]
                with torch.no_grad():
                    logits = direct_effect(model, context, (layer, head), end)
                total += sign * of.difference(logits[:, None])
            found[name].append(total)
    return {name: float(torch.cat(one).mean()) for name, one in found.items()}


def crossed_out(
    model: TransformerLM, of: Prompts, ids: Tensor, giver: Tensor
) -> dict[str, float]:
    """What 23.3 looks at and does at the end, where somebody gives, (B,) tokens."""
    part = Part("context", *CROSSING)
    with torch.no_grad():
        with watched(model, [part]) as given:
            _, weights = model(ids, return_weights=True)
        end = streams(model, ids, -1)[:, -1]
        logits = direct_effect(model, given[part][:, -1], CROSSING, end)
    row = weights[CROSSING[0]][:, CROSSING[1], -1, of.again]
    return {
        "weight on the giver": float(row.mean()),
        "added to the giver": float(of.above_others(logits, giver).mean()),
    }
