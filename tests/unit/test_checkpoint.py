"""helpers.training.checkpoint: whole or not there, and a killed run goes on."""

import errno
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from helpers.training import checkpoint
from helpers.training.checkpoint import CheckpointError
from tests import ROOT
from tests.samples.training import (
    CHECKPOINT_EVERY,
    STEPS,
    TinyModel,
    make_config,
    make_data,
    short_run,
    train,
)

CPU = torch.device("cpu")
FILES = ("weights.safetensors", "state.pt", "manifest.json")


def save_some(folder, *steps):
    """Checkpoints whose one weight holds their step."""
    for step in steps:
        path = checkpoint.save(folder, step, {"w": torch.full((2, 3), step)}, {"n": 1})
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


def test_what_was_saved_comes_back(tmp_path):
    weights = {
        "a": torch.randn(2, 3),
        "transposed": torch.randn(3, 4).T,
        "part": torch.randn(6)[1:3],
        "bfloat16": torch.randn(5).bfloat16(),
        "scalar": torch.tensor(3),
    }
    state = {"list": [1, 2.5, None, True], "tuple": (1, "a"), 3: torch.arange(4)}
    path = checkpoint.save(tmp_path / "new" / "folder", 7, weights, state)
    assert path.name == "step-00000007"
    assert names(path) == sorted(FILES)
    found = checkpoint.load(path)
    assert (found.path, found.step) == (path, 7)
    assert found.weights.keys() == weights.keys()
    for name, tensor in weights.items():
        assert torch.equal(found.weights[name], tensor)
        assert found.weights[name].dtype == tensor.dtype
    assert torch.equal(found.state.pop(3), state.pop(3))
    assert found.state == state


def test_tied_weights_are_written_once_and_stay_tied(tmp_path):
    model = TinyModel(tied=True)
    path = checkpoint.save(tmp_path, 1, model.state_dict(), {})
    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["tied"] == {"head.weight": "embedding.weight"}
    other = TinyModel(tied=True, seed=1)
    checkpoint.load_weights(other, checkpoint.load(path))
    assert torch.equal(other.head.weight, model.embedding.weight)
    assert other.head.weight is other.embedding.weight
    apart = TinyModel(tied=False)
    weights = {**apart.state_dict(), "head.weight": apart.embedding.weight}
    path = checkpoint.save(tmp_path, 2, weights, {})
    checkpoint.load_weights(apart, checkpoint.load(path))
    assert torch.equal(apart.head.weight, apart.embedding.weight)


def test_the_last_two_are_kept(tmp_path):
    save_some(tmp_path, 3, 6, 100, 9)
    assert names(tmp_path) == ["step-00000006", "step-00000009", "step-00000100"]
    save_some(tmp_path, 101)
    assert names(tmp_path) == ["step-00000100", "step-00000101"]
    assert checkpoint.latest(tmp_path).step == 101


def test_one_step_can_be_saved_again(tmp_path):
    save_some(tmp_path, 3, 6)
    checkpoint.save(tmp_path, 6, {"w": torch.zeros(1)}, {})
    assert names(tmp_path) == ["step-00000003", "step-00000006"]
    assert torch.equal(checkpoint.latest(tmp_path).weights["w"], torch.zeros(1))


def test_an_empty_or_missing_folder_has_no_checkpoint(tmp_path):
    assert checkpoint.latest(tmp_path) is None
    assert checkpoint.latest(tmp_path / "missing") is None
    (tmp_path / "step-notes.txt").write_text("not a checkpoint's name")
    assert checkpoint.latest(tmp_path) is None
    with pytest.raises(CheckpointError, match="must be a folder of checkpoints"):
        checkpoint.latest(tmp_path / "step-notes.txt")


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    save_some(tmp_path, 3)

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(
            OSError, match=r"can't write a checkpoint \(No space"
        ) as why:
            save_some(tmp_path, 6)
    assert why.value.errno == errno.ENOSPC
    assert str(tmp_path) in str(why.value)
    assert names(tmp_path) == ["step-00000003"]
    save_some(tmp_path, 6)
    assert checkpoint.latest(tmp_path).step == 6


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(path):
    path.write_bytes(b"")


def missing(path):
    path.unlink()


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", [cut, flip, empty, missing])
def test_a_damaged_checkpoint_is_named_and_the_one_before_is_used(
    tmp_path, file, damage
):
    newest = save_some(tmp_path, 3, 6)
    damage(newest / file)
    if (file, damage) == ("manifest.json", flip):
        (newest / file).write_text((newest / file).read_text().replace("tied", "tier"))
    with pytest.raises(CheckpointError, match="step-00000006"):
        checkpoint.load(newest)
    with pytest.warns(UserWarning, match="step-00000006.*step-00000003 is used"):
        assert checkpoint.latest(tmp_path).step == 3
    missing(tmp_path / "step-00000003" / "state.pt")
    with pytest.raises(CheckpointError, match=r"no checkpoint that can be .*start"):
        checkpoint.latest(tmp_path)


def test_the_message_says_what_is_wrong(tmp_path):
    newest = save_some(tmp_path, 3)
    flip(newest / "state.pt")
    with pytest.raises(CheckpointError, match=r"state\.pt has another SHA-256"):
        checkpoint.load(newest)
    size = (newest / "weights.safetensors").stat().st_size
    cut(newest / "weights.safetensors")
    with pytest.raises(CheckpointError, match=f"{size} bytes, got {size - 1}"):
        checkpoint.load(newest)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "another"}, "no checkpoint of this book's format"),
        ({"version": 2}, "format version 2, and only version 1"),
        ({"version": None}, "format version None"),
    ],
)
def test_a_foreign_manifest_is_named(tmp_path, changes, message):
    path = save_some(tmp_path, 3) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load(path.parent)


def test_a_foreign_file_or_folder_of_that_name_is_passed_over(tmp_path):
    save_some(tmp_path, 3)
    (tmp_path / "step-00000006").write_text("a file")
    (tmp_path / "step-00000009").mkdir()
    (tmp_path / "step-00000009" / "manifest.json").write_text("[1, 2]")
    with pytest.warns(UserWarning, match="step-00000009.*step-00000006.*3 is used"):
        assert checkpoint.latest(tmp_path).step == 3
    save_some(tmp_path, 6)
    assert checkpoint.load(tmp_path / "step-00000006").step == 6


class Harmful:
    def __reduce__(self):
        return (os.mkdir, ("harm",))


def test_no_code_runs_from_a_checkpoint(tmp_path, monkeypatch):
    path = save_some(tmp_path, 3)
    monkeypatch.chdir(tmp_path)
    torch.save({"n": Harmful()}, path / "state.pt")
    content = (path / "state.pt").read_bytes()
    manifest = json.loads((path / "manifest.json").read_text())
    digest = checkpoint.hashlib.sha256(content).hexdigest()
    manifest["files"]["state.pt"] = {"size": len(content), "sha256": digest}
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(CheckpointError, match="no readable checkpoint") as caught:
        checkpoint.load(path)
    assert isinstance(caught.value.__cause__, pickle.UnpicklingError)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: TinyModel(width=6), r"embedding\.weight has shape \(11, 8\) .*6\)"),
        (lambda: TinyModel(tied=True), r"head\.bias has shape \(11,\) .* missing"),
        (lambda: torch.nn.Linear(2, 3), r"weight has shape missing .* \(3, 2\)"),
    ],
)
def test_weights_of_another_shape_are_named(tmp_path, other, message):
    path = checkpoint.save(tmp_path, 1, TinyModel().state_dict(), {})
    model = other()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load_weights(model, checkpoint.load(path))
    assert all(map(torch.equal, before.values(), model.state_dict().values()))


def test_a_step_below_one_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"step must be an integer .* got 0"):
        checkpoint.save(tmp_path, 0, {}, {})


def test_random_numbers_go_on_where_they_were(tmp_path):
    def draw():
        # The second normal number comes from a store of its own in both generators.
        normal = random.gauss(0, 1), np.random.standard_normal()
        return (*normal, random.random(), np.random.rand(), torch.rand(1).item())

    found = checkpoint.random_states(CPU)
    try:
        draw()
        states = checkpoint.random_states(CPU)
        path = checkpoint.save(tmp_path, 1, {}, {"random": states})
        expected = draw(), draw()
        checkpoint.set_random_states(checkpoint.load(path).state["random"], CPU)
        assert (draw(), draw()) == expected
    finally:
        checkpoint.set_random_states(found, CPU)


@pytest.fixture(scope="module")
def unbroken():
    """Results and weights of runs that nobody stops, by optimizer."""
    return {name: short_run(optimizer=name) for name in ("adamw", "muon")}


def losses(result):
    return [row[:3] for row in result.history]


def kill_child(folder, optimizer, event, *, hold):
    """Kill a training child at an event; with ``hold`` it waits there for its end."""
    command = [sys.executable, "-m", "tests.samples.training", str(folder), optimizer]
    with subprocess.Popen(
        [*command, str(event if hold else 0)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        awaited = "held" if hold else f"{event} "
        for line in child.stdout:
            if line.startswith(awaited):
                break
        if not hold:
            time.sleep(random.Random(event).uniform(0, 0.01))
        child.kill()
        assert child.wait() == (1 if os.name == "nt" else -signal.SIGKILL)


# Of the 110 events of a run: the second file of the checkpoint of step 6 is written;
# that of step 9 is about to get its name; an old one has lost its name, half deleted.
HELD = {0: (14, ".writing-"), 1: (26, ".writing-"), 2: (29, ".removed-")}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
def test_a_killed_run_ends_with_the_same_weights(tmp_path, unbroken, number):
    optimizer = ("adamw", "muon")[number % 2]
    event, leftover = HELD.get(number, (random.Random(number).randint(1, 100), None))
    # Every third of the others is killed right there, the rest up to 10 ms later.
    hold = number in HELD or number % 3 == 0
    kill_child(tmp_path, optimizer, event, hold=hold)
    if leftover:
        assert [name for name in names(tmp_path) if name.startswith(leftover)]
    result, weights = short_run(tmp_path, optimizer)
    expected, expected_weights = unbroken[optimizer]
    assert losses(result) == losses(expected)
    assert weights.keys() == expected_weights.keys()
    for name, tensor in weights.items():
        assert torch.equal(tensor, expected_weights[name]), name
    assert result.resumed_from % CHECKPOINT_EVERY == 0
    assert leftover is None or result.resumed_from > 0
    last = [f"step-{step:08d}" for step in (STEPS - CHECKPOINT_EVERY, STEPS)]
    assert names(tmp_path) == last


def test_a_finished_run_is_not_trained_again(tmp_path, unbroken):
    short_run(tmp_path)
    steps = []
    result, weights = short_run(tmp_path, after_step=lambda step, _: steps.append(step))
    assert steps == []
    assert result.resumed_from == STEPS
    assert losses(result) == losses(unbroken["adamw"][0])
    assert torch.equal(weights["head.weight"], unbroken["adamw"][1]["head.weight"])


def test_a_truncated_newest_checkpoint_falls_back_to_the_one_before(tmp_path, unbroken):
    short_run(tmp_path)
    cut(tmp_path / f"step-{STEPS:08d}" / "state.pt")
    before = STEPS - CHECKPOINT_EVERY
    with pytest.warns(UserWarning, match=f"{STEPS:08d} is damaged.*{before:08d} is"):
        result, weights = short_run(tmp_path)
    assert result.resumed_from == before
    assert torch.equal(weights["head.weight"], unbroken["adamw"][1]["head.weight"])
    assert checkpoint.load(tmp_path / f"step-{STEPS:08d}").step == STEPS


def resume(folder, model=None, data=None, **options):
    changes = options.pop("config", {})
    return train(
        model or TinyModel(),
        data or make_data(),
        make_config(steps=4, **changes),
        checkpoint_dir=folder,
        device="cpu",
        progress=False,
        **options,
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": TinyModel(width=6)}, r"model\.embedding\.embedding_dim is 8 .* 6"),
        ({"model": TinyModel(dropout=0.5)}, r"model\.dropout\.p is 0\.1 there and 0.5"),
        ({"data": make_data(seed=5)}, "the text is 'Windows: 199 .* CRC-32"),
        ({"config": {"learning_rate": 0.5}}, r"learning_rate is 0\.01 there and 0\.5"),
        ({"config": {"optimizer": "muon"}}, "optimizer is 'adamw' there and 'muon'"),
        ({"resume": False}, "checkpoint_dir must hold no checkpoints .*step-00000004"),
    ],
)
def test_a_checkpoint_of_another_run_is_an_error(tmp_path, changes, message):
    resume(tmp_path)
    with pytest.raises(ValueError, match=message):
        resume(tmp_path, **changes)


def test_how_often_to_look_may_change(tmp_path):
    resume(tmp_path)
    changes = {"evaluate_every": 1, "checkpoint_every": 1}
    assert resume(tmp_path, config=changes).resumed_from == 4


def test_a_checkpoint_that_is_not_of_a_run_is_named(tmp_path):
    checkpoint.save(tmp_path, 1, TinyModel().state_dict(), {})
    with pytest.raises(CheckpointError, match="no checkpoint of a run: it lacks batch"):
        resume(tmp_path)


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_a_devices_own_random_state_is_kept_beside_the_others(kind, monkeypatch):
    backend, stands, put_back = getattr(torch, kind), torch.tensor([7]), []
    monkeypatch.setattr(backend, "get_rng_state", lambda *device: stands)
    monkeypatch.setattr(
        backend, "set_rng_state", lambda state, *device: put_back.append(state)
    )
    device = torch.device(kind)
    states = checkpoint.random_states(device)
    assert states[kind] is stands
    checkpoint.set_random_states(states, torch.device("cpu"))
    assert put_back == []
    checkpoint.set_random_states(states, device)
    assert put_back == [stands]
    checkpoint.set_random_states(checkpoint.random_states(torch.device("cpu")), device)
    assert put_back == [stands]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
@pytest.mark.parametrize(("first", "then"), [("cuda", "cpu"), ("cpu", "cuda")])
def test_a_run_begun_on_one_device_goes_on_on_the_other(
    tmp_path, first, then, optimizer
):
    def run(device, folder=None, stop=None):
        def after_step(step, _):
            if step == stop:
                raise KeyboardInterrupt

        model = TinyModel(dropout=0.0)
        config = make_config(optimizer=optimizer, mixed_precision="off")
        result = train(
            model,
            make_data(),
            config,
            checkpoint_dir=folder,
            device=device,
            progress=False,
            after_step=after_step,
        )
        return result, model

    with pytest.raises(KeyboardInterrupt):
        run(first, tmp_path, stop=20)
    result, model = run(then, tmp_path)
    assert result.resumed_from == 18
    assert next(model.parameters()).device.type == then
    unbroken, _ = run("cpu")
    # Muon computes in bfloat16, and devices round differently there.
    tolerance = 1e-4 if optimizer == "adamw" else 0.02
    assert result.loss == pytest.approx(unbroken.loss, abs=tolerance)
