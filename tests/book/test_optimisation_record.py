"""What chapter 10 says of the parts of the training loop."""

import itertools
import statistics

import pytest

from experiments import optimisation
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate, has
from helpers.text.little_world import LittleWorld

RUNS = results.record("optimisation")["runs"]


def of_seeds(change, rate):
    """The test loss of each seed."""
    settings = {"change": change, "rate": rate, "steps": optimisation.STEPS}
    runs = [run for run in RUNS if has(run, settings)]
    assert [run["seed"] for run in runs] == list(optimisation.SEEDS)
    return [run["test"] for run in runs]


def above(worse, better):
    """The mean and the interval of the differences, seed by seed."""
    pairs = zip(of_seeds(*worse), of_seeds(*better), strict=True)
    return mean_and_interval([one - other for one, other in pairs])


def test_the_record_holds_whole_sweeps_alone():
    changes = {run.get("change") for run in RUNS}
    lacking = optimisation.wanted({"runs": RUNS})
    assert {one.get("change") for one in lacking}.isdisjoint(changes - {None})
    for change in changes - {None}:
        rates = sorted({run["rate"] for run in RUNS if run.get("change") == change})
        own = at_best_rate(RUNS, change=change)[0]["rate"]
        assert len(rates) >= 4, change
        assert rates[0] < own < rates[-1], change


def test_the_loss_is_lowest_between_the_ends_and_its_bottom_is_broad():
    runs = [run for run in RUNS if run.get("change") == optimisation.PLAIN]
    assert optimisation.best_rate(runs) == 0.016
    best = (optimisation.PLAIN, 0.016)
    for rate in (0.0005, 0.001, 0.002, 0.004, 0.008):
        assert above((optimisation.PLAIN, rate), best).low > 0, rate
    for rate in (0.008, 0.032):
        assert above((optimisation.PLAIN, rate), best).high < 0.025, rate
    means = [
        statistics.fmean(of_seeds(optimisation.PLAIN, rate))
        for rate in (0.008, 0.016, 0.032)
    ]
    assert max(means) - min(means) < 0.013
    distance = min(means) - LittleWorld().floor
    assert (max(means) - min(means)) / distance == pytest.approx(0.1, abs=0.01)
    assert statistics.fmean(of_seeds(optimisation.PLAIN, 0.001)) > 3 * statistics.fmean(
        of_seeds(*best)
    )


def test_a_bad_rate_leaves_twelve_times_as_much_above_the_floor():
    floor = LittleWorld().floor
    low, best = (of_seeds(optimisation.PLAIN, rate) for rate in (0.0005, 0.016))
    times = [(one - floor) / (two - floor) for one, two in zip(low, best, strict=True)]
    assert min(times) > 11.5
    assert max(times) < 13.5


def test_seeds_disagree_at_rates_that_are_too_high():
    def spread(rate):
        found = of_seeds(optimisation.PLAIN, rate)
        return max(found) - min(found)

    assert spread(0.064) > 0.3
    lowest = min(of_seeds(optimisation.PLAIN, 0.064))
    assert lowest > max(of_seeds(optimisation.PLAIN, 0.016))
    for rate in (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032):
        assert spread(rate) < 0.1, rate


def test_the_gradient_is_clipped_in_fewer_steps_at_higher_rates():
    shares = {
        rate: [
            run["long"]
            for run in RUNS
            if has(run, {"change": optimisation.PLAIN, "rate": rate})
        ]
        for rate in (0.002, 0.004, 0.008, 0.016, 0.032)
    }
    for more, fewer in itertools.pairwise(shares.values()):
        assert all(one > two for one, two in zip(more, fewer, strict=True))
    assert max(shares[0.016]) < 0.06
    assert min(shares[0.002]) >= 0.4


def test_one_hundred_stories_are_learned_by_heart_from_every_seed():
    few = [run["curves"] for run in RUNS if "stories" in run]
    assert len(few) == len(optimisation.SEEDS)
    for found in few:
        held_out = found["held_out"]
        lowest = held_out.index(min(held_out))
        assert found["steps"][lowest] in (90, 120)
        assert held_out[lowest] < 1.6 < 2.6 < held_out[-1]
        assert found["training"][-1] < 0.07 < LittleWorld().floor
    plain = of_seeds(optimisation.PLAIN, optimisation.FEW_RATE)
    assert (round(min(plain), 2), round(max(plain), 2)) == (0.41, 0.44)


def test_without_a_warm_up_the_loss_is_higher_and_the_more_so_the_higher_the_rate():
    means = []
    for rate in optimisation.SWEEP:
        found = above(("no warm-up", rate), (optimisation.PLAIN, rate))
        assert found.low > 0, rate
        means.append(found.mean)
    assert means == sorted(means)
    assert means[0] < 0.03 < 0.8 < means[3]
    assert at_best_rate(RUNS, change="no warm-up")[0]["rate"] < 0.016
    found = above_at_own_rates("no warm-up")
    assert found.low > 0
    assert found.mean > 0.2


def above_at_own_rates(change):
    """How far one change's losses lie above the recipe's, each at its best rate."""
    best = at_best_rate(RUNS, change=optimisation.PLAIN)[0]["rate"]
    own = at_best_rate(RUNS, change=change)[0]["rate"]
    return above((change, own), (optimisation.PLAIN, best))


def test_a_constant_rate_wins_at_an_old_rate_and_loses_at_its_own():
    for rate in optimisation.SWEEP:
        found = above(("constant rate", rate), (optimisation.PLAIN, rate))
        assert found.high < 0 if rate < 0.008 else found.low > 0, rate
    at_old = above(("constant rate", 0.002), (optimisation.PLAIN, 0.002))
    own = above_at_own_rates("constant rate")
    assert own.low > 0
    assert (round(at_old.mean, 2), round(own.mean, 2)) == (-0.26, 0.05)


def test_clipping_helps_at_an_old_rate_and_nobody_can_tell_at_the_best():
    old = above(("no clipping", 0.002), (optimisation.PLAIN, 0.002))
    assert old.low > 0
    assert round(old.mean, 2) == 0.02
    assert at_best_rate(RUNS, change="no clipping")[0]["rate"] == 0.016
    own = above_at_own_rates("no clipping")
    assert (round(own.low, 3), round(own.high, 3)) == (-0.004, 0.010)


def test_clipping_is_worth_most_where_fewest_steps_are_clipped_if_anything():
    costs = [
        above(("no clipping", rate), (optimisation.PLAIN, rate))
        for rate in optimisation.SWEEP
    ]
    assert max(costs, key=lambda cost: cost.mean) is costs[-1]
    assert costs[-1].low < 0 < costs[-1].high


def test_there_is_no_overfitting_at_the_best_rate():
    runs = at_best_rate(RUNS, change=optimisation.PLAIN)
    assert all(abs(run["curve"][-1] - run["test"]) < 0.01 for run in runs)
    ben = runs[0]
    assert round(ben["test"], 2) == round(ben["curve"][-1], 2) == 0.41


def test_the_weight_decay_is_worth_thousandths():
    for change in ("no weight decay", "ten times the decay"):
        found = above_at_own_rates(change)
        old = above((change, 0.002), (optimisation.PLAIN, 0.002))
        assert max(abs(found.mean), abs(old.mean)) < 0.003, change
        assert -0.006 < found.low < found.high < 0.006, change


def test_large_embeddings_need_a_high_rate_and_small_ones_bear_none():
    large = above(("embeddings of 1", 0.002), (optimisation.PLAIN, 0.002))
    small = above(("embeddings of 0.02", 0.002), (optimisation.PLAIN, 0.002))
    assert large.low > 0.4
    assert small.low < 0 < small.high
    best = at_best_rate(RUNS, change="embeddings of 1")[0]["rate"]
    assert best == 0.064 == 4 * 0.016
    own = above_at_own_rates("embeddings of 1")
    assert 0 < own.low < own.high < 0.05
    pairs = (of_seeds("embeddings of 1", rate) for rate in (0.064, 0.128))
    assert all(one < twice for one, twice in zip(*pairs, strict=True))
    assert at_best_rate(RUNS, change="embeddings of 0.02")[0]["rate"] < 0.016
    assert above_at_own_rates("embeddings of 0.02").low > 0.04
    for rate in (0.016, 0.032):
        plain = (optimisation.PLAIN, rate)
        assert above(("embeddings of 0.02", rate), plain).low > 0, rate


def test_no_rate_mends_large_matrices():
    old = above(("layers × 3", 0.002), (optimisation.PLAIN, 0.002))
    own = above_at_own_rates("layers × 3")
    assert (round(old.mean, 1), round(own.mean, 1)) == (0.5, 0.5)
    assert own.low > 0.3


def test_small_batches_win_on_as_many_stories_and_large_ones_in_as_many_steps():
    few, many_at_once = (
        above_at_own_rates(f"{size}, as many stories") for size in (4, 64)
    )
    assert few.high < 0 < many_at_once.low
    assert (round(few.mean, 2), round(many_at_once.mean, 1)) == (-0.06, 0.9)
    few, many_at_once = (
        above_at_own_rates(f"{size}, as many steps") for size in (4, 64)
    )
    assert many_at_once.high < 0 < few.low
    assert 4 * -many_at_once.mean < few.mean


def test_four_times_the_batch_leaves_a_sixth_of_the_loss_above_the_floor_then_a_fifth():
    floor = LittleWorld().floor
    left = [
        [run["test"] - floor for run in at_best_rate(RUNS, change=change)]
        for change in ("4, as many steps", optimisation.PLAIN, "64, as many steps")
    ]
    means = [statistics.fmean(one) for one in left]
    assert [round(one, 2) for one in means] == [0.64, 0.11, 0.02]
    sixth, fifth = (less / more for more, less in itertools.pairwise(means))
    assert sixth == pytest.approx(1 / 6, abs=0.015)
    assert fifth == pytest.approx(1 / 5, abs=0.005)
    first, second = (
        [less / more for more, less in zip(*pair, strict=True)]
        for pair in itertools.pairwise(left)
    )
    assert (round(min(first), 2), round(max(first), 2)) == (0.17, 0.19)
    assert (round(min(second), 2), round(max(second), 2)) == (0.13, 0.34)


def test_one_batch_guesses_well_at_first_and_hardly_at_all_at_the_end():
    looks = [run["looks"] for run in RUNS if "noise" in run]
    assert len(looks) == 5
    for of_one in looks:
        off = [look["off"] / look["whole"] for look in of_one]
        assert [look["step"] for look in of_one] == [*optimisation.NOISE_AFTER]
        assert off == sorted(off)
        assert 0.135 < off[0] < 0.155
        assert off[-1] > 10
        # After twelve of a hundred steps of warm-up.
        assert of_one[0]["loss"] > 3.4
