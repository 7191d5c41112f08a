"""What chapter 13 says of a block's new parts, each alone."""

import pytest

from experiments import block_parts, sweeps
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate
from helpers.text import corpus

RECORD = results.record("block_parts")
NEW = [part for part in block_parts.PARTS if part != block_parts.PLAIN]
STORIES, PLAYS = block_parts.TEXTS


def of_seeds(part, text):
    runs = at_best_rate(RECORD["runs"], part=part, text=text)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return runs


def gain(part, text):
    """By how much the loss falls from the plain block, and the interval of it."""
    pairs = zip(of_seeds(block_parts.PLAIN, text), of_seeds(part, text), strict=True)
    return mean_and_interval(
        [before["test"] - after["test"] for before, after in pairs]
    )


def test_the_record_lacks_nothing():
    assert block_parts.wanted(RECORD) == []


@pytest.mark.parametrize("text", block_parts.TEXTS)
@pytest.mark.parametrize("part", block_parts.PARTS)
def test_the_best_rate_has_a_worse_one_on_either_side(part, text):
    best = of_seeds(part, text)[0]["rate"]
    tried = {
        run["rate"]: run["validation"]
        for run in RECORD["runs"]
        if (run["part"], run["text"], run["seed"]) == (part, text, 0)
    }
    low, _, high = sweeps.neighbours(best)
    assert tried[low] > tried[best] < tried[high]


@pytest.mark.slow
def test_one_run_comes_again():
    (first, *_) = of_seeds("SwiGLU", STORIES)
    settings = {name: first[name] for name in ("text", "part", "rate", "seed", "steps")}
    run = block_parts.train_one(settings)
    for measured in ("validation", "test"):
        assert run[measured] == pytest.approx(first[measured], abs=0.02)
