"""What Muon gains over AdamW, where each has rates of its own.

Two blocks are trained on a text. The matrices of the hidden layers are AdamW's or
Muon's, at a rate that is swept; everything else, embeddings and output layer first of
all, is AdamW's on both sides, at a rate that is swept as well. The first seed finds
both rates of each side. At either side's best rate of everything else, both sides then
have five seeds, each at its best hidden rate.

A third side is Muon with its updates scaled to the root mean square of AdamW's. Does
AdamW's rate suit it?
"""

import math
import sys
from typing import Any

from experiments import block_parts, many, sweeps
from helpers.recorded.sweeps import has

MATCHED = "Muon, RMS matched"
SIDES: dict[str, dict[str, Any]] = {
    "AdamW": {},
    "Muon": {"optimizer": "muon"},
    MATCHED: {"optimizer": "muon", "muon_adjust_lr_fn": "match_rms_adamw"},
}
#: Where the sweep of the hidden matrices' rate begins.
BEGIN = {
    "AdamW": (0.002, 0.004, 0.008),
    "Muon": (0.008, 0.016, 0.032),
    MATCHED: (0.002, 0.004, 0.008),
}
#: Everything else's rate, where that sweep begins.
BESIDE = (0.008, 0.016, 0.032)
COMPARED = ("AdamW", "Muon")
TEXTS = ("tiny-shakespeare",)
STEPS = block_parts.STEPS


def train_one(settings: many.Settings, **stories: int) -> many.Run:
    """Train one side once.

    Args:
        settings: a dict of the "text", the "side", the "rate" of hidden matrices, that
            of everything else as "beside", the "seed" and the "steps".
        stories: as for ``block_parts.losses``.

    Returns:
        run: that of ``block_parts.losses``.
    """
    side, rate = SIDES[settings["side"]], settings["rate"]
    own = "muon_learning_rate" if side else "hidden_learning_rate"
    changes = side | {own: rate, "learning_rate": settings["beside"]}
    return block_parts.losses(settings, changes, **stories)


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks, text by text: first those of the first seed."""
    for text in TEXTS:
        rates = rates_beside(record, text)
        found = [
            run
            for side in COMPARED
            for beside in rates
            for run in _lacking(record, text, side, beside, first=True)
        ]
        if found:
            return found
        best = {side: best_beside(record, text, side) for side in COMPARED}
        sides = [(side, one) for side in COMPARED for one in sorted({*best.values()})]
        sides.append((MATCHED, best["AdamW"]))
        found = [run for one in sides for run in _lacking(record, text, *one)]
        if found:
            return found
    return []


def rates_beside(record: dict[str, Any], text: str) -> tuple[float, ...]:
    """Everything else's rates: those to begin with, and on as the best lies outside."""
    rates = BESIDE
    while not any(
        _lacking(record, text, side, one, first=True)
        for side in COMPARED
        for one in rates
    ):
        best = {best_beside(record, text, side) for side in COMPARED}
        wider = {near for rate in best for near in sweeps.neighbours(rate)}
        if wider <= {*rates}:
            break
        rates = tuple(sorted(wider | {*rates}))
    return rates


def best_beside(record: dict[str, Any], text: str, side: str) -> float:
    """Everything else's rate at which the first seed ends lowest."""
    which = {"text": text, "side": side, "seed": sweeps.SEEDS[0]}
    lowest: dict[float, float] = {}
    for run in record["runs"]:
        if has(run, which) and run["validation"] is not None:
            before = lowest.get(run["beside"], math.inf)
            lowest[run["beside"]] = min(before, run["validation"])
    return min(lowest, key=lambda beside: lowest[beside])


def _lacking(
    record: dict[str, Any], text: str, side: str, beside: float, *, first: bool = False
) -> list[many.Settings]:
    """The runs of a side that a record lacks; those of the first seed alone."""
    which = {"text": text, "side": side, "beside": beside, "steps": STEPS}
    seed = sweeps.SEEDS[:1]
    found = sweeps.lacking(record["runs"], which, BEGIN[side], beside=seed)
    return [run for run in found if run["seed"] in seed] if first else found


if __name__ == "__main__":
    sys.exit(many.main("muon", wanted, train_one))
