"""Whether the circuit needs the previous-token head that feeds its first one.

16.0 tells the keys of 17.4 which token came before, if it does here what it does on
random tokens ("composition" of the study ``copying``).
"""

import torch
from torch import nn

from experiments import many
from experiments.real_model.attending import Masked, masked
from experiments.real_model.circuit_switches import both_ways
from experiments.real_model.heads import Head, head_name, without
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.prompts import HALVES, Prompts, prompts
from experiments.real_model.two_prompts import over_frames
from helpers.attention import causal_mask
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, PathPatched

PREVIOUS: Head = (16, 0)
FIRST: Head = (17, 4)


def beginning(half: str, *, count: int = 8) -> many.Run:
    """The lead, and where 17.4 looks, without 16.0 and without others of its layer.

    Returns:
        found: a dict of means and intervals over frames: the lead with "all heads",
            without each head of layer 16 and without 17.4 ("without 16.0"); where the
            "keys" of 17.4 alone miss 16.0 ("keys, 16.1": that one), with the MLPs
            between; the weight of 17.4 from the giver's name behind its first mention,
            "looks", under "all heads", "without 16.0" and "keys"; by how much "more" is
            "lost" without 16.0 than, on average, without another head of its layer; and
            what is "lost" without 17.4 and in both runs by way of "keys".
    """
    model, _ = smollm2()
    H = model.config.num_heads
    path, beside = (
        PathPatched(
            model,
            {Part("context", *head): 0.0},
            [Part("keys", FIRST[0], FIRST[1] // 3)],
            through_mlps=True,
        )
        for head in (PREVIOUS, (PREVIOUS[0], PREVIOUS[1] + 1))
    )
    rows = []
    for frame in HALVES[half][0]:
        of = prompts(half, frame, count)
        row = {
            "all heads": _lead(model, of),
            "keys": _lead(path, of),
            "keys, 16.1": _lead(beside, of),
        }
        switched = [*((PREVIOUS[0], head) for head in range(H)), FIRST]
        for one in switched:
            with without(model, {one: 0.0}):
                row[f"without {head_name(one)}"] = _lead(model, of)
        others = [row[f"without 16.{head}"] for head in range(1, H)]
        row["more lost without 16.0"] = sum(others) / len(others) - row["without 16.0"]
        for name in ("keys", "keys, 16.1", "without 17.4"):
            row[f"lost, {name}"] = row["all heads"] - row[name]
        for name, through, off in (
            ("all heads", model, ()),
            ("without 16.0", model, (PREVIOUS,)),
            ("keys", path, ()),
        ):
            with without(model, dict.fromkeys(off, 0.0)):
                row[f"looks, {name}"] = _looks(model, through, of)
        rows.append(row)
    return over_frames(rows)


def _lead(through: nn.Module, of: Prompts) -> float:
    with torch.no_grad():
        leads = [sign * of.difference(through(ids)) for ids, sign in both_ways(of)]
    return float(torch.cat(leads).mean())


def _looks(model: TransformerLM, through: nn.Module, of: Prompts) -> float:
    """The weight of 17.4 from the second mention behind the first, in the last run."""
    layer, head = FIRST
    core = Masked(causal_mask(of.clean.shape[1]))
    with masked(model, {layer: core}), torch.no_grad():
        through(of.clean)
    B = torch.arange(len(of.clean))
    row = core.weights[B, head, of.again, of.place(of.subject) + 1]
    return float(row.mean())
