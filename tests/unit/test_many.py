"""experiments of many trainings: side by side, resumed, and what is measured."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest
import torch

from experiments import (
    block_ablations,
    heads,
    many,
    positions,
    running,
    short_contexts,
    sweeps,
)
from helpers.models.language_model import TransformerLM
from helpers.recorded import results
from helpers.recorded.story_model import load_story_model
from helpers.text import corpus, excess, probes
from helpers.text.decisions import DECISIONS
from helpers.text.little_world import LittleWorld
from tests import ROOT


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


@pytest.mark.slow
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


def test_main_fills_the_record_of_that_name(tmp_path, wanted, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(results, "OF_RUNS", ("squares",))
    monkeypatch.setattr("sys.argv", ["experiments.squares", "1"])
    assert many.main("squares", wanted, squared) == 0
    runs = many.read(tmp_path / "squares.json")["runs"]
    assert sorted(run["square"] for run in runs) == [1, 4, 9, 16, 900]


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5"])
def test_a_number_of_processes_that_is_none_is_named(
    number, wanted, monkeypatch, capsys
):
    monkeypatch.setattr("sys.argv", ["experiments.squares", "--", number])
    with pytest.raises(SystemExit) as stopped:
        many.main("squares", wanted, squared)
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert f"whole number of at least 1, got '{number}'" in said
    assert len(said) < 300


def test_the_parts_are_measured_before_they_are_trained_for_equal_times(
    tmp_path, monkeypatch
):
    steps = []
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(block_ablations, "questions", lambda: {"name": 7})
    monkeypatch.setattr(
        block_ablations, "milliseconds", lambda: steps.append("measured") or {}
    )
    monkeypatch.setattr(many, "main", lambda name, *_: steps.append(name))
    assert block_ablations.main() == 0
    assert steps == ["block_ablations", "measured", "block_ablations"]
    record = many.read(tmp_path / "block_ablations.json")
    assert record == {
        "milliseconds": {},
        "torch": torch.__version__,
        "asked": {"name": 7},
        "runs": [],
    }
    assert block_ablations.main() == 0
    assert steps[3:] == ["block_ablations"]


def test_a_record_that_lacks_nothing_stays(tmp_path):
    path = tmp_path / "record.json"
    many.write(path, {"runs": [{"b": 1}, {"a": 1}]})
    record = many.complete(path, lambda record: [], squared, progress=False)
    assert record["runs"] == [{"a": 1}, {"b": 1}]
    assert json.loads(path.read_text()) == record


def told(settings):
    """Write down who works, then work for long."""
    pathlib.Path(settings["file"]).write_text(str(os.getpid()))
    time.sleep(60)


def test_who_works_ends_when_who_hands_out_the_work_is_killed(tmp_path):
    code = (
        "import pathlib, sys\nfrom experiments import many\n"
        "from tests.unit.test_many import told\n"
        "if __name__ == '__main__':\n"
        "    wanted = lambda record: [{'file': sys.argv[2]}]\n"
        "    many.complete(pathlib.Path(sys.argv[1]), wanted, told, processes=1)\n"
    )
    (tmp_path / "begin.py").write_text(code)
    note = tmp_path / "note"
    arguments = [tmp_path / "begin.py", tmp_path / "record.json", note]
    begun = subprocess.Popen(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: note.exists() and note.read_text(), 60)
    worker = int(note.read_text())
    begun.kill()
    begun.wait()
    wait_for(lambda: not runs(worker), 10)


def wait_for(condition, seconds):
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.05)


def runs(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # What nobody has asked about yet is listed, but doesn't run.
    status = pathlib.Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text().split()[2] != "Z"


SWEEP = (0.001, 0.002, 0.004)


def swept(losses, seed=0, **side):
    """Runs of one side with one seed at several rates."""
    return [
        {"rate": rate, "seed": seed, "validation": loss} | side
        for rate, loss in losses.items()
    ]


def lacking(runs):
    """The rates and seeds that side "a" lacks."""
    found = sweeps.lacking(runs, {"side": "a"}, SWEEP)
    assert all(settings["side"] == "a" for settings in found)
    return [(settings["rate"], settings["seed"]) for settings in found]


def test_the_sweep_comes_first_and_goes_on_at_its_edge():
    assert lacking([]) == [(rate, 0) for rate in SWEEP]
    falling = {rate: 1 - rate for rate in SWEEP}
    assert lacking(swept(falling, side="b")) == lacking([])
    assert lacking(swept(falling, side="a")) == [(0.008, 0)]
    rising = {rate: rate for rate in SWEEP}
    assert lacking(swept(rising, side="a")) == [(0.0005, 0)]


def test_five_seeds_are_wanted_at_the_best_rate_and_its_neighbours():
    losses = {0.001: 0.5, 0.002: 0.4, 0.004: 0.3, 0.008: None}
    rates = (0.002, 0.004, 0.008)
    others = [(rate, seed) for rate in rates for seed in (1, 2, 3, 4)]
    runs = swept(losses, side="a")
    assert lacking(runs) == others
    runs += swept(dict.fromkeys(rates, 0.1), seed=3, side="a")
    assert lacking(runs) == [(rate, seed) for rate, seed in others if seed != 3]


def test_where_all_seeds_find_another_rate_best_its_neighbours_are_wanted():
    runs = swept({0.001: 0.5, 0.002: 0.4, 0.004: 0.3, 0.008: 0.5}, side="a")
    for seed in (1, 2, 3, 4):  # for the others, 0.002 is better
        runs += swept({0.002: 0.2, 0.004: 0.3, 0.008: 0.5}, seed, side="a")
    assert lacking(runs) == [(0.001, seed) for seed in (1, 2, 3, 4)]
    for seed in (1, 2, 3, 4):
        runs += swept({0.001: 0.4}, seed, side="a")
    assert lacking(runs) == []


def test_the_first_seed_alone_may_choose_the_rate():
    runs = swept({0.001: 0.5, 0.002: 0.4, 0.004: 0.3, 0.008: 0.5}, side="a")
    for seeds in ((1, 2, 3, 4), ()):
        found = sweeps.lacking(runs, {"side": "a"}, SWEEP, beside=(0,))
        assert [(one["rate"], one["seed"]) for one in found] == [
            (0.004, seed) for seed in seeds
        ]
        for seed in seeds:  # worse than the first seed at the rates beside
            runs += swept({0.004: 0.9}, seed, side="a")


def test_equal_times_are_wanted_once_all_else_is_there():
    runs = []
    for name in block_ablations.RUNGS:
        side = {"rung": name, "steps": block_ablations.STEPS}
        for seed in sweeps.SEEDS:
            runs += swept(dict.fromkeys(block_ablations.SWEEP, 0.4), seed, **side)
            runs += swept({0.004: 0.3}, seed, **side)
    assert block_ablations.wanted({"runs": runs[1:]})
    assert block_ablations.wanted({"runs": runs}) == []
    taken = dict.fromkeys(block_ablations.RUNGS, 20.0)
    taken |= {"+ residual path": 10.0, "one wide block": 10.0}
    wanted = block_ablations.wanted({"runs": runs, "milliseconds": taken})
    assert [(one["rung"], one["steps"], one["rate"]) for one in wanted] == [
        (name, 2 * block_ablations.STEPS, 0.004)
        for name in ("+ residual path", "one wide block")
        for _ in sweeps.SEEDS
    ]


def test_a_rung_is_trained_for_as_long_as_the_whole_takes():
    record = {"milliseconds": {block_ablations.WHOLE: 30.0, "half": 15.0, "odd": 29.0}}
    assert block_ablations.equal_steps(record, "half") == 2 * block_ablations.STEPS
    assert block_ablations.equal_steps(record, "odd") == 2_500


def test_every_rung_can_be_built():
    tokenizer = block_ablations.CharTokenizer("\nab")
    settings = {"rate": 0.01, "seed": 3, "steps": 4}
    for name in block_ablations.RUNGS:
        model, config = block_ablations.build(name, tokenizer, settings)
        assert model(torch.tensor([[0, 1, 2]])).shape == (1, 3, 3)
        assert (config.learning_rate, config.seed, config.steps) == (0.01, 3, 4)


@pytest.mark.slow
def test_a_short_run_measures_what_a_long_one_would():
    settings = {"rung": block_ablations.WHOLE, "rate": 0.01, "seed": 1, "steps": 3}
    run = block_ablations.train_one(settings, validation=3, test=4)
    assert run == block_ablations.train_one(settings, validation=3, test=4)
    assert run["validation"] != run["test"]
    assert 2 < run["test"] < 4.5
    assert run["right"].keys() <= set(probes.KINDS)
    other = block_ablations.train_one(settings | {"seed": 2}, validation=3, test=4)
    assert other["test"] != run["test"]


def test_a_loss_without_bound_is_kept_as_a_run_that_failed(monkeypatch):
    def fail(*_, **__):
        raise FloatingPointError

    monkeypatch.setattr(block_ablations, "train", fail)
    settings = {"rung": block_ablations.WHOLE, "rate": 0.01, "seed": 1, "steps": 3}
    assert block_ablations.train_one(settings, validation=1, test=1) == {
        "validation": None
    }


@pytest.mark.slow
def test_heads_are_switched_off_alone_and_in_pairs():
    size = running.Size(steps=3, stories=6, variants=0, characters=0)
    run = heads.train_one({"seed": 1}, size=size)
    names = [f"{layer}.{head}" for layer in range(2) for head in range(4)]
    assert list(run["zeros"]) == list(run["mean"]) == names
    assert len(run["pairs"]) == 28
    assert run["pairs"]["0.0 1.3"].keys() == run["whole"].keys()
    nats = run["excess"]
    assert list(nats["decisions"]) == list(DECISIONS)
    assert list(nats["zeros"]) == list(nats["mean"]) == names
    assert nats["pairs"].keys() == run["pairs"].keys()
    assert nats["zeros"]["0.0"] != nats["whole"] != nats["mean"]["0.0"]
    assert nats["zeros"]["0.0"] != nats["mean"]["0.0"]
    assert {len(row) for row in nats["pairs"].values()} == {len(nats["decisions"])}
    ways = run["paths"]
    assert list(ways) == ["directly", "through MLPs"]
    for of_way in ways.values():
        assert len(of_way) == 4 * 3 * 4
        assert {len(row) for row in of_way.values()} == {len(probes.KINDS) + 1}
    assert "0.3 queries 1.1" in ways["directly"]
    # After three steps a model knows little, whatever stands there.
    told, world = (
        corpus.load("little-world", held_out_stories=6).held_out,
        LittleWorld(),
    )
    loss = run["loss"] * sum(map(len, told))
    own = -sum(sum(world.read(story)[0]) for story in told)
    assert sum(nats["whole"]) == pytest.approx((loss - own) / 6, rel=0.05)
    assert heads.wanted({"runs": [{"seed": 0}]})[0] == {"seed": 1}


@pytest.mark.slow
def test_the_head_for_colours_is_told_by_the_mlp_what_to_ask_for(monkeypatch):
    monkeypatch.setattr(heads, "READERS", ("queries",))
    model, tokenizer = load_story_model()
    world = corpus.load("little-world", train_stories=20)
    means = heads.mean_contexts(model, running.stories(world, tokenizer, 128)[0])
    found = heads.paths(model, tokenizer, excess.Truth(world.train), means)
    colour = probes.KINDS.index("colour")
    lost = {way: paths["0.3 queries 1.1"][colour] for way, paths in found.items()}
    assert lost["through MLPs"] > 0.3
    assert abs(lost["directly"]) < 0.1
    whole = sum(found["through MLPs"]["0.3 queries 1.1"])
    assert lost["through MLPs"] > 0.5 * whole > 0


def test_the_mean_of_a_head_is_taken_over_the_characters_of_the_stories():
    world = corpus.load("little-world", train_stories=5)
    tokenizer = block_ablations.CharTokenizer(world.alphabet)
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


def test_a_sliding_window_reads_as_much_as_the_model_can():
    model, tokenizer = load_story_model()
    text = "".join(corpus.load("little-world", train_stories=3).train)[:60]
    ids = torch.tensor(tokenizer.encode(text))
    config = dataclasses.replace(model.config, context_length=9)
    short = TransformerLM(config).eval()
    nats = []
    for place in range(9, len(ids)):
        with torch.no_grad():
            logits = short(ids[None, place - 9 : place])[0, -1]
        nats.append(-logits.log_softmax(dim=0)[ids[place]].item())
    found = short_contexts.sliding_loss(short, ids)
    assert found == pytest.approx(sum(nats) / len(nats), abs=1e-5)


@pytest.mark.slow
def test_a_short_run_of_a_short_context():
    settings = {"context_length": 8, "rate": 0.01, "seed": 1, "steps": 3}
    run = short_contexts.train_one(settings, validation=3, test=4)
    assert run == short_contexts.train_one(settings, validation=3, test=4)
    assert len({run["validation"], run["pieces"], run["sliding"]}) == 3
    assert max(run.values()) < 4.5


def test_the_loss_by_place_is_each_places_own(monkeypatch):
    monkeypatch.setattr(positions, "LONGEST", 12)
    monkeypatch.setattr(positions, "PARTS", (0, 1, 5, 12))
    monkeypatch.setattr(positions, "AT_ONCE", 2)
    model, _ = load_story_model()
    ids = torch.randint(model.vocab_size, (12 * 5 + 8,))
    lost = []
    for start in range(0, 12 * 5, 12):
        window = ids[start : start + 13]
        with torch.no_grad():
            logits = model(window[None, :-1])[0]
        lost.append(
            torch.nn.functional.cross_entropy(logits, window[1:], reduction="none")
        )
    means = torch.stack(lost).mean(dim=0)
    expected = [means[a:b].mean().item() for a, b in ((0, 1), (1, 5), (5, 12))]
    assert positions.losses_by_place(model, ids) == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sinusoidal", "alibi"])
def test_a_run_with_positions_is_the_same_each_time(kind):
    settings = {"positions": kind, "rate": 0.004, "seed": 1, "steps": 2}
    run = positions.train_one(settings, validation=3, test=20)
    assert run == positions.train_one(settings, validation=3, test=20)
    assert len(run["losses"]) == len(positions.PARTS) - 1
