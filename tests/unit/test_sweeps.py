"""helpers.recorded.sweeps: the rate that suits a model best, and its seeds."""

import re

import pytest

from helpers.recorded import results
from helpers.recorded.sweeps import at_best_rate, best_rate, recorded_losses


def run(rate, seed, validation, side="a"):
    return {"side": side, "rate": rate, "seed": seed, "validation": validation}


def test_the_best_rate_is_that_of_the_lowest_mean():
    runs = [run(0.1, 0, 0.2), run(0.1, 1, 0.6), run(0.2, 1, 0.3), run(0.2, 0, 0.4)]
    assert best_rate(runs) == 0.2
    assert best_rate(runs[::-1]) == 0.2


def test_a_rate_at_which_a_seed_failed_or_few_were_tried_is_left_out():
    runs = [run(0.1, 0, 0.9), run(0.1, 1, 0.9), run(0.4, 0, 0.1)]
    assert best_rate(runs) == 0.1
    runs += [run(0.2, 0, 0.1), run(0.2, 1, None)]
    assert best_rate(runs) == 0.1
    # Where one fails at the rate that most seeds tried, another is left.
    assert best_rate([run(0.2, 0, 0.1), run(0.2, 1, None), run(0.1, 0, 0.9)]) == 0.1
    for none in ([], [run(0.1, 0, None)]):
        with pytest.raises(ValueError, match=f"runs must .*got {len(none)}"):
            best_rate(none)


def test_the_seeds_at_the_best_rate_come_in_order():
    runs = [run(0.1, seed, 0.5) for seed in (2, 0, 1)]
    runs += [run(0.2, seed, 0.6) for seed in (0, 1, 2)]
    runs += [run(0.2, 0, 0.1, side="b")]
    found = at_best_rate(runs, side="a")
    assert [(one["rate"], one["seed"]) for one in found] == [(0.1, s) for s in range(3)]
    assert at_best_rate(runs, side="b") == runs[-1:]
    with pytest.raises(ValueError, match=re.escape("got {'side': 'c'}")):
        at_best_rate(runs, side="c")


def test_recorded_losses_are_the_test_losses_at_the_best_rate():
    runs = results.record("block_ablations")["runs"]
    settings = {"rung": "one attention layer", "steps": 2400}
    expected = [one["test"] for one in at_best_rate(runs, **settings)]
    assert len(expected) == 5
    assert recorded_losses("block_ablations", **settings) == expected
    with pytest.raises(ValueError, match="settings must be those of a run"):
        recorded_losses("block_ablations", rung="none")
