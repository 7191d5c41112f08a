"""The one-minute ladder: its rungs are what two recipes differ in, one at a time."""

import dataclasses
import itertools

import pytest

from experiments import recipe_ablations
from helpers.text import corpus
from helpers.text.batches import Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import preset


def options(name):
    model, training = preset(name, vocab_size=2)
    return vars(model) | vars(training)


def test_every_difference_between_the_recipes_is_on_one_rung():
    low, high = options(recipe_ablations.BOTTOM), options(recipe_ablations.TOP)
    differing = {name for name in low if low[name] != high[name]}
    rungs = list(itertools.chain(*recipe_ablations.RUNGS.values()))
    assert len(rungs) == len(set(rungs))
    assert differing - set(recipe_ablations.BESIDE) == set(rungs)


@pytest.mark.parametrize("rung", recipe_ablations.RUNGS)
def test_a_rung_alone_or_left_out_is_one_difference(rung):
    low, high = (
        recipe_ablations.settings_of("bottom"),
        recipe_ablations.settings_of("top"),
    )
    for side, base, other in (("alone", low, high), ("without", high, low)):
        found = recipe_ablations.settings_of(f"{side}: {rung}")
        changed = {name for name in found if found[name] != base[name]}
        assert changed == set(recipe_ablations.RUNGS[rung])
        assert all(found[name] == other[name] for name in changed)


@pytest.mark.parametrize(
    ("side", "rungs"),
    [
        ("few", recipe_ablations.FEW),
        (recipe_ablations.TWO, ("Muon", "two blocks")),
    ],
)
def test_a_few_rungs_together_are_their_differences(side, rungs):
    low, high = (
        recipe_ablations.settings_of("bottom"),
        recipe_ablations.settings_of("top"),
    )
    few = recipe_ablations.settings_of(side)
    of_few = set(itertools.chain(*(recipe_ablations.RUNGS[rung] for rung in rungs)))
    assert {name for name in few if few[name] != low[name]} == of_few
    assert all(few[name] == high[name] for name in of_few)


@pytest.mark.slow
def test_a_side_reads_as_many_characters_as_any_other(monkeypatch):
    world = corpus.load("little-world", train_stories=40, held_out_stories=30)
    monkeypatch.setattr(recipe_ablations.corpus, "load", lambda name: world)
    small = {"d_model": 12, "num_heads": 1, "num_layers": 1}
    for side, steps in (("bottom", 16), ("top", 6), ("without: Muon", 6)):
        settings = {"side": side, "rate": 0.004, "seed": 1, "characters": 12_288}
        run = recipe_ablations.train_one(settings, **small)
        assert run["steps"] == steps
        assert 2 < run["validation"] < 5
        assert 2 < run["test"] < 5
        again = recipe_ablations.train_one(settings, **small)
        assert again["test"] == pytest.approx(run["test"], abs=1e-3)


def test_a_side_trains_at_its_rate_and_is_judged_on_halves_of_the_held_out_text(
    monkeypatch,
):
    world = corpus.load("little-world", train_stories=40, held_out_stories=30)
    ids = CharTokenizer(world.alphabet).encode
    half = len(world.held_out_text) // 2
    halves = [ids(world.held_out_text[:half]), ids(world.held_out_text[half:])]
    seen = {"judged": []}

    def train(model, data, config, **_):
        seen.update(model=model.config, config=config, trained=data.fingerprint)

    def evaluate(model, held_out):
        seen["judged"].append(held_out.fingerprint)
        return float(len(seen["judged"]))

    monkeypatch.setattr(recipe_ablations.corpus, "load", lambda name: world)
    monkeypatch.setattr(recipe_ablations, "train", train)
    monkeypatch.setattr(recipe_ablations, "evaluate", evaluate)
    # Steps, those that warm up, and those with short windows.
    counts = {
        "bottom": (1333, 100, 0),
        "top": (500, 10, 250),
        "alone: 256 characters": (500, 38, 250),
        "without: 256 characters": (1333, 10, 0),
        "without: linear decay to zero": (500, 38, 250),
    }
    for side, (steps, warm_up, short) in counts.items():
        seen["judged"].clear()
        settings = {"side": side, "rate": 0.003, "seed": 4, "characters": 1_024_000}
        run = recipe_ablations.train_one(settings)
        config = seen["config"]
        length = seen["model"].context_length
        parts = [Windows(part, length).fingerprint for part in halves]
        assert seen["judged"] == parts
        trained = Windows(ids(world.train_text), length).fingerprint
        assert seen["trained"] == trained
        assert (run["validation"], run["test"]) == (1, 2)
        found = (config.steps, config.warmup_steps, config.short_steps)
        assert found == (steps, warm_up, short)
        assert (config.seed, config.learning_rate) == (4, 0.003)
        assert config.muon_learning_rate == pytest.approx(0.0051)
        assert config.mixed_precision == "bfloat16"
        # A tenth of the rate, as nanoGPT's, where no line goes down to zero.
        last = 0.0 if side in ("top", "without: 256 characters") else 0.0003
        assert config.final_learning_rate == pytest.approx(last)
        for name, value in recipe_ablations.settings_of(side).items():
            if name in vars(seen["model"]):
                assert getattr(seen["model"], name) == value


@pytest.fixture
def configs(monkeypatch):
    """The settings of each training that a test asks for, none of which is run."""
    world = corpus.load("little-world", train_stories=40, held_out_stories=30)
    found = []
    monkeypatch.setattr(recipe_ablations.corpus, "load", lambda name: world)
    monkeypatch.setattr(
        recipe_ablations,
        "train",
        lambda model, data, config, **_: found.append(config),
    )
    monkeypatch.setattr(recipe_ablations, "evaluate", lambda *_: 1.0)
    return found


@pytest.mark.parametrize(("share", "hidden"), [("1/2", 0.002), ("1/8", 0.0005)])
def test_adamw_with_two_rates_differs_from_the_bottom_in_them_alone(
    share, hidden, configs
):
    for side in (f"AdamW: {share}", f"AdamW in bfloat16: {share}", "bottom"):
        settings = {"side": side, "rate": 0.004, "seed": 1, "characters": 1_536_000}
        assert recipe_ablations.train_one(settings)["steps"] == 2_000
    two_rates, in_bfloat16, bottom = configs
    assert two_rates.hidden_learning_rate == hidden
    assert in_bfloat16 == dataclasses.replace(bottom, hidden_learning_rate=hidden)
    assert two_rates == dataclasses.replace(in_bfloat16, mixed_precision="off")


def test_long_windows_differ_from_the_rung_in_positions_or_the_batch_alone():
    rung = recipe_ablations.settings_of("alone: 256 characters")
    rotary, steps = map(
        recipe_ablations.settings_of, (recipe_ablations.ROTARY, recipe_ablations.STEPS)
    )
    assert rotary == rung | {"positions": "rotary"}
    assert steps == rung | {"batch_size": 3}


def test_the_top_in_short_windows_is_trained_as_the_top(monkeypatch):
    world = corpus.load("little-world", train_stories=40, held_out_stories=30)
    lengths, configs = [], []
    monkeypatch.setattr(recipe_ablations.corpus, "load", lambda name: world)

    def train(model, data, config, **_):
        configs.append((config, data.fingerprint))

    def evaluate(model, data):
        lengths.append(max(len(row) for rows, _ in data.all(64) for row in rows))
        return 1.0

    monkeypatch.setattr(recipe_ablations, "train", train)
    monkeypatch.setattr(recipe_ablations, "evaluate", evaluate)
    for side in (recipe_ablations.SHORT, "top"):
        settings = {"side": side, "rate": 0.008, "seed": 1, "characters": 1_024_000}
        recipe_ablations.train_one(settings)
    assert configs[0] == configs[1]
    assert lengths == [64, 64, 256, 256]


@pytest.mark.parametrize(("ratio", "of_muon"), [("0.425", 0.0034), ("0.85", 0.0068)])
def test_another_ratio_differs_from_muons_rung_in_muons_rate_alone(
    ratio, of_muon, configs
):
    for side in (f"Muon: ratio {ratio}", "alone: Muon"):
        settings = {"side": side, "rate": 0.008, "seed": 1, "characters": 1_024_000}
        recipe_ablations.train_one(settings)
    other, rung = configs
    assert rung.muon_learning_rate == pytest.approx(0.0136)
    assert other.muon_learning_rate == pytest.approx(of_muon)
    rate = rung.muon_learning_rate
    assert dataclasses.replace(other, muon_learning_rate=rate) == rung


def test_a_side_at_far_too_high_a_rate_has_no_loss(monkeypatch):
    world = corpus.load("little-world", train_stories=40, held_out_stories=30)
    monkeypatch.setattr(recipe_ablations.corpus, "load", lambda name: world)
    settings = {"side": "bottom", "rate": 1e12, "seed": 1, "characters": 12_288}
    small = {"d_model": 12, "num_heads": 1, "num_layers": 1, "gradient_clip": None}
    assert recipe_ablations.train_one(settings, **small) == {"validation": None}
