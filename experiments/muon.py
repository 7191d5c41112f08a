"""What Muon gains over AdamW at one rate of everything else, and RMS matching.

Two blocks are trained on tiny Shakespeare. The matrices of the hidden layers are
AdamW's or Muon's, at a rate of each side's own; everything else, embeddings and output
layer first of all, is AdamW's on every side, at the rate that suits AdamW alone. A
third side is Muon with its updates scaled to the root mean square of AdamW's: is the
hidden rate that suits AdamW the one that suits it?

The first of five seeds chooses a side's rate.
"""

import sys
from typing import Any

from experiments import block_parts, many, sweeps

MATCHED = "Muon, RMS matched"
SIDES: dict[str, dict[str, Any]] = {
    "AdamW": {},
    MATCHED: {"optimizer": "muon", "muon_adjust_lr_fn": "match_rms_adamw"},
    "Muon": {"optimizer": "muon"},
}
#: Where the sweep of the hidden matrices' rate begins.
BEGIN = {
    "AdamW": (0.004, 0.008, 0.016),
    MATCHED: (0.004, 0.008, 0.016),
    "Muon": (0.008, 0.016, 0.032),
}
#: Everything else's rate: what the sweep of the plain block found.
BESIDE = 0.008
TEXT = "tiny-shakespeare"


def train_one(settings: many.Settings, **stories: int) -> many.Run:
    """Train one side once.

    Args:
        settings: a dict of the "text", the "side", the "rate" of hidden matrices, the
            "seed" and the "steps".
        stories: as for ``block_parts.losses``.

    Returns:
        run: that of ``block_parts.losses``.
    """
    side, rate = SIDES[settings["side"]], settings["rate"]
    own = "muon_learning_rate" if side else "hidden_learning_rate"
    changes = side | {own: rate, "learning_rate": BESIDE}
    return block_parts.losses(settings, changes, **stories)


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks, side by side."""
    return [
        run
        for side, begin in BEGIN.items()
        for run in sweeps.lacking(
            record["runs"],
            {"text": TEXT, "side": side, "steps": block_parts.STEPS},
            begin,
            beside=sweeps.SEEDS[:1],
        )
    ]


if __name__ == "__main__":
    sys.exit(many.main("muon", wanted, train_one))
