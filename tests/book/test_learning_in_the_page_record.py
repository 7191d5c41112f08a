"""What chapter 10 says of the models that its page trains."""

import pytest

from experiments import learning_in_the_page
from experiments.learning_in_the_page import FACTORS, SEEDS, rates_of
from helpers.recorded import results
from helpers.views.learning_in_the_page import RECIPES, SIZES

RECORD = results.record("learning_in_the_page")
MUON, ADAMW = RECIPES


def runs(recipe, factor=1):
    """A recipe's runs at a factor of its rates, by their seeds."""
    rates = rates_of(recipe, factor)
    found = [
        run
        for run in RECORD["runs"]
        if (run["recipe"], run["rates"]) == (recipe, rates)
    ]
    return sorted(found, key=lambda run: run["seed"])


def above(recipe, factor=1):
    """For each seed, how far above the floor it ended, in percent."""
    return [
        100 * (run["losses"][-1][1] / run["least"] - 1) for run in runs(recipe, factor)
    ]


def test_the_record_lacks_nothing():
    assert learning_in_the_page.wanted(RECORD) == []
    assert {run["losses"][-1][0] for run in RECORD["runs"]} == {SIZES["steps"]}
    assert len(above(MUON)) == len(above(ADAMW)) == len(SEEDS) == 5


def test_from_every_seed_muon_ends_within_a_percent_of_the_floor_and_knows_all():
    assert min(above(MUON)) > 0
    assert max(above(MUON)) < 1
    for run in runs(MUON):
        assert all(right == asked for right, asked in run["right"].values())


def test_from_every_seed_adamw_ends_further_from_it_and_lacks_quotation_marks():
    assert min(above(ADAMW)) > 4.5
    assert max(above(ADAMW)) < 6.5
    for run in runs(ADAMW):
        missed = {kind: asked - right for kind, (right, asked) in run["right"].items()}
        assert run["right"]["quote"] == [35, 82]
        assert missed["quote"] > sum(missed.values()) / 2


def test_adamws_rate_is_about_the_best_of_four_on_the_first_seed():
    first = [
        run for run in RECORD["runs"] if (run["recipe"], run["seed"]) == (ADAMW, 1)
    ]
    assert len(first) == 4
    ends = {run["rates"]["learningRate"]: run["losses"][-1][1] for run in first}
    own = ends.pop(rates_of(ADAMW)["learningRate"])
    assert own < min(ends.values()) < own + 0.002
    of_seeds = [run["losses"][-1][1] for run in runs(ADAMW)]
    assert max(of_seeds) - min(of_seeds) > 0.004


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("factor", FACTORS)
def test_half_and_twice_the_rates_end_no_nearer(recipe, factor):
    """But for a quarter of a percent, which is less than between seeds."""
    (other,) = above(recipe, factor)
    assert other > above(recipe)[0] - 0.25
