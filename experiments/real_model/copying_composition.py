"""Whether SmolLM2's induction heads need its previous-token heads.

Source: Olsson et al. 2022, sections 2 and 4; Wang et al. 2022, section 3 (path
patching).
"""

import itertools
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from experiments import many
from experiments.real_model.attending import Masked, masked
from experiments.real_model.copying_losses import beside, means
from experiments.real_model.copying_scores import (
    HEADS,
    SHARED,
    SWITCHED,
    TESTED,
    chosen,
    ranked,
    told_twice,
)
from experiments.real_model.heads import Head, head_name, without
from experiments.real_model.intervals import rounded
from experiments.real_model.pretrained_models import smollm2
from helpers.attention import causal_mask
from helpers.models.induction import after_the_same
from helpers.models.patching import Part, PathPatched

DRAWS = 20


def composition() -> many.Run:
    """What the induction heads' weights lose with the previous-token heads.

    Returns:
        found: the "induction" heads, and the "previous" ones, the eight of the highest
            scores that stand in layers before; the mean prefix score of the former on
            each text, "whole", without the latter ("zeros", "means") and without the
            next eight ("next zeros"), the mean of each "drawn" eight of the same
            layers; and where the latter are replaced by their means for the "keys",
            the "queries" or the "values" of the former alone, by the direct path or
            with the MLPs between them ("keys, MLPs"); and the means where each of
            them alone ("each, keys"), or each drawn eight ("drawn, keys"), are so
            replaced for the keys by the direct path; of the first, on each text
            ("first, keys").
    """
    ids = told_twice(TESTED, "test")
    induction = ranked(chosen().prefix)[:SWITCHED]
    earliest = min(layer for layer, _ in induction)
    before = [one for one in ranked(chosen().previous) if one[0] < earliest]
    previous, mean = before[:SWITCHED], means(told_twice(TESTED, "choose"))
    found: many.Run = {
        "induction": list(map(head_name, induction)),
        "previous": list(map(head_name, previous)),
    }

    def scored(heads: Sequence[Head], kind: str = "zeros") -> list[float]:
        instead = {one: 0.0 if kind == "zeros" else mean[one] for one in heads}
        model, _ = smollm2()
        with without(model, instead):
            return _prefix_of(model, ids, induction)

    found["whole"] = scored([])
    for kind in ("zeros", "means"):
        found[kind] = scored(previous, kind)
    found["next zeros"] = scored(before[SWITCHED : 2 * SWITCHED])
    draws = [scored(beside(previous, seed)) for seed in range(DRAWS)]
    found["drawn"] = [round(sum(one) / len(one), 4) for one in draws]
    for kind, mlps in itertools.product(("keys", "queries", "values"), (False, True)):
        key = f"{kind}, MLPs" if mlps else kind
        path = _path(previous, mean, induction, kind, mlps)
        found[key] = _prefix_of(path, ids, induction)
    others = [beside(previous, seed) for seed in range(DRAWS)]
    for key, senders in (("each", [[one] for one in previous]), ("drawn", others)):
        paths = [_path(of, mean, induction, "keys", False) for of in senders]
        rows = [_prefix_of(path, ids, induction) for path in paths]
        found[f"{key}, keys"] = [round(sum(row) / len(row), 4) for row in rows]
        if key == "each":
            found["first, keys"] = rows[0]
    return found


def _path(
    senders: Sequence[Head],
    mean: Mapping[Head, Tensor],
    receivers: Sequence[Head],
    kind: str,
    mlps: bool,
) -> PathPatched:
    model, _ = smollm2()
    shares = 1 if kind == "queries" else HEADS // SHARED
    read = sorted({Part(kind, layer, head // shares) for layer, head in receivers})
    sent = {Part("context", *one): mean[one] for one in senders}
    return PathPatched(model, sent, read, through_mlps=mlps)


def _prefix_of(through: nn.Module, ids: Tensor, heads: Sequence[Head]) -> list[float]:
    """The mean prefix score of some heads on each text, in the last run of a model."""
    model, _ = smollm2()
    n = (ids.shape[1] - 1) // 2
    marked = after_the_same(ids)
    mask = causal_mask(ids.shape[1])
    cores = {layer: Masked(mask) for layer in {layer for layer, _ in heads}}
    with masked(model, cores), torch.no_grad():
        through(ids)
    each = [
        (cores[layer].weights[:, head] * marked)[:, n + 1 : 2 * n]
        .sum(dim=-1)
        .mean(dim=-1)
        for layer, head in heads
    ]
    return rounded(torch.stack(each).mean(dim=0))


def first_previous() -> Head:
    """The head of the highest previous-token score before the induction heads."""
    earliest = min(layer for layer, _ in ranked(chosen().prefix)[:SWITCHED])
    return next(one for one in ranked(chosen().previous) if one[0] < earliest)
