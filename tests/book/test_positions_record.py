"""What chapter 12 says of models that read beyond their trained length."""

import itertools
import math
import statistics

import pytest

from experiments import positions, sweeps
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate

RECORD = results.record("positions")
PARTS = list(itertools.pairwise(positions.PARTS))
KNOWN, FIRST_NEW, LAST = (PARTS.index(one) for one in ((48, 64), (64, 80), (384, 512)))
EQUALLY_LIKELY = math.log(46)
ABSOLUTE = ("learned", "sinusoidal")


def best_runs(kind):
    """The run of each seed at the best rate."""
    runs = at_best_rate(RECORD["runs"], positions=kind, steps=positions.STEPS)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return runs


def losses(kind):
    """For each seed at the best rate, its losses part by part."""
    return [run["losses"] for run in best_runs(kind)]


def mean(kind, part):
    return statistics.fmean(seed[part] for seed in losses(kind))


def changes(kind, start, end):
    """By how much each seed's loss is higher in one part than in an earlier one."""
    return [seed[end] - seed[start] for seed in losses(kind)]


def rises(kind):
    """By how much each seed is worse at the end than where it was trained."""
    return changes(kind, KNOWN, LAST)


def test_the_record_lacks_nothing():
    assert positions.wanted(RECORD) == []
    assert all(len(run["losses"]) == len(PARTS) for run in RECORD["runs"])


def test_until_the_trained_length_four_ways_are_alike_and_none_is_worse():
    for part in range(KNOWN + 1):
        means = [mean(kind, part) for kind in positions.POSITIONS if kind != "none"]
        assert max(means) - min(means) < 0.02
    best = max(seed[KNOWN] for kind in positions.POSITIONS[1:] for seed in losses(kind))
    assert min(seed[KNOWN] for seed in losses("none")) > best + 0.05


@pytest.mark.parametrize("kind", ABSOLUTE)
def test_absolute_positions_break_at_the_first_new_places(kind):
    for seed in losses(kind):
        assert seed[FIRST_NEW] - seed[KNOWN] > 2.5
        assert min(seed[FIRST_NEW + 1 :]) > EQUALLY_LIKELY
    expected = {"learned": 4.60, "sinusoidal": 3.70}[kind]
    assert round(mean(kind, FIRST_NEW), 2) == expected
    assert round(mean(kind, KNOWN), 2) == 0.37


def test_rotary_positions_last_longer_in_three_of_five_seeds_and_break_as_badly():
    later = changes("rotary", KNOWN, PARTS.index((80, 96)))
    broken = sorted(change for change in later if change > 0.05)
    assert [round(change, 2) for change in broken] == [0.11, 0.25]
    assert sum(abs(change) < 0.025 for change in later) == 3
    absolute = [changes(kind, KNOWN, PARTS.index((80, 96))) for kind in ABSOLUTE]
    assert min(itertools.chain(*absolute)) > max(later) + 4
    for seed in losses("rotary"):
        assert seed[PARTS.index((96, 128))] - seed[KNOWN] > 1
        assert min(seed[PARTS.index((192, 256)) :]) > EQUALLY_LIKELY
    assert mean_and_interval(rises("rotary")).low > 4


def test_without_positions_the_loss_climbs_all_the_way():
    means = [mean("none", part) for part in range(KNOWN, len(PARTS))]
    assert means == sorted(means)
    assert mean_and_interval(rises("none")).low > 2


def within_the_trained_length(kind):
    """Each seed's loss over the characters of the trained length."""
    return [statistics.fmean(seed[: KNOWN + 1]) for seed in losses(kind)]


def behind_rotary(kind):
    """By how much each seed's loss is above that of rotary positions, so far."""
    pairs = zip(
        within_the_trained_length(kind),
        within_the_trained_length("rotary"),
        strict=True,
    )
    return [other - rotary for other, rotary in pairs]


@pytest.mark.parametrize(("kind", "mean"), [("learned", 0.005), ("sinusoidal", 0.006)])
def test_absolute_positions_are_a_little_behind_rotary_ones_with_every_seed(kind, mean):
    behind = behind_rotary(kind)
    assert min(behind) > 0
    assert mean_and_interval(behind).low > 0
    assert round(statistics.fmean(behind), 3) == mean
    on_validation = [
        other["validation"] - rotary["validation"]
        for other, rotary in zip(best_runs(kind), best_runs("rotary"), strict=True)
    ]
    assert min(on_validation) > 0


def test_whether_alibi_is_behind_rotary_positions_five_seeds_do_not_say():
    found = mean_and_interval(behind_rotary("alibi"))
    assert found.low < 0 < found.high


def test_all_ways_have_one_rate_and_half_the_steps_of_models_that_end_lower():
    best = [run for kind in positions.POSITIONS for run in best_runs(kind)]
    assert {(run["steps"], run["rate"]) for run in best} == {(1200, 0.008)}
    longer = at_best_rate(
        results.record("block_ablations")["runs"],
        rung="two blocks",
        steps=2 * positions.STEPS,
    )
    ends = min(seed[KNOWN] for kind in positions.POSITIONS for seed in losses(kind))
    assert max(run["test"] for run in longer) < ends


def test_only_alibi_reads_on_nearly_as_before():
    found = sorted(round(rise, 3) for rise in rises("alibi"))
    assert found == [0.008, 0.011, 0.039, 0.051, 0.075]
    assert round(min(rises("none")), 2) == 2.64
    for kind in ("learned", "sinusoidal", "rotary"):
        assert min(rises(kind)) > max(rises("none"))
    for kind in positions.POSITIONS[:-1]:
        assert min(seed[LAST] for seed in losses(kind)) > 3
