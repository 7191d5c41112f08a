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


def test_no_new_part_gains_alone_and_the_norms_old_place_does_on_the_plays():
    found = {(part, text): gain(part, text) for part in SINGLE for text in TEXTS}
    gaining = {side for side, one in found.items() if one.low > 0.002}
    assert gaining == {("post-norm", PLAYS)}
    assert round(found["post-norm", PLAYS].mean, 2) == 0.11
    assert f"{found['GQA, wider MLP', STORIES]:.2f}" == "-0.02 [-0.04, -0.01]"
    for part in NEW:
        for text in TEXTS:
            assert found[part, text].low < 0
            assert 0.015 < found[part, text].high - found[part, text].mean < 0.045


def test_most_that_the_whole_block_gains_is_rotary():
    for text in TEXTS:
        whole = gain(TOGETHER, text, OLD_POSITIONS)
        rotary = gain(block_parts.PLAIN, text, OLD_POSITIONS)
        assert round(rotary.mean, 1) == 0.2
        assert rotary.low > 0.15
        assert rotary.mean > 0.8 * whole.mean
    more = {text: gain(TOGETHER, text) for text in TEXTS}
    assert f"{more[STORIES]:.3f}" == "0.042 [0.014, 0.070]"
    assert more[PLAYS].low < 0 < more[PLAYS].high


def test_without_qk_norm_scores_run_away_at_eight_times_the_best_rate():
    four, eight = block_parts.TOO_HIGH
    best = {part: of_seeds(part, STORIES)[0]["rate"] for part in block_parts.WATCHED}
    without, with_norm = block_parts.WATCHED
    assert (four / best[without], eight / best[without]) == (4, 8)
    assert best[with_norm] == 2 * best[without]

    def found(part, rate, measured):
        runs = results.runs("block_parts", text=STORIES, part=part, rate=rate)
        assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
        return [run[measured] for run in runs]

    losses = {
        (part, rate): found(part, rate, "test")
        for part in block_parts.WATCHED
        for rate in (best[part], four, eight)
    }
    scores = {side: found(*side, "score") for side in losses}
    assert max(scores[without, best[without]]) < 50
    assert min(scores[without, four]) > 500
    assert min(scores[without, eight]) > 20_000
    for rate in (best[with_norm], four, eight):
        assert max(scores[with_norm, rate]) < 20
    assert min(losses[without, four]) > max(losses[with_norm, four])
    assert min(losses[without, eight]) > 2.2
    assert max(losses[with_norm, eight]) < 0.63
    for rate in (four, eight):  # more room for the rate, but no lower loss
        assert min(losses[with_norm, rate]) > max(losses[without, best[without]])
    watched = [run for run in RECORD["runs"] if "score" in run]
    assert {(run["part"], run["text"]) for run in watched} == {
        (part, STORIES) for part in block_parts.WATCHED
    }


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
