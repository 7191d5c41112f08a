"""What the page on the two-core minute says of its eleven rungs."""

import statistics

import pytest

from experiments import ladder, sweeps
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate

RECORD = results.record("ladder")
GAINING = ("Muon", "rotary positions", "pairs of characters")


def losses(side, characters=ladder.CHARACTERS):
    runs = at_best_rate(RECORD["runs"], side=side, characters=characters)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return [run["test"] for run in runs]


def gain(low, high, *characters):
    """By how much the loss falls from one side to another, over the seeds."""
    pairs = zip(losses(low, *characters), losses(high, *characters), strict=True)
    return mean_and_interval([before - after for before, after in pairs])


WHOLE = gain("bottom", "top")
ALONE = {rung: gain("bottom", f"alone: {rung}") for rung in ladder.RUNGS}
BESIDE = {rung: gain(f"without: {rung}", "top") for rung in ladder.RUNGS}


def test_the_record_lacks_nothing():
    assert ladder.wanted(RECORD) == []


def test_muon_gains_as_much_alone_as_the_whole_ladder():
    assert round(WHOLE.mean, 2) == round(ALONE["Muon"].mean, 2) == 0.24
    assert ALONE["Muon"].low > 0.15
    assert max(ALONE, key=lambda rung: ALONE[rung].mean) == "Muon"
    for rung, share in (("rotary positions", 0.6), ("pairs of characters", 0.5)):
        assert ALONE[rung].mean == pytest.approx(share * WHOLE.mean, rel=0.1)


def test_two_rungs_do_harm_alone():
    for rung, most in (("a line down to zero", -0.04), ("256 characters", -0.4)):
        assert ALONE[rung].high < most
    assert min(other.high for other in ALONE.values()) == ALONE["256 characters"].high
    unclear = {rung for rung, found in ALONE.items() if found.low < 0 < found.high}
    assert unclear == {"RMSNorm", "two blocks"}


def test_what_is_gained_alone_adds_up_to_three_times_the_whole():
    above = [found.mean for found in ALONE.values() if found.mean > 0]
    assert sum(above) == pytest.approx(3 * WHOLE.mean, rel=0.05)


def test_three_rungs_gain_beside_all_others_and_one_does_harm():
    assert {rung for rung, found in BESIDE.items() if found.low > 0} == set(GAINING)
    assert {rung for rung, found in BESIDE.items() if found.high < 0} == {"two blocks"}
    for rung, mean in zip(GAINING, (0.12, 0.18, 0.05), strict=True):
        assert round(BESIDE[rung].mean, 2) == mean


def test_four_rungs_gain_what_all_eleven_do_and_a_little_less_in_the_end():
    others = gain("few", "top")
    assert others.low < 0 < others.high
    assert round(others.mean, 3) == 0.003
    others = gain("few", "top", ladder.ALL)
    assert others.low > 0.005
    assert round(others.mean, 3) == 0.021
    assert others.high < 0.15 * WHOLE.mean


def test_four_rungs_take_about_as_long_as_all_eleven():
    taken = {
        side: statistics.median(
            run["processor"]
            for run in at_best_rate(
                RECORD["runs"], side=side, characters=ladder.CHARACTERS
            )
        )
        for side in ("bottom", "few", "top")
    }
    assert taken["few"] < 0.65 * taken["bottom"]
    assert taken["few"] < 1.15 * taken["top"]
