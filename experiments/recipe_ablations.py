"""What each rung of the one-minute ladder gains on tiny Shakespeare.

At the bottom stand nanoGPT's settings for a laptop's processor, at the top the recipe
"one-minute", and each rung is one thing in which the two differ. Alone, it is added to
the settings at the bottom; left out, it is taken from those at the top; and a few are
added together. One rung, 256 characters, is also added to rotary positions, and with
smaller batches. Every side has a learning rate of its own, which the first of its five
seeds chooses, and all sides read equally many characters. On the settings at the bottom
all gains alone rest, so all five seeds choose their rate.

Muon's rung gives hidden matrices another optimizer and another rate than all else. So
the settings at the bottom are also trained with AdamW and two rates. These are swept
in float32, where they are also trained for as much longer as a step of Muon's takes
more time; at the best, five seeds then train in bfloat16, as on all other sides.
And beside Muon's best rate, others are tried for all else.

Three seeds of the few also read as much as the recipe at the top, at the rate that was
best for a third of it. The top is also tested in windows as short as the bottom's.
"""

import fractions
import math
import sys
import time
from collections.abc import Sequence
from typing import Any

import torch

from experiments import many, running, sweeps
from helpers.models.language_model import TransformerLM
from helpers.recorded.sweeps import best_rate, has
from helpers.text import corpus
from helpers.text.batches import Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import PRESETS, preset
from helpers.training.loop import evaluate, train

BOTTOM, TOP = "small-gpt", "one-minute"
#: Rungs, and the options that each sets.
RUNGS: dict[str, tuple[str, ...]] = {
    "Muon": ("optimizer",),
    "linear decay to zero": ("schedule", "warmup_steps", "final_learning_rate"),
    "untied embeddings": ("tie_weights",),
    "bigram embedding": ("pair_embedding",),
    "RMSNorm": ("norm",),
    "rotary positions": ("positions",),
    "squared ReLU": ("activation",),
    "zero initialisation": ("zero_init",),
    "skip from the embeddings": ("embedding_skip",),
    "two blocks": ("d_model", "num_heads", "num_layers"),
    "256 characters": ("context_length", "batch_size", "short_steps"),
}
#: What is no rung: rates are swept, lengths given, and all sides round alike.
BESIDE = ("learning_rate", "muon_learning_rate", "steps", "mixed_precision")
#: With AdamW alone: the rate of hidden matrices, as a share of everything else's.
SHARES = ("1/2", "1/4", "1/8", "1/16", "1/32")
#: Three that gain beside all others, and the one that makes a step cheaper.
FEW = ("Muon", "bigram embedding", "rotary positions", "two blocks")
#: Of these, what is left without the two that aren't Muon's.
TWO = "Muon and two blocks"
#: Why 256 characters alone cost so much: without learned positions, and with so few
#: windows in a batch that there are as many steps as with 64 characters.
LONG = "256 characters"
ROTARY, STEPS = f"rotary and {LONG}", f"{LONG}, as many steps"
#: Trained as the top, and tested in the bottom's windows.
SHORT = "top, in short windows"
SIDES = (
    *("bottom", "few", TWO, ROTARY, STEPS, "top"),
    *(f"{way}: {r}" for way in ("alone", "without") for r in RUNGS),
)
#: Read in training: about a third of what the top's recipe reads.
CHARACTERS = 1_024_000
#: What AdamW with two rates reads in about the time of Muon's rung: 1.3 times as much.
AS_LONG = 1_331_200
#: What the top's recipe reads.
FULL = 2_867_200
WARM_UP = 0.075  # the most steps that warm up, as a share of all
MUON = 1.7  # Muon's rate, as a multiple of AdamW's
#: Others: on Muon's rung alone, Muon keeps its best rate, and all else has another.
#: Each with how many seeds.
RATIOS = {"0.425": 1, "0.85": 5}
#: Where each side's sweep begins, which goes on to where its best rate lies inside.
_LOW, _HIGH = (0.001, 0.002, 0.004), (0.008, 0.016, 0.032)
BEGIN = {
    **{"bottom": _LOW, "alone": _LOW},
    **{"few": _HIGH, "without": _HIGH, "top": _HIGH},
    TWO: (0.004, 0.008, 0.016),
    **{ROTARY: _LOW, STEPS: _LOW},
}


def settings_of(side: str) -> dict[str, Any]:
    """A side's options, without its rates and its length.

    Args:
        side: one of ``SIDES``, or "AdamW: " with one of ``SHARES``, which computes in
            float32, or "AdamW in bfloat16: ", or "Muon: ratio " with one of ``RATIOS``.
    """
    low, high = (_all_options(name) for name in (BOTTOM, TOP))
    if side in ("top", SHORT):
        return high
    way, _, rung = side.partition(": ")
    several = {"bottom": (), "AdamW": (), "AdamW in bfloat16": (), "few": FEW}
    several |= {TWO: ("Muon", "two blocks"), "Muon": ("Muon",)}
    several |= {ROTARY: ("rotary positions", LONG), STEPS: (LONG,)}
    rungs = several.get(way, (rung,))
    base, other = (high, low) if way == "without" else (low, high)
    options = base | {name: other[name] for rung in rungs for name in RUNGS[rung]}
    if side == STEPS:  # a step reads what one of the bottom's does
        read = low["batch_size"] * low["context_length"]
        options["batch_size"] = read // options["context_length"]
    return options


def _all_options(name: str) -> dict[str, Any]:
    """A recipe's value of every option that is on a rung."""
    model, training = preset(name, vocab_size=2)
    both = vars(model) | vars(training)
    return {option: both[option] for rung in RUNGS.values() for option in rung}


def train_one(settings: many.Settings, **changes: Any) -> many.Run:
    """Train one side once.

    Args:
        settings: a dict of the "side", the "rate", the "seed" and the "characters".
        changes: options that differ.

    Returns:
        run: a dict of the "steps", the "validation" loss on the first half of the
            held-out text and the "test" loss on the second, in nats per character, and
            the seconds of "processor" time of the training; where the loss grew without
            bound, a "validation" loss of None.
    """
    text = corpus.load("tiny-shakespeare")
    tokenizer = CharTokenizer(text.alphabet)
    options = settings_of(settings["side"]) | changes
    steps = settings["characters"] // (
        options["batch_size"] * options["context_length"]
    )
    options["warmup_steps"] = min(options["warmup_steps"], round(WARM_UP * steps))
    options["short_steps"] = steps // 2 if options["short_steps"] else 0
    options["final_learning_rate"] *= (
        settings["rate"] / PRESETS[BOTTOM]["learning_rate"]
    )
    way, _, share = settings["side"].partition(": ")
    if way == "AdamW":
        options["mixed_precision"] = "off"
    if way.startswith("AdamW"):
        rate = settings["rate"] * float(fractions.Fraction(share))
        options["hidden_learning_rate"] = rate
    ratio = float(share.removeprefix("ratio ")) if way == "Muon" else MUON
    configs = preset(
        TOP,
        tokenizer.vocab_size,
        **options,
        steps=steps,
        learning_rate=settings["rate"],
        muon_learning_rate=ratio * settings["rate"],
        seed=settings["seed"],
    )
    half = len(text.held_out_text) // 2
    parts = (text.train_text, text.held_out_text[:half], text.held_out_text[half:])
    trained = tested = configs[0].context_length
    if settings["side"] == SHORT:
        tested = PRESETS[BOTTOM]["context_length"]
    data, validation, test = (
        Windows(tokenizer.encode(part), length)
        for part, length in zip(parts, (trained, tested, tested), strict=True)
    )
    torch.manual_seed(settings["seed"])
    model = TransformerLM(configs[0])
    before = time.process_time()
    try:
        train(model, data, configs[1], device="cpu", progress=False)
    except FloatingPointError:  # the rate is too high
        return {"validation": None}
    processor = time.process_time() - before
    return {
        "steps": steps,
        "validation": running.rounded(evaluate(model, validation)),
        "test": running.rounded(evaluate(model, test)),
        "processor": round(processor, 1),
    }


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks."""

    def lacking(side: str, characters: int) -> list[many.Settings]:
        which = {"side": side, "characters": characters}
        way, _, share = side.partition(": ")
        if way == "AdamW":  # hidden matrices begin as the bottom's do
            begin = tuple(rate / float(fractions.Fraction(share)) for rate in _LOW)
        else:
            begin = BEGIN[way]
        choosing = sweeps.SEEDS if side == "bottom" else sweeps.SEEDS[:1]
        return sweeps.lacking(record["runs"], which, begin, beside=choosing)

    sides = [one for side in SIDES for one in lacking(side, CHARACTERS)]
    # Of two rates the first seed chooses both, and all seeds train at the best.
    swept = {share: lacking(f"AdamW: {share}", CHARACTERS) for share in SHARES}
    first = [run for some in swept.values() for run in some if run["seed"] == 0]
    if sides or first:
        return sides + first
    share = best_share(record["runs"])
    return (
        swept[share]
        + other_ratios(record)
        + lacking(f"AdamW: {share}", AS_LONG)
        + again(record, f"AdamW: {share}", f"AdamW in bfloat16: {share}", CHARACTERS, 5)
        + again(record, "few", "few", FULL, 3)
        + again(record, "top", SHORT, CHARACTERS, 5)
    )


def again(
    record: dict[str, Any], side: str, other: str, characters: int, seeds: int
) -> list[many.Settings]:
    """What the record lacks of another side, or length, at the best rate of a side."""
    rate = best_rate(
        [
            run
            for run in record["runs"]
            if has(run, {"side": side, "characters": CHARACTERS})
        ]
    )
    every = [
        {"side": other, "characters": characters, "rate": rate, "seed": seed}
        for seed in sweeps.SEEDS[:seeds]
    ]
    return [one for one in every if not any(has(run, one) for run in record["runs"])]


def best_share(runs: Sequence[many.Run]) -> str:
    """The share at which the first seed of AdamW with two rates ends lowest."""
    lowest = {
        share: min(
            run["validation"] or math.inf
            for run in runs
            if has(
                run, {"side": f"AdamW: {share}", "characters": CHARACTERS, "seed": 0}
            )
        )
        for share in SHARES
    }
    return min(lowest, key=lambda share: lowest[share])


def other_ratios(record: dict[str, Any]) -> list[many.Settings]:
    """What the record lacks of Muon's rung with Muon's best rate and other ratios."""
    which = {"side": "alone: Muon", "characters": CHARACTERS}
    rate = best_rate([run for run in record["runs"] if has(run, which)])
    every = [
        which
        | {"side": f"Muon: ratio {ratio}", "rate": rate * MUON / float(ratio)}
        | {"seed": seed}
        for ratio, seeds in RATIOS.items()
        for seed in sweeps.SEEDS[:seeds]
    ]
    return [one for one in every if not any(has(run, one) for run in record["runs"])]


if __name__ == "__main__":
    sys.exit(many.main("recipe_ablations", wanted, train_one))
