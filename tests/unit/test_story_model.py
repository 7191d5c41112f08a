"""The story model: the committed weights are what its command gives."""

import pytest
import torch

from experiments import story_model as training
from helpers.models.switches import silenced
from helpers.recorded import story_model
from helpers.text import corpus, probes
from helpers.text.batches import Documents
from helpers.training.loop import evaluate


@pytest.fixture(scope="module")
def loaded():
    return story_model.load_story_model()


def test_the_weights_are_small_enough_for_a_page(loaded):
    model, tokenizer = loaded
    assert sum(parameter.numel() for parameter in model.parameters()) <= 120_000
    assert story_model.WEIGHTS.stat().st_size <= 300_000
    assert model.vocab_size == tokenizer.vocab_size
    for parameter in model.parameters():
        assert torch.equal(parameter, parameter.half().float())


def test_the_model_reaches_what_is_recorded(loaded):
    model, tokenizer = loaded
    world = corpus.load("little-world")
    held_out = Documents.from_texts(world.held_out, tokenizer, model.context_length)
    recorded = story_model.record()["full"]
    assert evaluate(model, held_out) == pytest.approx(recorded["loss"], abs=2e-4)
    assert recorded["loss"] < 1.02 * world.floor
    assert recorded["floor"] == round(world.floor, 4)
    assert set(recorded["accuracy"].values()) == {1.0}


@pytest.mark.slow
def test_a_short_run_of_the_command_gives_what_was_recorded():
    _, rows = training.train_story_model(**training.SHORT)
    recorded = story_model.record()["short"]
    assert rows.pop("loss") == pytest.approx(recorded.pop("loss"), abs=2e-3)
    shares, expected = rows.pop("accuracy"), recorded.pop("accuracy")
    assert shares == pytest.approx(expected, abs=0.05)
    assert rows == recorded


def test_the_command_writes_both_files(loaded, capsys, monkeypatch, tmp_path):
    model, _ = loaded
    for module in (story_model, training):
        monkeypatch.setattr(module, "WEIGHTS", tmp_path / "weights.safetensors")
        monkeypatch.setattr(module, "RECORD", tmp_path / "record.json")
    rows = {"loss": 0.25}
    monkeypatch.setattr(training, "train_story_model", lambda **_: (model, rows))
    training.main()
    assert story_model.record()["full"] == story_model.record()["short"] == rows
    assert story_model.record()["command"] == training.COMMAND
    again, _ = story_model.load_story_model()
    for one, other in zip(again.parameters(), model.parameters(), strict=True):
        assert torch.equal(one, other)
    assert '"loss": 0.25' in capsys.readouterr().out


def test_the_parts_for_the_page_are_the_recorded_model(loaded):
    model, tokenizer = loaded
    config, weights, alphabet = story_model.page_parts()
    assert alphabet == tokenizer.alphabet
    assert {one.dtype for one in weights.values()} == {torch.float16}
    expected = {name: one.half() for name, one in model.state_dict().items()}
    assert weights.keys() == expected.keys()
    assert all(torch.equal(weights[name], one) for name, one in expected.items())
    queries = weights["blocks.0.attention.W_query.weight"]
    assert queries.shape == (config["width"], config["width"])
    assert config["width"] % config["heads"] == 0
    assert f"blocks.{config['layers'] - 1}.attention.W_query.weight" in weights
    assert f"blocks.{config['layers']}.attention.W_query.weight" not in weights


@pytest.mark.slow  # the questions of twelve stories, six times
def test_what_chapter_9_says_of_its_heads(loaded):
    model, tokenizer = loaded
    stories = corpus.load("little-world", train_stories=1).held_out[20:32]
    predict = probes.model_predictions(model, tokenizer)

    def right_without(layer, head):
        with silenced(model, layer, head):
            return probes.accuracy(stories, predict)

    whole = probes.accuracy(stories, predict)
    assert all(share == 1 for share, _ in whole.values())
    recalling = right_without(1, 0)
    assert recalling["colour"][0] < 0.2
    assert max(recalling[kind][0] for kind in ("agreement", "thing")) < 0.7
    assert right_without(1, 1) == right_without(1, 3) == whole
    for layer, head in ((0, 3), (1, 2)):
        assert right_without(layer, head)["pronoun"][0] < 0.7
