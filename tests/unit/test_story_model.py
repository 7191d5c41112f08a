"""The story model: the committed weights are what its command gives."""

import copy

import pytest
import torch

from experiments import story_model as training
from helpers.models.eight_bits import from_eight_bits, to_eight_bits
from helpers.recorded import story_model
from helpers.text import corpus
from helpers.text.batches import Documents
from helpers.training.config import preset
from helpers.training.loop import evaluate


@pytest.fixture(scope="module")
def loaded():
    return story_model.load_story_model()


def test_the_weights_are_small_enough_for_a_page(loaded):
    model, tokenizer = loaded
    assert sum(parameter.numel() for parameter in model.parameters()) <= 120_000
    assert story_model.WEIGHTS.stat().st_size <= 130_000
    assert model.vocab_size == tokenizer.vocab_size
    stored = to_eight_bits(model.state_dict())
    for name, weight in from_eight_bits(stored).items():
        assert torch.equal(weight, model.state_dict()[name])


def test_the_model_is_the_one_that_chapter_9_builds(loaded):
    model, tokenizer = loaded
    config, recipe = preset("plain", tokenizer.vocab_size)
    assert model.config == config
    recorded = story_model.record()["full"]
    assert (recorded["steps"], recorded["seed"]) == (recipe.steps, recipe.seed)


def test_the_model_reaches_what_is_recorded(loaded):
    model, tokenizer = loaded
    world = corpus.load("little-world")
    held_out = Documents.from_texts(world.held_out, tokenizer, model.context_length)
    recorded = story_model.record()["full"]
    assert evaluate(model, held_out) == pytest.approx(recorded["loss"], abs=2e-4)
    assert recorded["loss"] < 1.02 * world.floor
    assert recorded["floor"] == round(world.floor, 5)
    assert set(recorded["accuracy"].values()) == {1.0}


@pytest.mark.slow
def test_the_half_trained_model_reaches_what_is_recorded():
    model, tokenizer = story_model.load_story_model(story_model.EARLY)
    recorded = story_model.record()["early"]
    assert recorded["steps"] == story_model.EARLY
    held_out = corpus.load("little-world").held_out
    documents = Documents.from_texts(held_out, tokenizer, model.context_length)
    assert evaluate(model, documents) == pytest.approx(recorded["loss"], abs=2e-4)
    assert 1.3 < recorded["loss"] < 1.5
    with pytest.raises(ValueError, match="steps must be 100 or 2400, got 50"):
        story_model.load_story_model(50)


@pytest.mark.slow  # a hundred steps
def test_the_first_steps_of_the_command_give_what_was_recorded():
    _, rows = training.train_early()
    recorded = story_model.record()["early"]
    assert rows.pop("loss") == pytest.approx(recorded.pop("loss"), abs=5e-3)
    assert rows == recorded


@pytest.mark.slow
def test_a_short_run_of_the_command_gives_what_was_recorded():
    _, rows = training.train_story_model(**training.SHORT)
    recorded = story_model.record()["short"]
    assert rows.pop("loss") == pytest.approx(recorded.pop("loss"), abs=2e-3)
    cost, expected = rows.pop("8 bits"), recorded.pop("8 bits")
    assert cost == pytest.approx(expected, rel=0.3, abs=1e-3)
    shares, expected = rows.pop("accuracy"), recorded.pop("accuracy")
    assert shares == pytest.approx(expected, abs=0.05)
    assert rows == recorded


def test_the_command_writes_its_files(loaded, capsys, monkeypatch, tmp_path):
    model, _ = loaded
    for name in ("WEIGHTS", "EARLY_WEIGHTS"):
        monkeypatch.setattr(story_model, name, tmp_path / f"{name}.safetensors")
    for module in (story_model, training):
        monkeypatch.setattr(module, "RECORD", tmp_path / "record.json")
    rows = {"loss": 0.25}
    monkeypatch.setattr(training, "train_story_model", lambda **_: (model, rows))
    early = copy.deepcopy(model)
    torch.nn.init.zeros_(early.head.weight)
    monkeypatch.setattr(training, "train_early", lambda: (early, {"loss": 0.5}))
    training.main()
    assert story_model.record()["full"] == story_model.record()["short"] == rows
    assert story_model.record()["early"] == {"loss": 0.5}
    assert story_model.record()["command"] == training.COMMAND
    again, _ = story_model.load_story_model()
    for one, other in zip(again.parameters(), model.parameters(), strict=True):
        assert torch.equal(one, other)
    again, _ = story_model.load_story_model(story_model.EARLY)
    assert torch.equal(again.head.weight, early.head.weight)
    assert '"loss": 0.25' in capsys.readouterr().out


def test_the_parts_for_the_page_are_the_recorded_model(loaded):
    model, tokenizer = loaded
    config, weights, alphabet = story_model.page_parts()
    assert alphabet == tokenizer.alphabet
    expected = model.state_dict()
    again = from_eight_bits(weights)
    assert again.keys() == expected.keys()
    assert all(torch.equal(again[name], one) for name, one in expected.items())
    queries = weights["blocks.0.attention.W_query.weight"]
    assert queries.shape == (config["width"], config["width"])
    assert config["contextLength"] == model.context_length
    assert config["width"] % config["heads"] == 0
    assert f"blocks.{config['layers'] - 1}.attention.W_query.weight" in weights
    assert f"blocks.{config['layers']}.attention.W_query.weight" not in weights


def test_8_bits_cost_what_is_said_of_them():
    cost = story_model.record()["full"]["8 bits"]
    assert abs(cost["loss"]) < 1e-5
    assert cost["mean"] < 0.03
    assert cost["largest"] < 0.3
    assert cost["probability"] < 0.015


def test_rounding_moves_the_logits_as_far_as_the_cost_says(loaded):
    model, tokenizer = loaded
    moved = copy.deepcopy(model)
    with torch.no_grad():
        moved.head.weight[3] += 1.0
        moved.final_norm.weight.zero_()
        moved.final_norm.bias.fill_(0.5)
        shifted = copy.deepcopy(moved)
        shifted.head.weight[3] -= 1.0  # one logit of 46 falls by 64 times 0.5
    cost = training.cost_of_rounding(moved, shifted, ["Ann has"], tokenizer)
    assert cost["largest"] == pytest.approx(32, abs=1e-3)
    assert cost["mean"] == pytest.approx(32 / tokenizer.vocab_size, abs=1e-3)
    assert 0 < cost["probability"] <= 1
