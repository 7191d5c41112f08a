"""Several heads beside each that the circuit names, and what stays open of 23.3.

What single neighbours show might be those neighbours' own: so heads are drawn from the
same layers, as senders of the same paths.
"""

import random
from collections.abc import Sequence

import torch
from torch import nn

from experiments import many
from experiments.real_model.attending import Masked, masked
from experiments.real_model.circuit_ablation import LOOKING, lost_by_path, queries
from experiments.real_model.circuit_ablation import values as values_of
from experiments.real_model.circuit_beginning import FIRST, PREVIOUS
from experiments.real_model.circuit_switches import CROSSING, added, both_ways
from experiments.real_model.heads import Head, drawn, head_name, without
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, Prompts, prompts
from experiments.real_model.two_prompts import MOVERS, Direction, over_frames
from helpers.attention import causal_mask
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, PathPatched

DRAWS = 3


def controls(half: str, *, count: int = 8) -> many.Run:
    """Paths from other heads, the movers' change, and what 23.3's keys need.

    Returns:
        found: a dict of means and intervals over frames. From drawn heads, "draw 0" and
            so on: the logits that a swap moves by way of the values of 19.2 and 20.0
            ("values") or of the name movers' queries ("queries"), and what is lost
            where the keys of 17.4 miss a head beside 16.0 ("keys"). "movers, change":
            what the movers add to the lead without 19.2 and 20.0, less what they add
            as it is. Of 23.3: where its keys alone miss 16.0, 17.4 or a head beside
            it, MLPs between included, and where one of these is off, the weight on the
            giver ("looks, …") and what is "lost" of the lead.
    """
    model, _ = smollm2()
    ways = [
        (name, index, senders)
        for name, heads in (
            ("values", [FIRST]),
            ("queries", LOOKING),
            ("keys", [PREVIOUS]),
        )
        for index, senders in enumerate(draws(heads))
    ]
    rows = []
    for frame in HALVES[half][0]:
        of, few = prompts(half, frame, count), prompts(half, frame, count // 2)
        swap = Direction(model, few, few.swapped, few.clean)
        lead, row = _lead(model, of), {}
        for name, index, senders in ways:
            if name == "keys":
                off = {Part("context", *head): 0.0 for head in senders}
                row[f"keys, draw {index}"] = lead - _lead(_by_keys(off, FIRST), of)
                continue
            to = values_of(*LOOKING) if name == "values" else queries(*MOVERS)
            at = 0 if name == "values" else -1
            share = lost_by_path(model, few, swap, senders, to, at)
            row[f"{name}, draw {index}"] = swap.moved(share)
        movers = [added(model, of, heads)["movers"] for heads in ((), LOOKING)]
        row["movers, change"] = movers[1] - movers[0]
        row["looks, as it is"] = looks(model, model, of)
        for head in (PREVIOUS, FIRST, (FIRST[0], 0)):
            name = head_name(head)
            path = _by_keys({Part("context", *head): 0.0}, CROSSING)
            row[f"looks, keys miss {name}"] = looks(model, path, of)
            row[f"lost, keys miss {name}"] = lead - _lead(path, of)
            with without(model, {head: 0.0}):
                row[f"looks, without {name}"] = looks(model, model, of)
                row[f"lost, without {name}"] = lead - _lead(model, of)
        rows.append(row)
    return over_frames(rows)


def draws(heads: Sequence[Head]) -> list[list[Head]]:
    """As many other heads of the same layers, some times; none comes twice."""
    found: list[list[Head]] = []
    generator = random.Random(0)
    while len(found) < DRAWS:
        one = drawn(heads, generator)
        if not {head for before in found for head in before} & set(one):
            found.append(one)
    return found


def looks(model: TransformerLM, through: nn.Module, of: Prompts) -> float:
    """The weight of 23.3 from the end on the giver's name."""
    layer, head = CROSSING
    core = Masked(causal_mask(of.clean.shape[1]))
    found = []
    for ids, _ in both_ways(of):
        with masked(model, {layer: core}), torch.no_grad():
            through(ids)
        found.append(core.weights[:, head, -1, of.again])
    return float(torch.cat(found).mean())


def _by_keys(senders: dict[Part, float], reader: Head) -> PathPatched:
    model, _ = smollm2()
    keys = [Part("keys", reader[0], reader[1] // 3)]
    return PathPatched(model, senders, keys, through_mlps=True)


def _lead(through: nn.Module, of: Prompts) -> float:
    with torch.no_grad():
        leads = [sign * of.difference(through(ids)) for ids, sign in both_ways(of)]
    return float(torch.cat(leads).mean())
