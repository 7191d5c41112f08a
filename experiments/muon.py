"""What Muon gains over AdamW, where each has hidden rates of its own.

Two blocks are trained on tiny Shakespeare and on little-world's stories. The matrices
of the hidden layers are AdamW's or Muon's, at a rate that is swept; everything else,
embeddings and output layer first of all, is AdamW's on both sides, at one rate, which
is swept as well. At each of these, every side has five seeds at its best hidden rate.

A third side is Muon with its updates scaled to the root mean square of AdamW's. Does
AdamW's rate suit it?
"""

import sys
from typing import Any

from experiments import block_parts, many, sweeps
from helpers.recorded.sweeps import best_rate, has

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
#: Everything else's rate, where that sweep begins; the third side has the middle one.
BESIDE = (0.008, 0.016, 0.032)
TEXTS = ("tiny-shakespeare", "little-world")
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
    """The runs that a record lacks, text by text."""
    found: list[many.Settings] = []
    for text in TEXTS:
        for side in SIDES:
            rates = BESIDE[1:2] if side == MATCHED else rates_beside(record, text)
            for beside in rates:
                found += _lacking(record, text, side, beside)
    return found


def rates_beside(record: dict[str, Any], text: str) -> tuple[float, ...]:
    """Everything else's rates: those to begin with, and on as the best lies outside."""
    rates = BESIDE
    while True:
        for side in ("AdamW", "Muon"):
            if any(_lacking(record, text, side, beside) for beside in rates):
                return rates
        best = {best_beside(record, text, side) for side in ("AdamW", "Muon")}
        wider = {near for rate in best for near in sweeps.neighbours(rate)}
        if wider <= {*rates}:
            return rates
        rates = tuple(sorted(wider | {*rates}))


def best_beside(record: dict[str, Any], text: str, side: str) -> float:
    """Everything else's rate that suits a side best, all its seeds together."""
    of_side = [run for run in record["runs"] if has(run, {"text": text, "side": side})]
    chosen = []
    for beside in {run["beside"] for run in of_side}:
        runs = [run for run in of_side if run["beside"] == beside]
        rate = best_rate(runs)
        chosen += [run | {"rate": beside} for run in runs if run["rate"] == rate]
    return best_rate(chosen)


def _lacking(
    record: dict[str, Any], text: str, side: str, beside: float
) -> list[many.Settings]:
    which = {"text": text, "side": side, "beside": beside, "steps": STEPS}
    first = sweeps.SEEDS[:1]
    return sweeps.lacking(record["runs"], which, BEGIN[side], beside=first)


if __name__ == "__main__":
    sys.exit(many.main("muon", wanted, train_one))
