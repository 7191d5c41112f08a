"""experiments.reading_on: what it reads, measures, and wants."""

import dataclasses

import pytest
import torch

from experiments import reading_on, sweeps
from helpers.text import recall
from helpers.text.batches import NOTHING
from tests.samples.models import model


def with_losses(settings, loss):
    return settings | {"validation": loss(settings)}


def test_the_first_seed_chooses_rates_and_all_seeds_take_them(monkeypatch):
    monkeypatch.setattr(reading_on, "KINDS", {one: {} for one in ("rotary", "alibi")})
    best = {"trained": 0.008, "longer": 0.004, "control": 0.002}
    best |= dict.fromkeys(("before", "once", "by distance", "window"), 0.0)

    def loss(settings):  # the first seed prefers another edge than it begins with
        return 1 + abs(settings["rate"] - best[settings["part"]])

    record = {"runs": []}
    while missing := reading_on.wanted(record):
        record["runs"] += [with_losses(one, loss) for one in missing]
    for kind, ways in (("rotary", reading_on.WAYS), ("alibi", ["as trained"])):
        of_kind = [run for run in record["runs"] if run["kind"] == kind]
        sides = [("trained", None), *(("before", way) for way in ways)]
        sides += [("once", way) for way in ways]
        sides += [(part, way) for way in ways for part in reading_on.TUNINGS[way]]
        if kind == "rotary":
            sides += [("window", "as trained")]
            sides += [("by distance", way) for way in reading_on.BY_DISTANCE]
        assert {(run["part"], run.get("way")) for run in of_kind} == set(sides)
        for part, way in sides:
            chosen = [
                run["seed"]
                for run in of_kind
                if (run["part"], run.get("way")) == (part, way)
                and run["rate"] == best[part]
            ]
            assert sorted(chosen) == list(sweeps.SEEDS), (kind, part, way)
        later = [run for run in of_kind if run["part"] != "trained"]
        assert {tuple(run["from"]) for run in later} == {(0.008, reading_on.STEPS)}
    rates = {run["rate"] for run in record["runs"] if run["part"] == "trained"}
    assert rates == {0.002, 0.004, 0.008, 0.016}


def test_half_of_a_batch_are_stories_and_half_have_notes():
    texts = reading_on.read_texts()
    V = texts.tokenizer.vocab_size
    for T in (reading_on.TRAINED, reading_on.LONGER):
        inputs, targets = texts.batch(T, torch.Generator().manual_seed(1))
        assert inputs.shape == targets.shape == (reading_on.TOKENS // T, T)
        stories, noted = inputs.chunk(2)
        assert stories.max() < V
        assert ((noted >= V).sum(dim=1) >= recall.BOXES).all()
        assert torch.equal(targets.chunk(2)[0][:, :-1], stories[:, 1:])
        asked = targets.chunk(2)[1]
        assert (asked[asked != NOTHING] >= V + recall.TOKENS - recall.THINGS).all()


def test_what_is_measured_is_what_a_loop_finds(monkeypatch):
    monkeypatch.setattr(reading_on, "WINDOWS", {"validation": 2, "test": 3})
    monkeypatch.setattr(reading_on, "PARTS", (0, 5, 40))
    monkeypatch.setattr(reading_on, "DISTANCES", (0, 10, 60))
    texts = reading_on.Texts()
    size = {"vocab_size": texts.vocab_size, "context_length": 64}
    ours = model(**size, positions="alibi")
    found = reading_on.measured(ours, texts, 64)
    windows = texts.measured["test"][:, :65]
    nats = []
    for window in windows[:3]:
        shares = ours(window[None, :-1])[0].log_softmax(dim=-1)
        nats.append([-shares[t, window[t + 1]].item() for t in range(64)])
    means = torch.tensor(nats).mean(dim=0)
    expected = [means[:5].mean().item(), means[5:40].mean().item()]
    assert found["stories"] == pytest.approx(expected, abs=1e-3)
    noted = texts.put_notes(windows[3:, :-1], torch.Generator().manual_seed(6))
    right = ours(noted.inputs).argmax(dim=-1) == noted.targets
    near = (noted.distances > 0) & (noted.distances <= 10)
    far = noted.distances > 10
    expected = [right[some].double().mean().item() for some in (near, far)]
    assert found["notes"] == pytest.approx(expected, abs=1e-3)


def test_a_way_changes_how_a_model_turns_and_no_weight():
    ours = model(positions="rotary", d_model=24, num_heads=3)
    other = reading_on.changed(ours, **reading_on.WAYS["ntk"])
    assert other.config == dataclasses.replace(ours.config, **reading_on.WAYS["ntk"])
    for name, one in ours.state_dict().items():
        assert torch.equal(one, other.state_dict()[name])


def test_only_the_last_question_about_each_box_is_kept():
    ids = torch.randint(5, (9, 60), generator=torch.Generator().manual_seed(1))
    noted = recall.put_notes(ids, 5, torch.Generator().manual_seed(2))
    once = reading_on.ask_once(noted, ids)
    for row in range(9):
        places = (noted.targets[row] != NOTHING).nonzero().flatten().tolist()
        last = {noted.inputs[row, place].item(): place for place in places}
        kept = (once.targets[row] != NOTHING).nonzero().flatten().tolist()
        assert sorted(last.values()) == kept
        for place in range(60):
            given = ids if place in places and place not in kept else noted.inputs
            assert once.inputs[row, place] == given[row, place]
        assert torch.equal(once.targets[row, kept], noted.targets[row, kept])
        assert torch.equal(once.distances[row, kept], noted.distances[row, kept])
        assert (once.distances[row] > 0).sum() == len(kept)


def test_a_sliding_window_sees_the_last_tokens_and_no_others(monkeypatch):
    monkeypatch.setattr(reading_on, "WINDOWS", {"validation": 1, "test": 1})
    monkeypatch.setattr(reading_on, "TRAINED", 5)
    monkeypatch.setattr(reading_on, "LONGER", 20)
    monkeypatch.setattr(reading_on, "PARTS", (0, 16, 20))
    texts = reading_on.Texts()
    ours = model(vocab_size=texts.vocab_size, context_length=20, positions="rotary")
    text = texts.measured["test"][0]
    nats = [
        -ours(text[None, t - 4 : t + 1])[0, -1].log_softmax(dim=-1)[text[t + 1]].item()
        for t in range(16, 20)
    ]
    found = reading_on.in_windows(ours, texts)["loss"]
    assert found == pytest.approx(sum(nats) / 4, abs=1e-3)


@pytest.mark.slow
def test_a_run_is_the_same_each_time_and_its_weights_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("BOOK_DATA", str(tmp_path))
    first = {"part": "trained", "kind": "rotary", "seed": 1, "rate": 0.004, "steps": 3}
    run = reading_on.train_one(first)
    assert run == reading_on.train_one(first)
    (kept,) = (tmp_path / "reading_on").iterdir()
    tuned = first | {"part": "longer", "way": "as trained", "from": [0.004, 3]}
    run = reading_on.train_one(tuned)
    assert len(run["once"]) == len(run["notes"])
    kept.unlink()
    assert run == reading_on.train_one(tuned)


@pytest.mark.parametrize("way", reading_on.SLOWED)
def test_some_pairs_turn_more_slowly_and_the_others_as_they_did(way):
    ours = model(d_model=32, num_heads=2, positions="rotary")
    before = ours.config.frequencies()
    reading_on._slow(ours, reading_on.SLOWED[way])
    ratios = before / ours.config.frequencies()
    slowed = [pair in reading_on.SLOWED[way] for pair in range(8)]
    expected = torch.where(torch.tensor(slowed), reading_on.FACTOR, 1.0)
    torch.testing.assert_close(ratios, expected)
    assert any(slowed)
    assert not all(slowed)
