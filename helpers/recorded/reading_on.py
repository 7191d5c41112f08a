"""What the experiment ``reading_on`` found, in four numbers a seed."""

import statistics

from helpers.recorded import results
from helpers.recorded.sweeps import at_best_rate

SIDES = {
    "as trained": ("rotary", "as trained"),
    "larger base": ("rotary", "larger base"),
    "interpolation": ("rotary", "interpolation"),
    "NTK-aware": ("rotary", "ntk"),
    "YaRN": ("rotary", "yarn"),
    "ALiBi": ("alibi", "as trained"),
    "pairs 0 to 2 alone": ("rotary", "pairs 0 to 2"),
    "pairs 3 and 4 alone": ("rotary", "pairs 3 and 4"),
    "pairs 5 to 7 alone": ("rotary", "pairs 5 to 7"),
    "T5's biases": ("t5", "as trained"),
    "partial rotary": ("partial", "as trained"),
    "NoPE in every second layer": ("half nope", "as trained"),
    "NoPE in both layers": ("nope", "as trained"),
    "pair 3 alone": ("rotary", "pair 3"),
    "pair 4 alone": ("rotary", "pair 4"),
}
COLUMNS = ("story 16-64", "192-256", "notes to 64", "over 128")


def summary(side: str, part: str = "before") -> list[list[float]]:
    """How models that were trained on 64 tokens read 256.

    Args:
        side: one of ``SIDES``.
        part: "before" fine-tuning, or after it on windows of 256 ("longer") or of 64
            ("control"), at the rate that suits the side best. Only the first six sides
            were fine-tuned.

    Returns:
        rows: for each seed the four ``COLUMNS``: the loss on stories from character 16
            to 64, and from 192 on, in nats per character; and the share of notes that
            are recalled from up to 64 tokens back, and from over 128. Each note
            is asked for once, but for "control".

    Raises:
        ValueError: a side or a part that wasn't run.
    """
    if side not in SIDES:
        raise ValueError(f"side must be one of {list(SIDES)}, got {side!r}")
    kind, way = SIDES[side]
    runs = results.record("reading_on")["runs"]
    found = at_best_rate(runs, kind=kind, way=way, part=part)
    notes = [run.get("once", run["notes"]) for run in found]
    if part == "before":
        once = at_best_rate(runs, kind=kind, way=way, part="once")
        notes = [run["notes"] for run in once]
    return [
        [
            run["stories"][1],
            run["stories"][4],
            statistics.fmean(shares[:2]),
            statistics.fmean(shares[3:]),
        ]
        for run, shares in zip(found, notes, strict=True)
    ]
