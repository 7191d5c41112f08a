"""experiments.many, parts and heads: side by side, resumed, and what is measured."""

import json
import pathlib

import pytest
import torch

from experiments import heads, many, parts, running
from helpers.recorded.story_model import load_story_model
from helpers.text import corpus, probes


def squared(settings):
    """What stands for a training here; it stops where a file tells it to."""
    if pathlib.Path(settings["stop"]).exists() and settings["number"] == 3:
        raise KeyboardInterrupt
    return {"square": settings["number"] ** 2, "threads": torch.get_num_threads()}


@pytest.fixture
def wanted(tmp_path):
    """The squares of 1 to 4 that a record lacks, and of their sum's in the end."""

    def missing(record):
        found = {run["number"]: run["square"] for run in record["runs"]}
        numbers = [number for number in (1, 2, 3, 4) if number not in found]
        if not numbers and (total := sum(found.values())) == 30:
            numbers = [total]
        return [{"number": one, "stop": str(tmp_path / "stop")} for one in numbers]

    return missing


def test_runs_are_kept_as_they_end_and_not_made_again(tmp_path, wanted):
    path = tmp_path / "record.json"
    (tmp_path / "stop").touch()
    with pytest.raises(KeyboardInterrupt):
        many.complete(path, wanted, squared, processes=1, progress=False)
    begun = many.read(path)["runs"]
    assert [run["square"] for run in begun] == [1, 4]
    for run in begun:  # marked, to be known again
        run["square"] += 0.0
    many.write(path, {"head": [1], "runs": begun})

    (tmp_path / "stop").unlink()
    record = many.complete(path, wanted, squared, processes=2, progress=False)
    assert record == many.read(path)
    squares = {run["number"]: run["square"] for run in record["runs"]}
    assert squares == {1: 1, 2: 4, 3: 9, 4: 16, 30: 900}
    assert [type(squares[number]) for number in (1, 2, 3)] == [float, float, int]
    assert {run["threads"] for run in record["runs"]} == {1}
    assert record["head"] == [1]
    lines = path.read_text().splitlines()
    assert sum('"square"' in line for line in lines) == len(squares)


def test_a_record_that_lacks_nothing_stays(tmp_path):
    path = tmp_path / "record.json"
    many.write(path, {"runs": [{"b": 1}, {"a": 1}]})
    record = many.complete(path, lambda record: [], squared, progress=False)
    assert record["runs"] == [{"a": 1}, {"b": 1}]
    assert json.loads(path.read_text()) == record


def swept(losses, **others):
    """Runs of one rung with one seed at several rates."""
    return [
        {"rung": parts.WHOLE, "seed": 0, "steps": parts.STEPS, "rate": rate}
        | {"validation": loss}
        | others
        for rate, loss in losses.items()
    ]


def lacking(runs):
    """The rates and seeds that the rung lacks, at the full number of steps."""
    record = {"runs": runs, "milliseconds": dict.fromkeys(parts.RUNGS, 20.0)}
    return [
        (settings["rate"], settings["seed"])
        for settings in parts.wanted(record)
        if settings["rung"] == parts.WHOLE
    ]


def test_the_sweep_comes_first_and_goes_on_at_its_edge():
    assert lacking([]) == [(rate, 0) for rate in parts.SWEEP]
    falling = {rate: 1 - rate for rate in parts.SWEEP}
    assert lacking(swept(falling)) == [(0.032, 0)]
    rising = {rate: rate for rate in parts.SWEEP}
    assert lacking(swept(rising)) == [(0.0005, 0)]


def test_five_seeds_are_wanted_at_the_best_rate_and_its_neighbours():
    losses = dict(zip(parts.SWEEP, (0.5, 0.4, 0.3, None, None), strict=True))
    others = [(rate, seed) for rate in (0.002, 0.004, 0.008) for seed in (1, 2, 3, 4)]
    assert lacking(swept(losses)) == others


def test_a_rung_is_trained_for_as_long_as_the_whole_takes():
    record = {"milliseconds": {parts.WHOLE: 30.0, "half": 15.0, "odd": 29.0}}
    assert parts.equal_steps(record, "half") == 2 * parts.STEPS
    assert parts.equal_steps(record, "odd") == 2_500


def test_every_rung_can_be_built():
    tokenizer = parts.CharTokenizer("\nab")
    settings = {"rate": 0.01, "seed": 3, "steps": 4}
    for name in parts.RUNGS:
        model, config = parts.build(name, tokenizer, settings)
        assert model(torch.tensor([[0, 1, 2]])).shape == (1, 3, 3)
        assert (config.learning_rate, config.seed, config.steps) == (0.01, 3, 4)


def test_a_short_run_measures_what_a_long_one_would():
    settings = {"rung": parts.WHOLE, "rate": 0.01, "seed": 1, "steps": 3}
    run = parts.train_one(settings, validation=3, test=4)
    assert run == parts.train_one(settings, validation=3, test=4)
    assert run["validation"] != run["test"]
    assert 2 < run["test"] < 4.5
    assert run["right"].keys() <= set(probes.KINDS)
    other = parts.train_one(settings | {"seed": 2}, validation=3, test=4)
    assert other["test"] != run["test"]


def test_a_loss_without_bound_is_kept_as_a_run_that_failed(monkeypatch):
    def fail(*_, **__):
        raise FloatingPointError

    monkeypatch.setattr(parts, "train", fail)
    settings = {"rung": parts.WHOLE, "rate": 0.01, "seed": 1, "steps": 3}
    assert parts.train_one(settings, validation=1, test=1) == {"validation": None}


def test_xavier_weights_are_larger_than_the_usual_ones():
    tokenizer = parts.CharTokenizer("\nab")
    settings = {"rate": 0.01, "seed": 3, "steps": 4}
    largest = [
        parts.build(name, tokenizer, settings)[0].blocks[0].attention.W_key.weight.max()
        for name in ("six without the path", "six without the path, Xavier")
    ]
    assert largest[0] < 1 / 64**0.5 < largest[1] < (6 / 128) ** 0.5


def test_heads_are_switched_off_alone_and_in_pairs():
    size = running.Size(steps=3, stories=6, variants=0, characters=0)
    run = heads.train_one({"seed": 1}, size=size)
    names = [f"{layer}.{head}" for layer in (1, 2) for head in (1, 2, 3, 4)]
    assert list(run["zeros"]) == list(run["mean"]) == names
    assert len(run["pairs"]) == 28
    assert run["pairs"]["1.1 2.4"].keys() == run["whole"].keys()
    assert heads.wanted({"runs": [{"seed": 0}]})[0] == {"seed": 1}


def test_the_mean_of_a_head_is_taken_over_the_characters_of_the_stories():
    world = corpus.load("little-world", train_stories=5)
    tokenizer = parts.CharTokenizer(world.alphabet)
    model, _ = load_story_model()
    means = heads.mean_contexts(model, running.stories(world, tokenizer, 128)[0])
    kept = []
    out_proj = model.blocks[1].attention.out_proj
    hook = out_proj.register_forward_pre_hook(lambda _, x: kept.append(x[0][0]))
    for story in world.train:
        with torch.no_grad():
            model(torch.tensor([tokenizer.encode("\n" + story[:-1])]))
    hook.remove()
    expected = torch.cat(kept).mean(dim=0)[32:48]
    torch.testing.assert_close(means[1, 2], expected, atol=1e-5, rtol=1e-4)
