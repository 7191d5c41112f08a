"""experiments.directions: what comes again of a gradient."""

import itertools

import pytest
import torch

from experiments import directions
from helpers.recorded import results, story_model
from helpers.recorded.sweeps import has
from helpers.text import corpus
from helpers.text.batches import NOTHING, Documents

RUNS = results.record("directions")["runs"]
EARLY = str(directions.EARLY)
MATRICES = list(RUNS[0]["looks"]["0"]["one"])


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


@pytest.mark.slow
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
