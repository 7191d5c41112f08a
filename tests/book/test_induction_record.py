"""What chapter 11 says of how induction heads form."""

import itertools

import pytest
import torch

from experiments import induction as experiment
from experiments import sweeps
from helpers.recorded import results
from helpers.recorded.sweeps import at_best_rate, has

RUNS = results.record("induction")["runs"]
TWO_LAYERS = ("two attention layers", "two blocks")
START = 3.2  # nats, where all begin: about an even guess among the letters


def tuned(model):
    """The five runs at the rate that suits a model best."""
    runs = at_best_rate(RUNS, model=model)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return runs


def highest(run):
    """The best head's prefix matching at each look."""
    return [max(itertools.chain(*scores)) for scores in run["prefix_matching"]]


def half_way(numbers):
    middle, rises = (numbers[0] + numbers[-1]) / 2, numbers[-1] > numbers[0]
    return next(i for i, one in enumerate(numbers) if (one > middle) == rises)


def test_the_record_lacks_no_run():
    assert experiment.wanted({"runs": RUNS}) == []
    assert {run["model"] for run in RUNS} == set(experiment.MODELS)


@pytest.mark.parametrize("model", experiment.MODELS)
def test_two_layers_or_being_told_what_stood_before_are_needed_to_repeat(model):
    for run in tuned(model):
        assert run["second"][0] > START
        if model in (*TWO_LAYERS, "one attention layer, pairs"):
            assert run["second"][-1] < 0.55
            assert highest(run)[-1] > 0.55
        else:
            assert 2 < run["second"][-1] < 2.6
            assert highest(run)[-1] < 0.12


@pytest.mark.parametrize("model", experiment.MODELS)
def test_heads_copy_whether_they_aim_or_not(model):
    for run in tuned(model):
        scores = torch.tensor(run["prefix_matching"][-1])
        layer, head = divmod(int(scores.argmax()), scores.shape[1])
        assert run["own_rank"][-1][layer][head] > 0.89


@pytest.mark.parametrize("model", ["one attention layer", "one block"])
def test_every_head_of_a_single_layer_copies_and_none_aims(model):
    for run in tuned(model):
        assert min(itertools.chain(*run["own_rank"][-1])) >= 0.95
        assert highest(run)[-1] < 0.12
        assert 2.3 < run["second"][-1] < 2.6
        assert round(run["second"][0], 1) == 3.3


@pytest.mark.parametrize("model", experiment.MODELS)
def test_five_seeds_were_trained_at_the_best_rate_and_at_its_neighbours(model):
    seeds = {}
    for run in RUNS:
        if run["model"] == model:
            seeds.setdefault(run["rate"], []).append(run["seed"])
    assert len(seeds) >= 3
    for rate in sweeps.neighbours(tuned(model)[0]["rate"]):
        assert sorted(seeds[rate]) == list(sweeps.SEEDS)


@pytest.mark.parametrize("model", TWO_LAYERS)
def test_the_score_jumps_where_the_loss_bends(model):
    for run in tuned(model):
        score, loss = half_way(highest(run)), half_way(run["second"])
        assert 0 <= loss - score <= 1


def test_some_repeat_by_another_way_that_the_score_does_not_see():
    runs = [
        run
        for run in RUNS
        if has(run, {"model": "two attention layers", "rate": 0.008})
    ]
    assert len(runs) == len(sweeps.SEEDS)
    unseen = 0
    for run in runs:
        assert run["second"][-1] < 0.6
        by_two = max(itertools.chain(*run["in_two_steps"][-1][0]))
        seen = highest(run)[-1] > 0.8
        assert seen == (by_two < 0.2)
        if not seen:
            assert highest(run)[-1] < 0.115
            assert by_two > 0.6
            unseen += 1
    assert unseen == 3
