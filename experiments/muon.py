"""RMS matching: does a hidden rate that suits AdamW suit Muon?

Two blocks are trained on tiny Shakespeare. The matrices of the hidden layers are
AdamW's, or those of Muon with its updates scaled to the root mean square of AdamW's, at
a rate of each side's own; everything else, embeddings and output layer first of all, is
AdamW's on both sides, at the rate that suits AdamW alone.

The first of five seeds chooses a side's rate.
"""

import sys
from typing import Any

from experiments import block_parts, many, sweeps

MATCHED = "Muon, RMS matched"
SIDES: dict[str, dict[str, Any]] = {
    "AdamW": {},
    MATCHED: {"optimizer": "muon", "muon_adjust_lr_fn": "match_rms_adamw"},
}
BEGIN = (0.004, 0.008, 0.016)  # where the sweep of the hidden matrices' rate begins
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
    plain = {"text": TEXT, "steps": block_parts.STEPS}
    sides = [plain | {"side": side} for side in SIDES]
    return sweeps.lacking_of_all(record, sides, BEGIN, beside=sweeps.SEEDS[:1])


if __name__ == "__main__":
    sys.exit(many.main("muon", wanted, train_one))
