"""tests.benchmarks.rounds: ratios within a round, and none where there is none."""

import itertools

import pytest
import torch

from tests.benchmarks.rounds import Spread, in_words, ratio, seconds_in_rounds


def test_a_ratio_compares_what_ran_in_the_same_round():
    seconds = {"ours": [2.0, 20.0, 200.0], "theirs": [1.0, 10.0, 100.0]}
    assert ratio(seconds, "ours", "theirs") == Spread(2, 2, 2)
    assert in_words(ratio(seconds, "theirs", "ours")) == "x 0.50 (0.50 to 0.50)"


def test_a_ratio_whose_spread_is_wider_than_itself_is_not_printed():
    narrow = Spread.of([1.0, 1.5, 2.0, 2.4])
    wide = Spread.of([0.1, 1.5, 2.0, 9.0])
    assert narrow.median == wide.median == 1.75
    assert (narrow.says_nothing, wide.says_nothing) == (False, True)
    assert in_words(wide) == "too noisy"
    assert narrow.low == pytest.approx(1.15)
    assert narrow.high == pytest.approx(2.28)


def test_every_way_has_its_turn_in_every_round():
    calls = []
    ways = {name: lambda name=name: calls.append(name) for name in "abc"}
    seconds = seconds_in_rounds(ways, torch.device("cpu"), rounds=4)
    assert all(len(taken) == 4 and min(taken) > 0 for taken in seconds.values())
    changes = sum(one != other for one, other in itertools.pairwise(calls))
    assert changes >= 4 * 2  # they take turns, and none runs all its rounds at once
