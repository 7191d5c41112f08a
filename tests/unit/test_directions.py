"""experiments.directions: what comes again of a gradient, and what the page says."""

import itertools

import pytest
import torch

from experiments import directions
from experiments.sweeps import SEEDS
from helpers.recorded import results, story_model
from helpers.recorded.sweeps import has
from helpers.text import corpus
from helpers.text.batches import NOTHING, Documents

RUNS = results.record("directions")["runs"]
RECIPE = [run["looks"] for run in RUNS if run["steps"] == directions.LAST]
EARLY, LAST = str(directions.EARLY), str(directions.LAST)
MATRICES = list(RECIPE[0]["0"]["one"])


def drawn(seed, *shape):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def test_what_is_shared_comes_again_and_noise_does_not():
    fading = torch.linspace(5, 0, 64, dtype=torch.float64)
    shared = drawn(0, 100, 64) * fading  # of its columns, the last are nothing
    pairs = [(drawn(2 * i + 1, 100, 64), drawn(2 * i + 2, 100, 64)) for i in range(20)]

    def mean(add):
        found = [directions.kept(add + one, add + other) for one, other in pairs]
        return torch.stack(found).mean(dim=0)

    ones = torch.ones(4, dtype=torch.float64)
    torch.testing.assert_close(directions.kept(shared, shared), ones)
    torch.testing.assert_close(directions.kept(shared, -2 * shared), -2 * ones)
    assert mean(torch.zeros_like(shared)).abs().max() < 0.05
    strong, *_, faint = mean(shared).tolist()
    assert faint < 0.6 < 0.9 < strong


def test_gradients_are_of_whole_stories_behind_their_start():
    model, tokenizer = story_model.load_story_model(directions.EARLY)
    stories = corpus.load("little-world").held_out
    documents = Documents.from_texts(stories[:320], tokenizer, model.context_length)
    before = {name: one.clone() for name, one in model.state_dict().items()}
    found = directions.look(model, documents)
    assert found["loss"] == pytest.approx(
        story_model.record()["early"]["loss"], abs=0.03
    )
    assert all(one.equal(before[name]) for name, one in model.state_dict().items())
    # The recorded run's, up to the rounding of the weights to 8 bits.
    (run,) = (run for run in RUNS if has(run, {"seed": 0, "steps": directions.LAST}))
    recorded = run["looks"][EARLY]
    for size, name in itertools.product(("one", "ten"), MATRICES):
        assert found[size][name] == pytest.approx(recorded[size][name], abs=0.03)
    ids, targets = next(documents.all(16))
    assert set(ids[:, 0].tolist()) == set(tokenizer.encode("\n"))
    assert NOTHING in targets


def test_the_record_is_whole():
    assert directions.wanted({"runs": RUNS}) == []
    assert len(RUNS) == len(SEEDS) * (1 + len(directions.OTHERS))
    for run in RUNS:
        steps = [step for step in directions.LOOKS if step <= run["steps"]]
        assert list(run["looks"]) == list(map(str, steps))
    last = story_model.record()["full"]["loss"]
    for looks in RECIPE:
        assert looks[str(directions.LAST)]["loss"] == pytest.approx(last, abs=0.01)


def test_only_what_lacks_is_wanted():
    first, *others = RUNS
    settings = {name: first[name] for name in ("optimizer", "rate", "seed", "steps")}
    assert directions.wanted({"runs": others}) == [settings]


@pytest.mark.slow
def test_a_short_run_gives_what_was_recorded():
    settings = {"optimizer": "adamw", "rate": directions.RATE, "seed": 0}
    looks = directions.train_one(settings | {"steps": directions.EARLY})["looks"]
    (run,) = (run for run in RUNS if has(run, settings | {"steps": directions.LAST}))
    assert list(looks) == ["0", EARLY]
    for step, found in looks.items():
        recorded = run["looks"][step]
        assert found["loss"] == pytest.approx(recorded["loss"], abs=0.01)
        for size, name in itertools.product(("one", "ten"), MATRICES):
            assert found[size][name] == pytest.approx(recorded[size][name], abs=0.05)


# --- what the page on Muon says -------------------------------------------------------


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
