"""What the page on Muon says of the noise in a gradient."""

import pytest
import torch

from experiments import directions
from experiments.sweeps import SEEDS
from helpers.recorded import results, story_model

RUNS = results.record("directions")["runs"]
RECIPE = [run["looks"] for run in RUNS if run["steps"] == directions.LAST]
EARLY, LAST = str(directions.EARLY), str(directions.LAST)


def test_the_record_is_whole():
    assert directions.wanted({"runs": RUNS}) == []
    assert len(RUNS) == len(SEEDS) * (1 + len(directions.OTHERS))
    for run in RUNS:
        steps = [step for step in directions.LOOKS if step <= run["steps"]]
        assert list(run["looks"]) == list(map(str, steps))
    last = story_model.record()["full"]["loss"]
    for looks in RECIPE:
        assert looks[str(directions.LAST)]["loss"] == pytest.approx(last, abs=0.01)


def over_matrices(look, size):
    """What comes again of each group of directions, the mean over the matrices."""
    return torch.tensor([*look[size].values()]).mean(dim=0)


@pytest.mark.parametrize(
    "run", RUNS, ids=lambda run: f"{run['optimizer']}-{run['rate']}"
)
def test_early_on_faint_directions_are_noise_of_16_stories_and_not_of_160(run):
    one, ten = (over_matrices(run["looks"][EARLY], size) for size in ("one", "ten"))
    assert one[0] > 0.4
    assert one[3] < 0.35
    assert ten[3] > 0.5
    assert (ten > one).all()
    assert one[0] > one[3] + 0.1


@pytest.mark.parametrize("looks", RECIPE)
def test_a_fifth_of_16_stories_comes_again_and_two_thirds_of_160(looks):
    one, ten = (over_matrices(looks[EARLY], size) for size in ("one", "ten"))
    assert one[3] == pytest.approx(1 / 5, abs=0.035)
    assert ten[3] == pytest.approx(2 / 3, abs=0.035)


@pytest.mark.parametrize("looks", RECIPE)
def test_later_less_comes_again_and_at_the_end_hardly_anything(looks):
    for size in ("one", "ten"):
        early, later, last = (
            over_matrices(looks[step], size) for step in (EARLY, "400", LAST)
        )
        assert (early > later).all()
        assert (later > 0.1).all()
        assert (last.abs() < 0.12).all()


@pytest.mark.parametrize("looks", RECIPE)
def test_one_matrix_stands_apart(looks):
    faint = {name: kept[3] for name, kept in looks[LAST]["ten"].items()}
    assert faint.pop("1.mlp.2.weight") > 0.5
    assert max(faint.values()) < 0.3
