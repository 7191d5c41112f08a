"""The one-minute ladder: its rungs are what two recipes differ in, one at a time."""

import itertools

import pytest

from experiments import ladder
from helpers.text import corpus
from helpers.training.config import preset


def options(name):
    model, training = preset(name, vocab_size=2)
    return vars(model) | vars(training)


def test_every_difference_between_the_recipes_is_on_one_rung():
    low, high = options(ladder.BOTTOM), options(ladder.TOP)
    differing = {name for name in low if low[name] != high[name]}
    rungs = list(itertools.chain(*ladder.RUNGS.values()))
    assert len(rungs) == len(set(rungs))
    assert differing - set(ladder.BESIDE) == set(rungs)


@pytest.mark.parametrize("rung", ladder.RUNGS)
def test_a_rung_alone_or_left_out_is_one_difference(rung):
    low, high = ladder.settings_of("bottom"), ladder.settings_of("top")
    for side, base, other in (("alone", low, high), ("without", high, low)):
        found = ladder.settings_of(f"{side}: {rung}")
        changed = {name for name in found if found[name] != base[name]}
        assert changed == set(ladder.RUNGS[rung])
        assert all(found[name] == other[name] for name in changed)


def test_a_side_reads_as_many_characters_as_any_other(monkeypatch):
    world = corpus.load("little-world", train_stories=40, held_out_stories=30)
    monkeypatch.setattr(ladder.corpus, "load", lambda name: world)
    small = {"d_model": 12, "num_heads": 1, "num_layers": 1}
    for side, steps in (("bottom", 16), ("top", 6), ("without: Muon", 6)):
        settings = {"side": side, "rate": 0.004, "seed": 1, "characters": 12_288}
        run = ladder.train_one(settings, **small)
        assert run["steps"] == steps
        assert 2 < run["validation"] < 5
        assert 2 < run["test"] < 5
        again = ladder.train_one(settings, **small)
        assert again["test"] == pytest.approx(run["test"], abs=1e-3)


def test_a_side_at_far_too_high_a_rate_has_no_loss(monkeypatch):
    world = corpus.load("little-world", train_stories=40, held_out_stories=30)
    monkeypatch.setattr(ladder.corpus, "load", lambda name: world)
    settings = {"side": "bottom", "rate": 1e12, "seed": 1, "characters": 12_288}
    small = {"d_model": 12, "num_heads": 1, "num_layers": 1, "gradient_clip": None}
    assert ladder.train_one(settings, **small) == {"validation": None}
