"""What chapter 16 says of what a memory of fixed size can recall."""

import itertools
import statistics

import pytest

from experiments import recall, sweeps
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate

RECORD = results.record("recall")
ADDING = ("linear", "decay")
OVERWRITING = ("delta", "gated delta")
FIXED = (*ADDING, *OVERWRITING)


def seeds(side, kind, pairs):
    """The share of right answers of each seed at the best rate."""
    runs = at_best_rate(RECORD["runs"], side=side)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return [run[kind][recall.PAIRS.index(pairs)] for run in runs]


def mean(side, kind, pairs):
    return statistics.fmean(seeds(side, kind, pairs))


def ahead(side, other, kind, pairs):
    """By how much each seed of one side is ahead of the other's."""
    both = zip(seeds(side, kind, pairs), seeds(other, kind, pairs), strict=True)
    return mean_and_interval([a - b for a, b in both])


def test_the_record_lacks_nothing():
    assert recall.wanted(RECORD) == []


@pytest.mark.parametrize("side", recall.SIDES)
def test_each_rate_is_the_best_of_those_around_it(side):
    rates = sorted({run["rate"] for run in RECORD["runs"] if run["side"] == side})
    best = at_best_rate(RECORD["runs"], side=side)[0]["rate"]
    assert rates[0] < best < rates[-1]
