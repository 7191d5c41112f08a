"""The arrows into the answer beside one another: the same change on both roads.

Source: Wang et al. 2022, section 3; nostalgebraist 2020 (the logit lens).
"""

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.circuit_ablation import keeping, kept_heads
from experiments.real_model.circuit_behaviour import unembedded
from experiments.real_model.circuit_movers import HELD, Asked, read
from experiments.real_model.circuit_switches import SETS
from experiments.real_model.heads import Head, without
from experiments.real_model.intervals import interval
from experiments.real_model.prefixes import streams
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, Prompts, prompts
from experiments.real_model.two_prompts import MOVERS, over_frames
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, watched

LENS = (18, 22, 24, 26, 30)  # the last: after all layers
NUMBERS = ("lead", "right name", "giver")


def arrows(half: str, *, count: int = 8) -> many.Run:
    """What goes straight into the answer, swapped; and what is added less missed.

    Each prompt is read with either of its names as the giver; all numbers but shares
    are logits, of names above the mean over all names.

    Returns:
        found: a dict of means and intervals over frames: by how much the "lead", the
            "right name" and the "giver" fall where "23.3" or the "name movers" give at
            the last token what they give where the other name does, such as "lead,
            23.3 swapped"; what the movers add less what is missed without them, such
            as "lead, added less missed", also where ``HELD`` heads give what they give
            as it is ("lead, added less missed, 24.4 held"), and how much "more" is
            "missed" then; and how much more of
            the lead the circuit keeps than no head does ("circuit less none"). Of
            "lens", lists over "layers" of the right name's "lead", read from the
            stream into a layer, and of the share of prompts in which it "leads".
    """
    model, _ = smollm2()
    rows, lens = [], []
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        two = (
            Asked(of, of.clean, of.swapped, of.answer, of.subject),
            Asked(of, of.swapped, of.clean, of.subject, of.answer),
        )
        rows.append(_swaps(model, two) | _paired(model, two) | _alone(model, of))
        lens.append([_by_lens(model, two, layer) for layer in LENS])
    return {
        **over_frames(rows),
        "lens": {
            "layers": list(LENS),
            **{
                name: [interval(one) for one in zip(*several, strict=True)]
                for name, several in (
                    ("lead", [[lead for lead, _ in row] for row in lens]),
                    ("leads", [[share for _, share in row] for row in lens]),
                )
            },
        },
    }


def _swaps(model: TransformerLM, two: tuple[Asked, Asked]) -> dict[str, float]:
    """By how much each number falls where some heads are swapped at the end."""
    plain = read(model, two, "plain")
    row = {}
    for name in ("23.3", "name movers"):
        found = [one.named(_with_other(model, one, SETS[name][0])) for one in two]
        for number in NUMBERS:
            after = torch.cat([numbers[number] for numbers in found]).mean().item()
            row[f"{number}, {name} swapped"] = plain[f"{number}, plain"] - after
    return row


def _with_other(model: TransformerLM, one: Asked, heads: tuple[Head, ...]) -> Tensor:
    """The last logits (B, V) where heads give at the end what the other makes them."""
    parts = [Part("context", *head) for head in heads]
    with torch.no_grad():
        with watched(model, parts) as given:
            model(one.other)
        theirs = {part: given[part][:, -1].clone() for part in parts}
        with watched(model, parts) as given:
            model(one.ids)
        mixed = {part: given[part].clone() for part in parts}
        for part, rows in mixed.items():
            rows[:, -1] = theirs[part]
        instead = dict(zip(heads, mixed.values(), strict=True))
        with without(model, instead):
            logits: Tensor = model(one.ids)[:, -1]
    return logits


def _paired(model: TransformerLM, two: tuple[Asked, Asked]) -> dict[str, float]:
    """What the movers add less what is missed without them, of one frame."""
    zeros = dict.fromkeys(MOVERS, 0.0)
    plain = read(model, two, "plain", added=("movers",))
    row: dict[str, float] = {}
    missed: dict[str, float] = {}  # with all heads free to answer
    ways: dict[str, tuple[Head, ...]] = {"": ()}
    ways |= {f", {name} held": of for name, of in HELD.items()}
    for end, held in ways.items():
        off = read(model, two, "off", off=zeros, held=held)
        for number in NUMBERS:
            lost = plain[f"{number}, plain"] - off[f"{number}, off"]
            added = plain[f"movers, {number}, plain"]
            row[f"{number}, added less missed{end}"] = added - lost
            more = lost - missed.setdefault(number, lost)
            if end:
                row[f"{number}, more missed{end}"] = more
    return row


def _alone(model: TransformerLM, of: Prompts) -> dict[str, float]:
    """How much more of the lead the circuit alone keeps than no head, in logits."""
    kept = kept_heads(model, of.clean.shape[1] - of.again)
    left = keeping(model, of)
    with torch.no_grad():
        whole = float(of.difference(model(of.clean)).mean())
    return {"circuit less none": whole * (left(kept["circuit"]) - left(kept["none"]))}


def _by_lens(
    model: TransformerLM, two: tuple[Asked, Asked], layer: int
) -> tuple[float, float]:
    """The right name's lead by the lens, and the share of prompts in which it leads."""
    leads = torch.cat(
        [
            one.named(unembedded(model, streams(model, one.ids, -1)[:, layer]))["lead"]
            for one in two
        ]
    )
    return float(leads.mean()), float((leads > 0).double().mean())
