"""Times of several ways to do one thing, taken in turn.

A machine is faster at one moment than at another. So the ways take turns, in rounds,
each round in another order, and a ratio compares two ways within one round.
"""

import random
import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch

ROUNDS = 15
BLOCK = 0.02  # seconds; what takes less is repeated until it takes as long
Ways = Mapping[str, Callable[[], object]]


class Spread(NamedTuple):
    """The median of some numbers, and how far they lie apart.

    Attributes:
        median: half of the numbers are smaller.
        low: a tenth of them is smaller.
        high: a tenth of them is larger.
    """

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, numbers):
        """The spread of at least two numbers."""
        tenths = statistics.quantiles(numbers, n=10, method="inclusive")
        return cls(statistics.median(numbers), tenths[0], tenths[-1])

    @property
    def says_nothing(self):
        """Whether the numbers lie further apart than their median is large."""
        return self.high - self.low > self.median


def seconds_in_rounds(ways, device, rounds=ROUNDS):
    """Seconds that one call of each way took, round by round.

    Args:
        ways: functions without arguments, by name.
        device: where they compute; it is waited for.
        rounds: how often each has its turn.

    Returns:
        seconds: for each name, a list as long as there are rounds.
    """
    repeats = {name: _repeats(way, device) for name, way in ways.items()}
    found = {name: [] for name in ways}
    order = list(ways)
    shuffle = random.Random(0).shuffle
    for _ in range(rounds):
        shuffle(order)
        for name in order:
            taken = _seconds(ways[name], repeats[name], device)
            found[name].append(taken / repeats[name])
    return found


def ratio(seconds, name, other):
    """How many times as long a way takes as another: the spread over rounds."""
    pairs = zip(seconds[name], seconds[other], strict=True)
    return Spread.of([ours / theirs for ours, theirs in pairs])


def in_words(spread):
    """A ratio with its spread, or that there is none to tell."""
    if spread.says_nothing:
        return "too noisy"
    return f"x {spread.median:.2f} ({spread.low:.2f} to {spread.high:.2f})"


def _repeats(way, device):
    """How often to call a way, so that it takes a block's time."""
    way()  # the first call sets up what later ones find
    return max(1, round(BLOCK / max(_seconds(way, 1, device), 1e-6)))


def _seconds(way, repeats, device):
    _wait(device)
    began = time.perf_counter()
    for _ in range(repeats):
        way()
    _wait(device)
    return time.perf_counter() - began


def _wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
