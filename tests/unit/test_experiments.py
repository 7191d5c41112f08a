"""experiments: a shortened run gives again what was recorded."""

import collections
import importlib
import json
import math

import pytest
import torch

from experiments import alignments, running, shakespeare
from helpers.recorded import results
from helpers.text import corpus


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


def test_what_was_recorded_covers_every_variant():
    recorded = results.read("alignments")
    assert list(recorded) == list(alignments.VARIANTS)
    for of_variant in recorded.values():
        assert list(of_variant) == [str(rate) for rate in alignments.RATES]


def test_two_heads_share_the_two_tasks_between_them_from_every_seed():
    for of_rate in results.read("alignments")["two heads"].values():
        first, second = of_rate["200"]["pointing"].values()
        start, end = alignments.TASKS
        pairs = [*zip(first[start], second[end], strict=True)]
        pairs += zip(first[end], second[start], strict=True)
        assert sum(min(pair) > 0.99 for pair in pairs) == len(alignments.SEEDS)


def test_which_head_takes_which_task_depends_on_the_seed_and_on_the_rate():
    first = [
        [
            pointing > 0.5
            for pointing in of_rate["200"]["pointing"]["head 0"][alignments.TASKS[0]]
        ]
        for of_rate in results.read("alignments")["two heads"].values()
    ]
    assert [set(of_rate) for of_rate in first] == [{False, True}] * 3
    low, middle, high = first
    assert low == middle
    assert [seed for seed in alignments.SEEDS if middle[seed] != high[seed]] == [4, 5]


def right(variant, rate, steps):
    """The shares of right reports (tasks, queries, seeds)."""
    measured = results.read("alignments")[variant][str(rate)][str(steps)]
    return torch.tensor([[*task.values()] for task in measured["accuracy"].values()])


def test_one_head_takes_longer_than_two_and_does_not_catch_up():
    two, few, many = (
        right(*one).mean(dim=(0, 1))
        for one in (
            ("two heads", 0.01, 200),
            ("one head", 0.01, 200),
            ("one head", 0.01, 2400),
        )
    )
    assert few.max() < 0.75
    assert few.max() < many.min()
    assert many.max() < 0.95 < 0.99 < two.min()


def test_one_head_beats_halves_also_where_the_letters_differ():
    """If all reports of equal letters are right, this is left of the others."""
    generator = torch.Generator().manual_seed(999)  # as the experiment draws them
    *_, targets = alignments.draw_batch(2000, generator)
    equal = float((targets[:, 0] == targets[:, 1]).float().mean())
    assert equal == pytest.approx(0.2, abs=0.01)
    lowest = float(right("one head", 0.01, 2400).mean(dim=(0, 1)).min())
    assert (lowest - equal) / (1 - equal) > 0.77


def test_without_places_from_the_end_the_mask_tells_the_last_letter_alone():
    for rate in (0.003, 0.01):
        for steps in (200, 2400):
            from_end = right("no places from the end", rate, steps)[1]
            assert from_end[0].min() > 0.99
            assert from_end[1:].max() < 0.57
    high = right("no places from the end", 0.03, 2400)[1]
    assert (high[0] < 0.9).sum() == 2
    assert high[1:].max() < 0.57


def test_one_head_cannot_tell_two_letters_apart_by_halves():
    for of_rate in results.read("alignments")["one head"].values():
        halves = of_rate["2400"]["halves"]["accuracy"]
        assert max(halves["letters differ"]) < 0.52


def test_a_seed_learns_beside_others_what_it_learns_alone():
    alone, beside = (
        alignments.run(running.Size(steps=3, stories=0, variants=some, characters=0))
        for some in (1, 2)
    )
    of_both = dict(flattened(beside["two heads"]))
    for path, numbers in flattened(alone["two heads"]):
        assert numbers == pytest.approx(of_both[path][:1], abs=0.01), path


def test_counting_five_characters_beats_the_blocks_on_shakespeare():
    row = results.read("shakespeare")
    losses = row["ngrams"]
    assert min(losses, key=losses.__getitem__) == "5"
    assert losses["5"] < row["loss"] < losses["4"] < 1.88
    assert list(losses) == [str(order) for order in shakespeare.ORDERS]
    held_out = [look["held_out"] for look in row["curve"].values()]
    assert held_out == sorted(held_out, reverse=True)
    assert held_out[-1] == row["loss"]
    training = [look["training"] for look in row["curve"].values()]
    assert training == sorted(training, reverse=True)
    assert max(training[-2] - training[-1], held_out[-2] - held_out[-1]) < 0.005
    gaps = [one - other for one, other in zip(held_out, training, strict=True)]
    assert gaps == sorted(gaps)
    rising = [losses[str(order)] for order in (5, 6, 7, 8)]
    assert rising == sorted(rising)
    # nanoGPT's baby GPT: its loss, and the parameters of its blocks.
    assert min(losses.values()) > 1.4697
    assert round(12 * 6 * 384**2 / row["parameters"]) == 91


def test_main_writes_a_record_that_is_read_back(tmp_path, monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(alignments, "run", lambda size: calls.append(size) or {"a": 1})
    assert running.main(["alignments"]) == 0
    assert calls == [running.SHORT, running.FULL]
    assert results.read("alignments") == {"a": 1}
    assert json.loads((tmp_path / "alignments.json").read_text())["torch"]
    assert capsys.readouterr().out == 'alignments: {"a": 1}\n'


def test_without_a_text_its_record_stays(tmp_path, monkeypatch, capsys):
    def fail(size):
        raise corpus.CorpusUnavailable("no network")

    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(shakespeare, "run", fail)
    monkeypatch.setattr(alignments, "run", lambda size: {"a": 1})
    assert running.main(["shakespeare", "alignments"]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["alignments.json"]
    assert "shakespeare: left as it was: no network" in capsys.readouterr().err


@pytest.mark.parametrize("function", [results.read, results.path])
def test_an_unknown_experiment_is_named(function):
    with pytest.raises(
        ValueError, match=r"name must be one of alignments, .*got 'depth'"
    ):
        function("depth")


def test_an_unknown_record_of_runs_is_named():
    with pytest.raises(
        ValueError, match=r"name must be one of directions, .*got 'depth'"
    ):
        results.record("depth")
