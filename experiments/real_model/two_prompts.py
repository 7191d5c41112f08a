"""Parts of a prompt put into its counterpart, and the heads that were found so.

Source: Wang et al. 2022, section 3; Zhang and Nanda 2024 (both directions, and
differences of logits).
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from experiments.real_model.heads import Head, features
from experiments.real_model.intervals import interval
from experiments.real_model.prefixes import read, repeated
from experiments.real_model.prompts import Prompts
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, replaced, watched

# What the scans of the first half chose: those that move the answer by this share.
THRESHOLD = 0.025
AT_AGAIN: tuple[Head, ...] = ((17, 4),)
AT_END: tuple[Head, ...] = (
    *((19, 2), (20, 0), (21, 5), (23, 0), (23, 1), (23, 2), (23, 3), (23, 7)),
    *((24, 4), (24, 5), (24, 7), (29, 0), (29, 1)),
)
MOVERS: tuple[Head, ...] = ((23, 0), (23, 1), (23, 2), (23, 7))
LOWERING: tuple[Head, ...] = ((21, 5), (24, 4), (24, 5), (24, 7), (29, 0))


class Direction:
    """One prompt's parts put into its counterpart; both begin with the same tokens.

    Args:
        model: the model.
        of: the prompts.
        source: (B, T), where parts are taken from.
        target: (B, T), where they are put.
    """

    def __init__(
        self, model: TransformerLM, of: Prompts, source: Tensor, target: Tensor
    ) -> None:
        self.model, self.of = model, of
        self.whole_target = target
        prefix = target[:, : of.again]
        cache = read(model, prefix)
        self.caches = {0: cache}  # by how much of the target they hold beside
        self.source, self.target = source[:, of.again :], target[:, of.again :]
        layers = range(model.config.num_layers)
        parts = [
            Part(kind, layer) for kind in ("stream", "context") for layer in layers
        ]
        with torch.no_grad():
            with watched(model, parts) as given:
                there = model(self.source, cache=repeated(cache, prefix))
            self.given = dict(given)
            with watched(model, parts) as given:
                here = model(self.target, cache=repeated(cache, prefix))
            self.own = dict(given)
        self.before = of.difference(here).mean()
        self.whole = of.difference(there).mean() - self.before

    def share(
        self, parts: Sequence[Part], place: Sequence[int], held: Sequence[Part] = ()
    ) -> float:
        """How much of the way to the source's answer some parts bring, at a place.

        Args:
            parts: they give what they give in the source.
            place: where.
            held: they give there what they give in the target as it is.
        """
        instead = {}
        for several, runs in ((held, self.own), (parts, self.given)):
            for part in several:
                given = runs[Part(part.kind, part.layer)][:, place]
                own = slice(None)
                if part.head is not None:
                    own = features(self.model, part.head)
                instead[part] = given[..., own]
        return self._from(min(place), place, instead)

    def moved(self, share: float) -> float:
        """By how many logits a share takes the lead of the source's answer."""
        return share * abs(float(self.whole))

    def _from(
        self, first: int, place: Sequence[int], instead: dict[Part, Tensor]
    ) -> float:
        """Go on to the place as it is, over it with the parts, then on as it is."""
        behind = max(place) + 1
        read_so_far = self.whole_target[:, : self.of.again + first]
        if first not in self.caches:
            self.caches[first] = read(self.model, read_so_far)
        cache = repeated(self.caches[first], read_so_far)
        with torch.no_grad():
            with replaced(self.model, instead):
                logits = self.model(self.target[:, first:behind], cache=cache)
            if behind < self.target.shape[1]:
                logits = self.model(self.target[:, behind:], cache=cache)
        after = self.of.difference(logits).mean()
        return float((after - self.before) / self.whole)


def directions(model: TransformerLM, of: Prompts) -> dict[str, Direction]:
    """Both ways between a prompt and the one in which the other name comes again."""
    return {
        "into swapped": Direction(model, of, of.clean, of.swapped),
        "into clean": Direction(model, of, of.swapped, of.clean),
    }


def over_frames(rows: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Mean and interval of each number."""
    return {one: interval([row[one] for row in rows]) for one in rows[0]}
