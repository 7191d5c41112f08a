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


def losses(kind):
    """For each seed at the best rate, its losses part by part."""
    runs = at_best_rate(RECORD["runs"], positions=kind, steps=positions.STEPS)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return [run["losses"] for run in runs]


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


def test_only_without_positions_the_loss_climbs_within_the_trained_length():
    early = PARTS.index((16, 32))
    assert all(0.05 < change < 0.1 for change in changes("none", early, KNOWN))
    assert round(mean("none", early), 2) == 0.41
    assert round(mean("none", KNOWN), 2) == 0.49
    for kind in positions.POSITIONS[1:]:
        assert max(map(abs, changes(kind, early, KNOWN))) < 0.02


def test_only_alibi_reads_on_nearly_as_before():
    assert all(0 < rise < 0.1 for rise in rises("alibi"))
    assert round(statistics.fmean(rises("alibi")), 2) == 0.04
    for kind in positions.POSITIONS[:-1]:
        assert min(rises(kind)) > 2.5
        assert statistics.fmean(rises(kind)) > 2.815
    parts = [PARTS.index(part) for part in ((64, 80), (80, 96))]
    assert max(changes("alibi", *parts)) < 0
    text = [mean("alibi", part) for part in parts]
    assert round(text[0], 2) - round(text[1], 2) == pytest.approx(0.02)
