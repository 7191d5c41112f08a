"""The two-core minute: what it measures, and when it keeps a record."""

import json
import statistics
import subprocess
import sys

import pytest
import torch

from experiments import two_core_minute as minute
from helpers.recorded import results
from helpers.recorded.spread import standard_error
from helpers.text import corpus

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
            one | {"recipe": "reference", "loss": 1.8, "processor": reference},
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


def test_two_standard_errors_make_a_record():
    last = [1.60, 1.61, 1.62, 1.61, 1.60]  # mean 1.608, error 0.0037
    better = [loss - 0.012 for loss in last]  # two errors of the difference: 0.0106
    assert minute.is_record(better, last)
    assert not minute.is_record([loss - 0.009 for loss in last], last)
    assert not minute.is_record(last, better)
    found, said = minute.verdict(runs(better), recorded(runs([2.0] * 5), runs(last)))
    assert found
    assert "1.5960 after 1.6080" in said
    found, said = minute.verdict(runs(last), recorded(runs(better)))
    assert not found
    assert "two standard errors" in said


def test_a_lower_loss_in_more_time_is_no_record():
    last, better = runs([1.6, 1.61]), [1.4, 1.41]
    assert minute.verdict(runs(better, processor=99), recorded(last))[0]
    found, said = minute.verdict(runs(better, processor=101), recorded(last))
    assert not found
    assert "too long" in said
    # A last record that took longer itself may be met in its time.
    slow = recorded(runs([1.6, 1.61], processor=120))
    assert minute.verdict(runs(better, processor=119), slow)[0]


def test_a_share_is_the_median_beside_the_reference():
    made = runs([1.5, 1.6, 1.7])
    for run, seconds in zip(made, [10, 5, 20, 12, 10, 90], strict=True):
        run["processor"] = seconds
    assert minute.share(made, "minute", "processor") == 0.6
    assert "minute         7  1.6000 ± 0.0577" in minute.table(made)


def train_as_told(monkeypatch, tmp_path, losses, *, files=""):
    """The command with trainings that are made up, beside files to be committed."""
    said = {"status": files, "rev-parse": "cafe"}

    def run(words, **_):
        return subprocess.CompletedProcess(words, 0, stdout=said[words[1]])

    monkeypatch.setattr(minute.subprocess, "run", run)
    monkeypatch.setattr(minute.corpus, "load", lambda name: name)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(torch, "set_num_threads", lambda number: None)

    def train_one(text, recipe, seed):
        assert text == "tiny-shakespeare"
        loss = losses[seed % 5] if recipe == "minute" else 1.8
        one = {"recipe": recipe, "seed": seed, "steps": 7, "loss": loss}
        return one | {"seconds": 30.0, "processor": 50.0}

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
    assert [one["commit"] for one in kept["records"]] == ["cafe"] * 2
    assert {run["record"] for run in kept["runs"]} == {1, 2}
    assert len(kept["runs"]) == 2 * 5 * len(minute.RECIPES)
    seeds = {(run["record"], run["seed"]) for run in kept["runs"]}
    assert seeds == {(1, s) for s in range(5, 10)} | {(2, s) for s in range(10, 15)}
    assert capsys.readouterr().out.count("no record") == 1


def test_uncommitted_files_are_named_before_anything_is_trained(
    monkeypatch, tmp_path, capsys
):
    path = train_as_told(monkeypatch, tmp_path, [1.6] * 5, files=" M config.py")
    assert minute.main(["--keep"]) == 1
    assert "config.py" in capsys.readouterr().err
    assert not path.exists()


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


def test_the_record_in_the_book_is_one():
    record = results.record("two_core_minute")
    numbers = range(1, len(record["records"]) + 1)
    assert {run["record"] for run in record["runs"]} == set(numbers)
    for number in numbers:
        of_one = [run for run in record["runs"] if run["record"] == number]
        before = {
            "records": record["records"][: number - 1],
            "runs": [run for run in record["runs"] if run["record"] < number],
        }
        assert minute.verdict(of_one, before)[0]
        seeds = minute.new_seeds(before)
        for recipe in minute.RECIPES:
            assert minute.chosen(of_one, recipe, "seed") == list(seeds)
    losses = minute.chosen(of_one, "minute", "loss")
    assert statistics.fmean(losses) + 2 * standard_error(losses) < 1.55
    assert minute.share(of_one, "minute", "seconds") < 0.75
    assert statistics.fmean(minute.chosen(of_one, "sprint", "loss")) < 1.886
    assert minute.share(of_one, "sprint", "seconds") < 0.15
