"""The two-core minute: what it measures, and when it keeps a record."""

import json
import shutil
import subprocess
import sys
import types

import pytest
import torch

from experiments import two_core_minute as minute
from helpers.recorded import results
from helpers.text import corpus
from helpers.text.batches import Windows
from helpers.text.tokenizer import CharTokenizer

SMALL = {
    **{"d_model": 12, "num_heads": 1, "num_layers": 1},
    **{"steps": 3, "warmup_steps": 1, "short_steps": 1},
}


@pytest.fixture
def text():
    return corpus.load("little-world", train_stories=20, held_out_stories=5)


def runs(losses, *, processor=50.0, reference=100.0):
    """Made-up runs of a reference and of a minute with these losses."""
    found = []
    for seed, loss in enumerate(losses):
        one = {"seed": seed, "steps": 7, "seconds": 30.0}
        found += [
            one
            | {"recipe": "reference", "loss": 1.8 + 0.01 * (seed % 5)}
            | {"processor": reference},
            one | {"recipe": "minute", "loss": loss, "processor": processor},
        ]
    return found


def recorded(*made):
    """A record of such runs, one after the other."""
    return {
        "records": [{"commit": "f00d"} for _ in made],
        "runs": [
            {"record": number} | run
            for number, of_one in enumerate(made, 1)
            for run in of_one
        ],
    }


@pytest.mark.one_in(4)
@pytest.mark.parametrize("recipe", minute.RECIPES)
def test_one_training_is_measured(text, recipe):
    run = minute.train_one(text, recipe, 1, **SMALL)
    assert (run["recipe"], run["seed"], run["steps"]) == (recipe, 1, 3)
    assert 2 < run["loss"] < 5
    assert run["seconds"] >= 0 <= run["processor"]
    again = minute.train_one(text, recipe, 1, **SMALL)
    assert again["loss"] == pytest.approx(run["loss"], abs=1e-3)
    other = minute.train_one(text, recipe, 2, **SMALL)
    assert abs(other["loss"] - run["loss"]) > 1e-3


LAST = [1.60, 1.61, 1.62, 1.61, 1.60]  # an error of 0.00374, of a difference 0.00529


def lower(by):
    return [loss - by for loss in LAST]


def test_a_recipe_trains_as_it_says_and_is_judged_on_the_held_out_text(
    monkeypatch, text
):
    ids = CharTokenizer(text.alphabet).encode
    seen = {}

    def train(model, data, config, **_):
        seen.update(model=model.config, config=config, trained=data.fingerprint)
        return types.SimpleNamespace(seconds=12.34)

    def evaluate(model, held_out):
        seen.update(judged=held_out.fingerprint)
        return 1.5

    monkeypatch.setattr(minute, "train", train)
    monkeypatch.setattr(minute, "evaluate", evaluate)
    steps = {"reference": 2000, "in bfloat16": 2000, "minute": 1400, "sprint": 175}
    for recipe in minute.RECIPES:
        run = minute.train_one(text, recipe, 3)
        config = seen["config"]
        length = 64 if recipe in ("reference", "in bfloat16") else 256
        assert seen["model"].context_length == length
        for name, part in (
            ("trained", text.train_text),
            ("judged", text.held_out_text),
        ):
            assert seen[name] == Windows(ids(part), length).fingerprint
        assert config.steps == run["steps"] == steps[recipe]
        assert config.seed == run["seed"] == 3
        rounds = "auto" if recipe == "reference" else "bfloat16"
        assert config.mixed_precision == rounds
        assert (run["loss"], run["seconds"]) == (1.5, 12.3)
        assert 0 <= run["processor"] < 1


def test_two_standard_errors_make_a_record():
    assert minute.is_record(lower(0.01062), LAST)
    assert not minute.is_record(lower(0.01055), LAST)
    assert not minute.is_record(LAST, lower(0.01062))
    before = recorded(runs([2.0] * 5), runs(LAST))  # the last record is what counts
    found, said = minute.verdict(runs(lower(0.012)), before)
    assert found
    assert "1.5960 in 0.50 of the reference's time, after 1.6080" in said
    found, said = minute.verdict(runs(lower(0.009)), before)
    assert not found
    assert "two standard errors" in said


@pytest.mark.parametrize("before", [(), (runs(LAST),)], ids=["first", "second"])
def test_what_takes_longer_than_a_minute_is_no_record(before):
    better = lower(0.1)
    assert minute.verdict(runs(better, processor=75), recorded(*before))[0]
    found, said = minute.verdict(runs(better, processor=76), recorded(*before))
    assert not found
    assert "0.75 at most: 1.5080 in 0.76 of" in said


def test_a_record_stands_beside_the_same_reference():
    better = runs(lower(0.1))
    for run in better:
        if run["recipe"] == "reference":
            run["steps"] += 1
    assert not minute.verdict(better, recorded(runs(LAST)))[0]
    for change, found in ((0.001, True), (0.1, False)):
        better = runs(lower(0.1))
        for run in better:
            if run["recipe"] == "reference":
                run["loss"] += change
        assert minute.verdict(better, recorded(runs(LAST)))[0] == found


def test_a_share_is_the_median_beside_the_reference():
    made = runs([1.5, 1.6, 1.7])
    for run, seconds in zip(made, [10, 5, 20, 12, 10, 90], strict=True):
        run["processor"] = seconds
    assert minute.share(made, "minute", "processor") == 0.6
    assert "minute           7  1.6000 ± 0.0577" in minute.table(made)


def train_as_told(monkeypatch, tmp_path, losses, *, share=0.5):
    """The command in a repository of its own, with trainings that are made up."""
    if not (tmp_path / ".git").exists():
        git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
        (tmp_path / ".git" / "info" / "exclude").write_text("*.json")
    monkeypatch.setattr(minute.corpus, "load", lambda name: name)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    threads = []
    monkeypatch.setattr(torch, "set_num_threads", threads.append)

    def train_one(text, recipe, seed):
        assert text == "tiny-shakespeare"
        assert set(threads) == {2}
        found = losses if recipe == "minute" else [1.8, 1.81, 1.82, 1.81, 1.8]
        if found[seed % 5] is None:
            raise FloatingPointError("the loss is nan")
        one = {"recipe": recipe, "seed": seed, "steps": 7, "loss": found[seed % 5]}
        times = share if recipe == "minute" else 1.0
        return one | {"seconds": 30.0 * times, "processor": 50.0 * times}

    monkeypatch.setattr(minute, "train_one", train_one)
    return tmp_path / "two_core_minute.json"


def test_records_are_kept_one_after_the_other(monkeypatch, tmp_path, capsys):
    losses = [1.6, 1.61, 1.62, 1.61, 1.6]
    path = train_as_told(monkeypatch, tmp_path, losses)
    assert minute.main(["--keep"]) == 0
    train_as_told(monkeypatch, tmp_path, [loss - 0.1 for loss in losses])
    assert minute.main([]) == 0  # nothing is kept unasked
    assert len(json.loads(path.read_text())["records"]) == 1
    assert minute.main(["--keep"]) == 0
    assert minute.main(["--keep"]) == 0  # the same again is no record
    kept = results.record("two_core_minute")
    commit = subprocess.run(
        ["git", "-C", str(tmp_path), "rev-parse", "HEAD"],
        capture_output=True,
        text=True,
    ).stdout[:12]
    assert [one["commit"] for one in kept["records"]] == [commit] * 2
    assert all(one["torch"] == torch.__version__ for one in kept["records"])
    assert all(one["processor"] for one in kept["records"])
    assert all(isinstance(one["bfloat16"], bool) for one in kept["records"])
    assert {run["record"] for run in kept["runs"]} == {1, 2}
    assert len(kept["runs"]) == 2 * 5 * len(minute.RECIPES)
    seeds = {(run["record"], run["seed"]) for run in kept["runs"]}
    assert seeds == {(1, s) for s in range(5, 10)} | {(2, s) for s in range(10, 15)}
    assert capsys.readouterr().out.count("no record") == 1


def test_uncommitted_files_are_named_before_anything_is_trained(
    monkeypatch, tmp_path, capsys
):
    path = train_as_told(monkeypatch, tmp_path, [None] * 5)
    (tmp_path / "config.py").write_text("")
    assert minute.main(["--keep"]) == 1
    assert "commit these files first:\n?? config.py" in capsys.readouterr().err
    assert not path.exists()


def test_without_a_repository_nothing_is_kept(monkeypatch, tmp_path, capsys):
    train_as_told(monkeypatch, tmp_path, [None] * 5)
    shutil.rmtree(tmp_path / ".git")
    assert minute.main(["--keep"]) == 1
    assert "not a git repository" in capsys.readouterr().err


def test_a_training_that_diverges_is_named(monkeypatch, tmp_path, capsys):
    train_as_told(monkeypatch, tmp_path, [1.6, 1.6, 1.6, None, 1.6])
    assert minute.main([]) == 1
    assert "minute, seed 3: the loss is nan" in capsys.readouterr().err


def test_a_text_that_cannot_be_had_is_said(monkeypatch, tmp_path, capsys):
    train_as_told(monkeypatch, tmp_path, [1.6] * 5)

    def load(name):
        raise corpus.CorpusUnavailable(f"can't fetch {name}")

    monkeypatch.setattr(minute.corpus, "load", load)
    assert minute.main([]) == 1
    assert "can't fetch tiny-shakespeare" in capsys.readouterr().err


def test_the_command_has_a_help():
    command = [sys.executable, "-m", "experiments.two_core_minute", "--help"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "--keep" in found.stdout
