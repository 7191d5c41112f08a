"""What the page "Latent attention" says of kinds of attention with equal caches."""

import pytest

from experiments import block_parts, equal_caches, sweeps
from helpers import published
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate

RUNS = results.record("equal_caches")["runs"]


def of_seeds(side):
    runs = at_best_rate(RUNS, side=side)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return runs


def loss(side):
    return mean_and_interval([run["test"] for run in of_seeds(side)])


def test_the_record_lacks_nothing():
    assert equal_caches.wanted({"runs": RUNS}) == []


@pytest.mark.parametrize("side", equal_caches.SIDES)
def test_the_best_rate_has_a_worse_one_on_either_side(side):
    best = of_seeds(side)[0]["rate"]
    tried = {
        run["rate"]: run["validation"]
        for run in RUNS
        if (run["side"], run["seed"]) == (side, 0)
    }
    low, _, high = sweeps.neighbours(best)
    assert {low, high} <= {*tried}


@pytest.mark.slow
def test_one_run_comes_again():
    (first, *_) = of_seeds("MLA")
    settings = {name: first[name] for name in ("text", "side", "rate", "seed", "steps")}
    run = equal_caches.train_one(settings)
    for measured in ("validation", "test"):
        assert run[measured] == pytest.approx(first[measured], abs=0.02)


def test_keys_of_full_width_end_lower_than_narrow_ones_and_than_latents():
    assert [round(loss(side).mean, 2) for side in ("MHA", "GQA", "MQA", "MLA")] == [
        *(0.56, 0.50, 0.48, 0.61)
    ]
    for low, high in (("MQA", "MHA"), ("MQA", "MLA"), ("GQA", "MLA")):
        pairs = zip(of_seeds(high), of_seeds(low), strict=True)
        gain = mean_and_interval([one["test"] - other["test"] for one, other in pairs])
        assert gain.low > 0, (low, high)


def test_of_latents_and_heads_of_their_own_neither_ends_lower_for_sure():
    pairs = zip(of_seeds("MLA"), of_seeds("MHA"), strict=True)
    above = mean_and_interval([one["test"] - other["test"] for one, other in pairs])
    assert above.low < 0 < above.mean


def test_these_latents_hardly_compress_and_those_of_a_large_model_do():
    small = equal_caches.SIDES["MLA"]["latent_dim"] / block_parts.WIDTH
    large = published.sizes("DeepSeek-V3 671B")
    assert small > 0.8
    assert large["latent"] / large["d_model"] == 1 / 14


def test_the_plain_block_that_caches_twice_as_much_ends_no_lower_than_mqa():
    plain = at_best_rate(
        results.record("block_parts")["runs"],
        part=block_parts.PLAIN,
        text=equal_caches.TEXT,
    )
    assert mean_and_interval([run["test"] for run in plain]).mean > loss("MQA").mean
