"""experiments.optimisation: what is changed, what is wanted, what is measured."""

import math
import statistics

import pytest
import torch

from experiments import optimisation
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


@pytest.mark.slow
def test_a_short_run_measures_what_a_long_one_would():
    run = optimisation.train_one(PLAIN, **FEW)
    assert run == optimisation.train_one(PLAIN, **FEW)
    assert run["validation"] != run["test"]
    assert 1 < run["test"] < 4
    assert len(run["curve"]) == optimisation.PARTS_OF_A_RUN
    assert run["curve"][0] > run["curve"][-1]
    other = optimisation.train_one(PLAIN | {"seed": 2}, **FEW)
    assert other["test"] != run["test"]


@pytest.mark.slow
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


@pytest.mark.slow
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
