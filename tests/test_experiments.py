"""helpers.experiments: a shortened run gives again what was recorded."""

import json
import math

import pytest

from helpers import corpus, experiments
from helpers.little_world import LittleWorld

FLOOR = LittleWorld().floor


def flattened(rows, path=()):
    """Pairs of a dotted path and a number."""
    for key, value in rows.items():
        if isinstance(value, dict):
            yield from flattened(value, (*path, key))
        else:
            yield ".".join((*path, key)), value


@pytest.mark.slow
@pytest.mark.parametrize("name", experiments.EXPERIMENTS)
def test_a_short_run_gives_what_was_recorded(name):
    try:
        rows = experiments.run(name, short=True)
    except corpus.CorpusUnavailable as error:
        pytest.skip(str(error))
    recorded = dict(flattened(experiments.recorded(name, short=True)))
    for path, number in flattened(rows):
        # Few questions are asked, so that one answer more weighs a lot.
        tolerance = 0.15 if ".accuracy." in path else 0.002
        assert number == pytest.approx(recorded.pop(path), abs=tolerance), path
    assert not recorded


def test_the_run_on_shakespeare_needs_no_more_than_a_text(monkeypatch):
    part = "ROMEO:\nBut, soft! what light through yonder window breaks?\n" * 4
    text = corpus.Corpus("a text", (part,), (part,), "".join(sorted(set(part))))
    monkeypatch.setattr(corpus, "load", {"tiny-shakespeare": text}.__getitem__)
    size = experiments.Size(steps=2, stories=0, variants=0, characters=5)
    rows = experiments.shakespeare(size)
    assert rows["bits"] == pytest.approx(rows["loss"] / math.log(2), abs=1e-4)
    assert 0 < rows["loss"] < 2 * math.log(len(text.alphabet))
    assert rows["sample"].startswith("ROMEO:")
    assert len(rows["sample"]) == len("ROMEO:") + size.characters
    assert (rows["steps"], rows["parameters"] > 0) == (2, True)


def test_what_was_recorded_covers_every_variant():
    assert list(experiments.recorded("ladder")) == list(experiments.LADDER)
    lengths = map(str, experiments.CONTEXT_LENGTHS)
    assert list(experiments.recorded("context-lengths")) == list(lengths)


def test_no_recorded_loss_is_below_the_floor():
    losses = [row["loss"] for row in experiments.recorded("ladder").values()]
    losses += experiments.recorded("context-lengths").values()
    # A sample of stories may lie a little below the average of all of them.
    assert min(losses) > 0.99 * FLOOR


def test_the_recorded_model_is_near_the_floor_and_right_everywhere():
    row = experiments.recorded("ladder")["two blocks"]
    assert row["loss"] < 1.02 * FLOOR
    assert set(row["accuracy"].values()) == {1.0}


def test_main_writes_a_record_that_is_read_back(tmp_path, monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(experiments, "RECORDS", tmp_path)
    monkeypatch.setitem(
        experiments.EXPERIMENTS, "ladder", lambda size: calls.append(size) or {"a": 1}
    )
    assert experiments.main(["ladder"]) == 0
    assert calls == [experiments.SHORT, experiments.FULL]
    assert experiments.recorded("ladder") == {"a": 1}
    assert json.loads((tmp_path / "ladder.json").read_text())["torch"]
    assert capsys.readouterr().out == 'ladder: {"a": 1}\n'


def test_without_a_text_its_record_stays(tmp_path, monkeypatch, capsys):
    def fail(size):
        raise corpus.CorpusUnavailable("no network")

    monkeypatch.setattr(experiments, "RECORDS", tmp_path)
    monkeypatch.setitem(experiments.EXPERIMENTS, "shakespeare", fail)
    monkeypatch.setitem(experiments.EXPERIMENTS, "ladder", lambda size: {"a": 1})
    assert experiments.main(["shakespeare", "ladder"]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["ladder.json"]
    assert "shakespeare: left as it was: no network" in capsys.readouterr().out


@pytest.mark.parametrize("function", [experiments.recorded, experiments.run])
def test_an_unknown_experiment_is_named(function):
    with pytest.raises(
        ValueError, match=r"name must be one of \['ladder'.*got 'depth'"
    ):
        function("depth")
