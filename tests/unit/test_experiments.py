"""experiments: a shortened run gives again what was recorded."""

import collections
import importlib
import json
import math
import runpy
import sys
import types

import pytest

from experiments import many, running, shakespeare
from helpers.recorded import results
from helpers.text import corpus
from tests import ROOT


def flattened(rows, path=()):
    """Pairs of a dotted path and a number."""
    for key, value in rows.items():
        if isinstance(value, dict):
            yield from flattened(value, (*path, key))
        else:
            yield ".".join((*path, key)), value


@pytest.mark.slow
@pytest.mark.parametrize("name", results.NAMES)
def test_a_short_run_gives_what_was_recorded(name):
    try:
        rows = importlib.import_module(f"experiments.{name}").run(running.SHORT)
    except corpus.CorpusUnavailable as error:
        pytest.skip(str(error))
    recorded = dict(flattened(results.read(name, short=True)))
    for path, number in flattened(rows):
        # Few questions are asked, so that one answer more weighs a lot.
        tolerance = 0.15 if ".accuracy." in path else 0.002
        assert number == pytest.approx(recorded.pop(path), abs=tolerance), path
    assert not recorded


def test_the_run_on_shakespeare_needs_no_more_than_a_text(monkeypatch):
    part = "ROMEO:\nBut, soft! what light through yonder window breaks?\n" * 4
    text = corpus.Corpus("a text", (part,), (part,), "".join(sorted(set(part))))
    monkeypatch.setattr(corpus, "load", {"tiny-shakespeare": text}.__getitem__)
    size = running.Size(steps=13, stories=0, variants=2, characters=5)
    rows = shakespeare.run(size)
    assert rows["bits"] == pytest.approx(rows["loss"] / math.log(2), abs=1e-4)
    assert 0 < rows["loss"] < 2 * math.log(len(text.alphabet))
    assert rows["sample"].startswith("ROMEO:")
    assert len(rows["sample"]) == len("ROMEO:") + size.characters
    assert (rows["steps"], rows["parameters"] > 0) == (13, True)
    looks = rows["curve"]
    assert list(looks) == ["2", "4", "6", "8", "10", "12", "13"]
    assert looks["13"]["held_out"] == rows["loss"]
    assert looks["2"]["training"] > looks["13"]["training"]
    counts = collections.Counter(part)
    shares = [count / len(part) for count in counts.values()]
    assert list(rows["ngrams"]) == ["1", "2"]
    # Of what is counted, order 1 mixes some with an even guess.
    entropy = -sum(share * math.log(share) for share in shares)
    assert entropy < rows["ngrams"]["1"] < 1.1 * entropy
    assert rows["ngrams"]["2"] < rows["ngrams"]["1"]


def test_main_writes_a_record_that_is_read_back(tmp_path, monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(shakespeare, "run", lambda size: calls.append(size) or {"a": 1})
    assert running.main(["shakespeare"]) == 0
    assert calls == [running.SHORT, running.FULL]
    assert results.read("shakespeare") == {"a": 1}
    assert json.loads((tmp_path / "shakespeare.json").read_text())["torch"]
    assert capsys.readouterr().out == 'shakespeare: {"a": 1}\n'


def test_without_a_text_its_record_stays(tmp_path, monkeypatch, capsys):
    def fail(size):
        raise corpus.CorpusUnavailable("no network")

    other = types.ModuleType("experiments.other")
    other.run = lambda size: {"a": 1}
    monkeypatch.setitem(sys.modules, "experiments.other", other)
    monkeypatch.setattr(results, "NAMES", (*results.NAMES, "other"))
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(shakespeare, "run", fail)
    assert running.main(["shakespeare", "other"]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["other.json"]
    assert "shakespeare: left as it was: no network" in capsys.readouterr().err


def test_an_unknown_experiment_is_named():
    with pytest.raises(
        ValueError, match=r"name must be one of shakespeare, got 'depth'"
    ):
        results.read("depth")


def test_every_record_lies_where_results_say(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["experiments"])
    for name in (*results.NAMES, *results.OF_RUNS):
        assert results.path(name).is_file()
    everything = r"shakespeare, heads, .*, lora, .*, block_parts, got 'depth'"
    for name in ("depth", "Shakespeare"):
        with pytest.raises(ValueError, match=everything.replace("depth", name)):
            many.main(name, lambda _: [], dict)


def test_an_unknown_record_of_runs_is_named():
    with pytest.raises(ValueError, match=r"name must be one of heads, .*got 'depth'"):
        results.record("depth")


def test_runs_are_found_by_their_settings():
    everything = results.record("lora")["runs"]
    some = everything[0]
    (name, value), *_ = some.items()
    found = results.runs("lora", **{name: value})
    assert some in found
    assert found == [run for run in everything if run.get(name) == value]


def test_settings_that_no_run_has_are_named():
    with pytest.raises(ValueError, match=r"a run's of 'lora', got \{'rank': 'none'\}"):
        results.runs("lora", rank="none")


COMMANDS = [
    f"experiments.{path.stem}"
    for path in sorted((ROOT / "experiments").glob("*.py"))
    if "__main__" in path.read_text(encoding="utf-8") or path.stem == "__main__"
]
COMMANDS.append("experiments.real_model.__main__")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_helps_and_trains_nothing(monkeypatch, capsys, command):
    def train(*_, **__):
        raise AssertionError(f"{command} --help begins to train")

    monkeypatch.setattr(corpus, "load", train)
    monkeypatch.setattr(sys, "argv", [command, "--help"])
    monkeypatch.delitem(sys.modules, command, raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(command, run_name="__main__")
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: python -m {command.removesuffix('.__main__')} ")
