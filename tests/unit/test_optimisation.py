"""experiments.optimisation: what is changed, what is wanted, what is measured."""

import itertools
import math
import statistics

import pytest
import torch

from experiments import optimisation
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate, has
from helpers.text.little_world import LittleWorld
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import preset
from helpers.training.loop import train

PLAIN = {"change": optimisation.PLAIN, "rate": 0.01, "seed": 1, "steps": 12}
FEW = {"validation": 3, "test": 4}


def built(change):
    tokenizer = CharTokenizer("\nab")
    return optimisation.build(tokenizer, PLAIN | {"change": change})


def test_a_change_changes_what_it_says_and_nothing_else():
    _, plain = built(optimisation.PLAIN)
    expected = {
        "no warm-up": {"warmup_steps": 0},
        "no clipping": {"gradient_clip": None},
        "no weight decay": {"weight_decay": 0.0},
        "ten times the decay": {"weight_decay": 10 * plain.weight_decay},
        "constant rate": {"schedule": "constant"},
        "4, as many stories": {"batch_size": 4, "steps": 48, "warmup_steps": 8},
        "64, as many stories": {"batch_size": 64, "steps": 3, "warmup_steps": 0},
        "4, as many steps": {"batch_size": 4},
        "64, as many steps": {"batch_size": 64},
    }
    assert (plain.batch_size, plain.steps, plain.warmup_steps) == (16, 12, 2)
    assert (plain.learning_rate, plain.seed) == (0.01, 1)
    for change in optimisation.CHANGES:
        _, config = built(change)
        changed = {
            name: value
            for name, value in vars(config).items()
            if value != vars(plain)[name]
        }
        assert changed == expected.get(change, {}), change


def test_the_same_first_weights_are_scaled():
    plain, _ = built(optimisation.PLAIN)
    for change, scale in optimisation.FIRST_WEIGHTS.items():
        model, _ = built(change)
        for name, weight in model.state_dict().items():
            part = "embeddings" if "embedding" in name else "layers"
            kept = name.startswith("head") or weight.dim() == 1 or "mask" in name
            times = 1.0 if kept else scale.get(part, 1.0)
            torch.testing.assert_close(weight, plain.state_dict()[name] * times)


def losses(of_rate, change="no clipping"):
    """Runs of one change from each seed, with that validation loss."""
    return [
        {"change": change, "rate": rate, "seed": seed, "steps": optimisation.STEPS}
        | {"validation": loss}
        for rate, loss in of_rate.items()
        for seed in optimisation.SEEDS
    ]


def lacking(runs, change="no clipping"):
    return {
        settings["rate"]
        for settings in optimisation.wanted({"runs": runs})
        if settings.get("change") == change
    }


def test_a_sweep_goes_on_at_its_edge_until_the_best_rate_lies_inside():
    sweep = optimisation.SWEEP
    assert lacking([]) == set(sweep)
    assert lacking([], optimisation.PLAIN) == set(
        optimisation.SWEEPS[optimisation.PLAIN]
    )
    inside = dict(zip(sweep, (0.5, 0.4, 0.3, 0.4, None), strict=True))
    assert lacking(losses(inside)) == set()
    assert lacking(losses(inside)[1:]) == {sweep[0]}
    rising = dict(zip(sweep, (0.2, 0.4, 0.5, 0.6, 0.7), strict=True))
    assert lacking(losses(rising)) == {sweep[0] / 2}
    assert lacking(losses(rising | {sweep[0] / 2: 0.3})) == set()
    falling = dict(zip(sweep, (0.7, 0.6, 0.5, 0.4, 0.3), strict=True))
    assert lacking(losses(falling)) == {sweep[-1] * 2}
    assert lacking(losses(falling | {sweep[-1] * 2: 0.2})) == {sweep[-1] * 4}


def test_nothing_is_wanted_twice_and_every_seed_once():
    every = optimisation.wanted({"runs": []})
    assert len({tuple(one.items()) for one in every}) == len(every)
    few = [one for one in every if "stories" in one]
    assert len(few) == len(optimisation.SEEDS)
    assert {one["change"] for one in every[: every.index(few[0])]} == {
        optimisation.PLAIN
    }


def test_a_short_run_measures_what_a_long_one_would():
    run = optimisation.train_one(PLAIN, **FEW)
    assert run == optimisation.train_one(PLAIN, **FEW)
    assert run["validation"] != run["test"]
    assert 1 < run["test"] < 4
    assert len(run["curve"]) == optimisation.PARTS_OF_A_RUN
    assert run["curve"][0] > run["curve"][-1]
    other = optimisation.train_one(PLAIN | {"seed": 2}, **FEW)
    assert other["test"] != run["test"]


@pytest.mark.parametrize("change", [optimisation.PLAIN, "no clipping"])
def test_steps_are_counted_whose_gradient_is_long(change, monkeypatch):
    """The record's count against PyTorch's own lengths, taken before they are cut."""
    seen = []
    clip = torch.nn.utils.clip_grad_norm_

    def noted(parameters, longest):
        seen.append(float(clip(parameters, longest)))
        return torch.tensor(seen[-1])

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", noted)
    run = optimisation.train_one(PLAIN | {"change": change}, **FEW)
    assert run["long"] == pytest.approx(sum(one > 1 for one in seen) / 12, abs=1e-4)
    assert 0 < run["long"] < 1


def test_few_stories_are_learned_by_heart(monkeypatch):
    monkeypatch.setattr(optimisation, "LOOKS", 4)
    settings = {"stories": 2, "rate": 0.01, "seed": 0, "steps": 40}
    curves = optimisation.train_one(settings, **FEW)["curves"]
    assert curves["steps"] == [0, 10, 20, 30, 40]
    assert curves["training"][0] == pytest.approx(math.log(35), abs=0.5)
    assert curves["training"][-1] < curves["held_out"][-1] - 0.3


def test_noise_is_measured_without_the_noise_of_the_measure():
    """Logits of nothing but a bias: every gradient is known, and how it scatters."""
    shares = torch.tensor([0.5, 0.3, 0.2])
    model = torch.nn.Linear(1, 3)
    torch.nn.init.zeros_(model.weight)
    with torch.no_grad():
        model.bias.copy_(torch.tensor([0.0, 1.0, 2.0]))
    gradient = model.bias.detach().softmax(0) - shares
    generator = torch.Generator().manual_seed(0)
    size, found = 2, []
    for _ in range(400):
        targets = torch.multinomial(shares, 3 * size, True, generator=generator)
        batches = [(torch.zeros(size, 1, 1), one[:, None]) for one in targets.split(2)]
        found.append(optimisation.gradient_noise(model, batches))
    whole, off = (
        statistics.fmean(one[name] ** 2 for one in found) for name in ("whole", "off")
    )
    variance = float(1 - shares.square().sum()) / size  # of a mean over two
    assert off == pytest.approx(variance, rel=0.05)
    assert whole == pytest.approx(float(gradient.square().sum()), rel=0.1)
    assert variance / 3 > 0.2 * whole  # what a mean over three batches would add


def test_the_noise_of_chapter_9s_own_run_is_measured():
    tokenizer = CharTokenizer("\nab")
    settings = {"noise": 16, "rate": 0.004, "seed": 0, "steps": 2_400}
    _, config = optimisation.build(tokenizer, settings)
    assert config == preset("plain", tokenizer.vocab_size)[1]
    assert max(optimisation.NOISE_AFTER) == config.steps


def test_noise_is_looked_at_after_the_steps_that_are_named(monkeypatch):
    monkeypatch.setattr(optimisation, "NOISE_AFTER", {2: 32, 5: 48})
    settings = {"noise": 16, "rate": 0.004, "seed": 0, "steps": 5}
    looks = optimisation.train_one(settings, **FEW)["looks"]
    assert [look["step"] for look in looks] == [2, 5]
    assert looks[0]["loss"] > looks[1]["loss"] > 3
    assert all(0 < look["off"] < look["whole"] for look in looks)


def test_a_loss_without_bound_is_kept_as_a_run_that_failed(monkeypatch):
    def fail(*_, **__):
        raise FloatingPointError

    monkeypatch.setattr(optimisation, "train", fail)
    assert optimisation.train_one(PLAIN, **FEW) == {"validation": None}
    assert optimisation.train is not train


def test_means_of_stretches():
    assert optimisation.means([1.0, 2.0, 3.0, 4.0], 2) == [1.5, 3.5]
    assert optimisation.means([1.0, 2.0], 3) == [1.0, 2.0]


# --- what the chapter says of the record ----------------------------------------------

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
