"""What the page on Muon says of runs beside AdamW."""

import pytest

from experiments import block_parts, muon, sweeps
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate
from helpers.text import corpus

RECORD = results.record("muon")


def of_seeds(side):
    runs = at_best_rate(RECORD["runs"], side=side)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return runs


def test_the_record_lacks_nothing():
    assert muon.wanted(RECORD) == []


def first_seeds(side):
    """The test loss at each hidden rate that the first seed tried."""
    return {
        run["rate"]: run["test"]
        for run in RECORD["runs"]
        if run["side"] == side and run["seed"] == 0
    }


def test_each_side_has_its_best_rate_inside_what_was_tried():
    for side in muon.SIDES:
        best = of_seeds(side)[0]["rate"]
        low, _, high = sweeps.neighbours(best)
        assert {low, high} <= {*first_seeds(side)}


def test_everything_elses_rate_is_the_one_that_suits_adamw_alone():
    plain = at_best_rate(
        results.record("block_parts")["runs"],
        part=block_parts.PLAIN,
        text=muon.TEXT,
    )
    assert plain[0]["rate"] == muon.BESIDE == of_seeds("AdamW")[0]["rate"]
    losses = [[run["test"] for run in runs] for runs in (plain, of_seeds("AdamW"))]
    assert losses[0] == losses[1]


def test_the_matched_muon_does_as_well_at_adamws_rate_and_better_at_twice_that():
    adamw, matched = (first_seeds(side) for side in ("AdamW", muon.MATCHED))
    assert abs(matched[muon.BESIDE] - adamw[muon.BESIDE]) < 0.02
    assert matched[2 * muon.BESIDE] < matched[muon.BESIDE] - 0.05
    assert of_seeds(muon.MATCHED)[0]["rate"] == 2 * muon.BESIDE
    pairs = zip(of_seeds("AdamW"), of_seeds(muon.MATCHED), strict=True)
    gain = mean_and_interval([one["test"] - other["test"] for one, other in pairs])
    assert gain.low > 0
    assert round(gain.mean, 2) == 0.08


@pytest.mark.parametrize("shape", [(128, 128), (128, 512), (512, 128)])
def test_five_iterations_add_at_most_five_rows_a_token_to_a_matrixs_products(shape):
    m, n = min(shape), max(shape)
    # X Xᵀ, its square, and their sum times X; forward, and backward to both.
    iterations = 5 * (2 * m * m * n + 2 * m**3 + 2 * m * m * n)
    tokens = 768
    assert iterations / (6 * m * n * tokens) <= 5 * m / tokens


@pytest.mark.slow
def test_one_run_comes_again():
    (first, *_) = of_seeds(muon.MATCHED)
    settings = {name: first[name] for name in ("text", "side", "rate", "seed", "steps")}
    try:
        run = muon.train_one(settings)
    except corpus.CorpusUnavailable as error:
        pytest.skip(str(error))
    for measured in ("validation", "test"):
        assert run[measured] == pytest.approx(first[measured], abs=0.03)
