"""Several heads beside each that the circuit names.

What single neighbours show might be those neighbours' own: so heads are drawn from the
same layers, as senders of the same paths.
"""

import random
from collections.abc import Sequence

import torch
from torch import nn

from experiments import many
from experiments.real_model.circuit_ablation import LOOKING, lost_by_path, queries
from experiments.real_model.circuit_ablation import values as values_of
from experiments.real_model.circuit_beginning import FIRST, PREVIOUS
from experiments.real_model.circuit_switches import both_ways
from experiments.real_model.heads import Head, drawn
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, Prompts, prompts
from experiments.real_model.two_prompts import MOVERS, Direction, over_frames
from helpers.models.patching import Part, PathPatched

DRAWS = 3


def controls(half: str, *, count: int = 8) -> many.Run:
    """What other heads send by the circuit's paths.

    Returns:
        found: a dict of means and intervals over frames. From drawn heads, "draw 0" and
            so on: the logits that a swap moves by way of the values of 19.2 and 20.0
            ("values") or of the name movers' queries ("queries"), and what is lost
            where the keys of 17.4 miss a head beside 16.0 ("keys").
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


def _by_keys(senders: dict[Part, float], reader: Head) -> PathPatched:
    model, _ = smollm2()
    keys = [Part("keys", reader[0], reader[1] // 3)]
    return PathPatched(model, senders, keys, through_mlps=True)


def _lead(through: nn.Module, of: Prompts) -> float:
    with torch.no_grad():
        leads = [sign * of.difference(through(ids)) for ids, sign in both_ways(of)]
    return float(torch.cat(leads).mean())
