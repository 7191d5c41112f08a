"""What chapter 13 and the page "Latent attention" say of parts of a block, alone."""

import pytest

from experiments import block_parts, sweeps
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate

RECORD = results.record("block_parts")
TOGETHER, OLD_POSITIONS = "all new parts", "learned positions"
SINGLE = [
    part
    for part in block_parts.PARTS
    if part not in (block_parts.PLAIN, TOGETHER, OLD_POSITIONS)
]
NEW = [part for part in SINGLE if part != "post-norm"]
TEXTS = STORIES, PLAYS = block_parts.TEXTS


def of_seeds(part, text):
    runs = at_best_rate(RECORD["runs"], part=part, text=text)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return runs


def gain(part, text, before=block_parts.PLAIN):
    """By how much the loss falls from another block, and the interval of it."""
    pairs = zip(of_seeds(before, text), of_seeds(part, text), strict=True)
    return mean_and_interval(
        [before["test"] - after["test"] for before, after in pairs]
    )


def test_the_record_lacks_nothing():
    assert block_parts.wanted(RECORD) == []


@pytest.mark.parametrize("text", TEXTS)
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


def test_only_the_old_place_of_the_norm_gains_on_both_texts():
    found = {(part, text): gain(part, text) for part in SINGLE for text in TEXTS}
    gaining = {side for side, one in found.items() if one.low > 0}
    assert gaining == {("post-norm", STORIES), ("post-norm", PLAYS)}
    assert round(found["post-norm", PLAYS].mean, 2) == 0.11
    assert round(found["post-norm", STORIES].mean, 2) == 0.03
    assert round(found["post-norm", STORIES].low, 3) == 0.001  # no more than a hint
    for part in ("SwiGLU", "QK-norm", "RMSNorm, no biases"):
        for text in TEXTS:
            assert found[part, text].low < 0 < found[part, text].high


def test_shared_keys_cost_something_on_the_stories_alone():
    found = [gain("GQA, wider MLP", text) for text in (STORIES, PLAYS)]
    assert round(found[0].mean, 2) == -0.02
    assert found[0].high < 0 < found[1].high


def test_no_new_part_gains_as_much_as_the_norms_old_place():
    for text in TEXTS:
        means = {part: gain(part, text).mean for part in SINGLE}
        assert max(means, key=means.get) == "post-norm"


def test_together_the_new_parts_gain_a_little_on_the_stories():
    found = {text: gain(TOGETHER, text) for text in TEXTS}
    assert found[STORIES].low > 0
    assert round(found[STORIES].mean, 2) == 0.04
    assert found[PLAYS].low < 0 < found[PLAYS].high
    for text in TEXTS:
        sums = [0.0] * len(sweeps.SEEDS)
        for part in (*NEW, TOGETHER):
            pairs = zip(
                of_seeds(block_parts.PLAIN, text), of_seeds(part, text), strict=True
            )
            sign = -1 if part == TOGETHER else 1
            for seed, (before, after) in enumerate(pairs):
                sums[seed] += sign * (before["test"] - after["test"])
        over = mean_and_interval(sums)
        assert over.low < 0 < over.high


def test_nearly_all_that_2026_gains_over_2019_is_rotary():
    for text, mean in ((STORIES, 0.26), (PLAYS, 0.19)):
        whole = gain(TOGETHER, text, OLD_POSITIONS)
        rotary = gain(block_parts.PLAIN, text, OLD_POSITIONS)
        assert round(whole.mean, 2) == mean
        assert rotary.low > 0
        assert rotary.mean > 0.8 * whole.mean


def test_rmsnorm_gains_nothing_among_the_parts_of_the_two_core_minute():
    runs = results.record("recipe_ablations")["runs"]
    for low, high in (("bottom", "alone: RMSNorm"), ("without: RMSNorm", "top")):
        sides = (
            [run["test"] for run in at_best_rate(runs, side=side, characters=1_024_000)]
            for side in (low, high)
        )
        found = mean_and_interval([a - b for a, b in zip(*sides, strict=True)])
        assert found.low < 0 < found.high + 0.001
        assert abs(found.mean) < 0.015
