"""Exercise of the page "Reading on": Llama 3's speeds, by how often a pair turned."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise

FAST, SLOW = 4.0, 1.0  # turns in training


def _heads():
    sizes = {  # the width of a head, the base, the factor and the trained length
        "three pairs, of which one is between": (6, 1_000.0, 4.0, 64),
        "two pairs, of which none is between": (4, 10_000.0, 2.0, 128),
        "a factor of 1": (8, 10_000.0, 1.0, 64),
        "eight pairs": (16, 10_000.0, 4.0, 64),
        "a longer training": (16, 10_000.0, 8.0, 512),
        "speeds that rise": (12, 10_000.0, 3.0, 100),
        "pairs faster than a radian a place": (10, 10_000.0, 2.0, 80),
    }

    def drawn(name, size):
        D, base, factor, trained_length = size
        speeds = base ** (-2 * torch.arange(D // 2) / D)
        if name == "speeds that rise":
            speeds = speeds.flip(0)
        if name == "pairs faster than a radian a place":
            speeds = 3 * speeds
        arguments = {"factor": factor, "trained_length": trained_length}
        return Case(name, {"speeds": speeds, **arguments})

    return [drawn(name, size) for name, size in sizes.items()]


def _scaled(
    speeds,
    factor,
    trained_length,
    *,
    turns=lambda speeds, length: length * speeds / (2 * math.pi),
    clamp=(0.0, 1.0),
    fast=FAST,
    slow=SLOW,
    flip=False,
):
    """Right where nothing is given; each option is one mistake."""
    kept = (turns(speeds, trained_length) - slow) / (fast - slow)
    kept = kept.clamp(*clamp)
    if flip:
        kept = 1 - kept
    return kept * speeds + (1 - kept) * speeds / factor


def _with(**options):
    return lambda speeds, factor, trained_length: _scaled(
        speeds, factor, trained_length, **options
    )


def _switched(at):
    def scaled(speeds, factor, trained_length):
        turned = trained_length * speeds / (2 * math.pi)
        return torch.where(turned >= at, speeds, speeds / factor)

    return scaled


def _between(blend):
    """Right but for pairs between the two limits."""

    def scaled(speeds, factor, trained_length):
        turned = trained_length * speeds / (2 * math.pi)
        kept = (turned - SLOW) / (FAST - SLOW)
        outside = _scaled(speeds, factor, trained_length)
        inside = (turned >= SLOW) & (turned <= FAST)
        return torch.where(inside, blend(kept, speeds, speeds / factor), outside)

    return scaled


def _blended_lengths(speeds, factor, trained_length):
    kept = trained_length * speeds / (2 * math.pi)
    kept = ((kept - SLOW) / (FAST - SLOW)).clamp(0, 1)
    return speeds / (kept + (1 - kept) * factor)


def _by_pairs(speeds, factor, trained_length):
    """YaRN's steps: the share rises from pair to pair."""
    turned = trained_length * speeds / (2 * math.pi)
    between = torch.where(
        turned > FAST, torch.inf, torch.where(turned < SLOW, -torch.inf, 0.0)
    )
    count = int((between == 0).sum())
    order = turned.argsort(descending=True)
    kept = (between == torch.inf).float()
    inside = [i for i in order.tolist() if between[i] == 0]
    for step, i in enumerate(inside, start=1):
        kept[i] = 1 - step / (count + 1)
    return kept * speeds + (1 - kept) * speeds / factor


EXERCISE = Exercise(
    name="llama_frequencies",
    stub="my_llama_frequencies(speeds, factor, trained_length)",
    asks=(
        "a function of each pair's speed in training (D / 2,), in radians a place, of "
        "how much longer the text is, and of the places in a text of training. It "
        "returns the new speeds: the old one where a pair turned over 4 times in "
        "training, the old one divided by factor where it turned less than once, and "
        "between a mean of both, whose weights go with the turns in a straight line."
    ),
    returns={"speeds": "(D / 2,)"},
    reference=_scaled,
    cases=_heads,
    constants=(FAST, SLOW, 2 * math.pi),
    mistakes=(
        Mistake(
            "every pair slower by the factor",
            lambda speeds, factor, trained_length: speeds / factor,
            "That is position interpolation. Pairs that turned over 4 times in "
            "training are to keep their speed.",
        ),
        Mistake(
            "speeds as they were",
            lambda speeds, factor, trained_length: speeds.clone(),
            "Every pair keeps its speed. Those that turned less than once are to be "
            "slower by the factor.",
        ),
        Mistake(
            "fast pairs slowed and slow ones kept",
            _with(flip=True),
            "It is the other way round: who turned often has shown every angle, and "
            "keeps the speed; who didn't turn once is slowed.",
        ),
        Mistake(
            "radians for turns",
            _with(turns=lambda speeds, length: length * speeds),
            "Speed times length is an angle in radians. A turn has 2π of them: divide.",
        ),
        Mistake(
            "the length of a turn in place of the number of turns",
            _with(turns=lambda speeds, length: 2 * math.pi / speeds),
            "2π / speed is how many places one turn takes. How often a pair turned is "
            "the trained length divided by that.",
        ),
        Mistake(
            "the turns upside down",
            _with(turns=lambda speeds, length: 2 * math.pi / (speeds * length)),
            "2π / speed is how many places one turn takes. The turns are the trained "
            "length divided by that, and not the other way round.",
        ),
        Mistake(
            "turns in the longer text",
            lambda speeds, factor, trained_length: _scaled(
                speeds, factor, factor * trained_length
            ),
            "You count the turns in a text that is factor times as long. What counts "
            "is how often a pair turned in training.",
        ),
        Mistake(
            "shares that go beyond 0 and 1",
            _with(clamp=(-torch.inf, torch.inf)),
            "Above 4 turns the share is 1 and stays 1, below one turn it stays 0: "
            "clamp it.",
        ),
        Mistake(
            "shares that go beyond 1",
            _with(clamp=(0.0, torch.inf)),
            "Above 4 turns a pair keeps its speed, and your share goes on rising: the "
            "most is 1.",
        ),
        Mistake(
            "shares that go below 0",
            _with(clamp=(-torch.inf, 1.0)),
            "Below one turn a pair is slower by the factor, and no more: your share "
            "goes on falling, and the least is 0.",
        ),
        Mistake(
            "nothing between the two, a switch at 4 turns",
            _switched(FAST),
            "Pairs that turned once to 4 times get a mean of both speeds, more of the "
            "old one the more they turned.",
        ),
        Mistake(
            "nothing between the two, a switch at one turn",
            _switched(SLOW),
            "Pairs that turned once to 4 times get a mean of both speeds, more of the "
            "old one the more they turned.",
        ),
        Mistake(
            "half of each, whatever the turns between",
            _between(lambda kept, old, new: (old + new) / 2),
            "Between one turn and 4 you take half of each speed. The old one's weight "
            "is to rise with the turns, from 0 to 1.",
        ),
        Mistake(
            "the weights exchanged between one turn and 4",
            _between(lambda kept, old, new: (1 - kept) * old + kept * new),
            "Between one turn and 4 your weights are exchanged: who turned more keeps "
            "more of the old speed.",
        ),
        Mistake(
            "a geometric mean between one turn and 4",
            _between(lambda kept, old, new: old**kept * new ** (1 - kept)),
            "You mix the logarithms of the two speeds. Mix the speeds themselves: "
            "their weights are the share and 1 less the share.",
        ),
        Mistake(
            "the share as turns by 4",
            _with(slow=0.0),
            "The share is 0 at one turn, not at none: take 1 off the turns and off the "
            "4.",
        ),
        Mistake(
            "YaRN's limit of 32 turns",
            _with(fast=32.0),
            "Llama 3 keeps a pair's speed from 4 turns on, not from 32.",
        ),
        Mistake(
            "a mean of lengths in place of speeds",
            _blended_lengths,
            "You divide by a mean of 1 and the factor. It is the two speeds whose mean "
            "is asked for.",
        ),
        Mistake(
            "steps from pair to pair",
            _by_pairs,
            "As in YaRN, your share changes in equal steps from pair to pair. Here it "
            "goes with how often the pair turned.",
        ),
    ),
)
