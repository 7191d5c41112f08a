"""The command that trains, started by torchrun or alone: what ends it loses nothing."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from helpers.models.model_file import load_model
from helpers.training import checkpoint
from tests import ROOT
from tests.conftest import LONGEST_WAIT
from tests.unit import test_training_command
from tests.unit.test_training_command import TEXT

STEPS = 400
SIZES = {
    "steps": STEPS,
    "context_length": 16,
    "d_model": 16,
    "num_layers": 1,
    "warmup_steps": 5,
    "checkpoint_every": 10,
    "evaluate_every": 200,
}
OPTIONS = ["--device", "cpu"]
for option, number in SIZES.items():
    OPTIONS += ["--set", f"{option}={number}"]
text = test_training_command.text
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def start(*arguments, processes=1, restarts=0):
    """The command; with several processes, torchrun starts it."""
    launcher = []
    if processes > 1:
        launcher = ["torch.distributed.run", "--standalone"]
        launcher += [f"--nproc-per-node={processes}", f"--max-restarts={restarts}"]
        launcher += ["-m"]
    return subprocess.Popen(
        [sys.executable, "-m", *launcher, "helpers.training", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        encoding="utf-8",
        cwd=ROOT,
    )


def wait_for_a_checkpoint(folder, process):
    end = time.monotonic() + LONGEST_WAIT
    while not list(folder.glob("step-*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def children(pid):
    """The processes that a process has started; of Linux alone."""
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()]


def losses(folder):
    return [loss for _, loss, _, _ in checkpoint.latest(folder).state["history"]]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    text, file = str(folder / "text.txt"), str(folder / "model.safetensors")
    kept = ["--checkpoints", str(folder / "kept")]
    done = start(text, *OPTIONS, *kept, "--save", file)
    output, errors = done.communicate(timeout=LONGEST_WAIT)
    assert done.returncode == 0, errors
    return {"output": output, "file": file, "losses": losses(folder / "kept")}


@pytest.mark.slow
def test_the_command_says_what_it_does_and_saves_the_model(alone):
    lines = alone["output"].splitlines()
    assert re.fullmatch(
        r"plain on .*text.txt: [\d,]+ numbers to train in 400 steps, one process on "
        r"cpu",
        lines[0],
    )
    assert lines[1].startswith("a checkpoint each 10 steps in ")
    for line, step in zip(lines[2:4], (200, 400), strict=True):
        assert re.match(rf"step +{step}  0\.\d+ bits on its batch  0\.\d+ bits", line)
    assert lines[4:] == [f"the model is in {alone['file']}"]
    model, tokenizer = load_model(alone["file"])
    assert model.context_length == SIZES["context_length"]
    assert tokenizer.alphabet == "".join(sorted(set(TEXT)))


@pytest.mark.slow
@on_linux
@pytest.mark.parametrize(("victim", "strategy"), [(0, "ddp"), (1, "fsdp")])
def test_a_killed_worker_loses_only_the_steps_since_the_last_checkpoint(
    tmp_path, text, alone, victim, strategy
):
    folder = tmp_path / "kept"
    kept = [*OPTIONS, "--checkpoints", str(folder)]
    process = start(text, *kept, "--strategy", strategy, processes=2)
    wait_for_a_checkpoint(folder, process)
    workers = children(process.pid)
    assert len(workers) == 2
    os.kill(workers[victim], signal.SIGKILL)
    output, errors = process.communicate(timeout=LONGEST_WAIT)
    assert process.returncode != 0
    assert f"2 processes ({strategy})" in output
    last = checkpoint.latest(folder)
    assert 10 <= last.step < STEPS
    (clear,) = [line for line in errors.splitlines() if "checkpoint" in line]
    assert "another process has ended; the newest checkpoint" in clear
    assert clear.endswith(f" is step {last.step}")
    again = start(text, *kept)
    output, errors = again.communicate(timeout=LONGEST_WAIT)
    assert again.returncode == 0, errors
    assert f"went on from step {last.step}\n" in output
    assert losses(folder) == pytest.approx(alone["losses"], abs=1e-5)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such signals there")
@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_run_that_is_stopped_says_what_is_kept(tmp_path, text, name, status):
    folder = tmp_path / "kept"
    process = start(text, *OPTIONS, "--checkpoints", str(folder))
    wait_for_a_checkpoint(folder, process)
    process.send_signal(signal.Signals[name])
    _, errors = process.communicate(timeout=LONGEST_WAIT)
    assert process.returncode == status
    assert f": stopped by {name}; the newest checkpoint in {folder} is " in errors
    assert errors.count("\n") == 1


def end_without(process, workers):
    """Kill a launcher; returns what its workers say, which end on their own."""
    process.kill()
    try:
        _, errors = process.communicate(timeout=LONGEST_WAIT)  # the workers' pipes, too
    except subprocess.TimeoutExpired:
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        raise
    return errors


@pytest.mark.slow
@on_linux
def test_workers_end_soon_after_their_launcher(tmp_path, text):
    folder = tmp_path / "kept"
    more = ["--set", "steps=100000"]
    process = start(text, *OPTIONS, *more, "--checkpoints", str(folder), processes=2)
    wait_for_a_checkpoint(folder, process)
    workers = children(process.pid)
    assert len(workers) == 2
    errors = end_without(process, workers)
    last = checkpoint.latest(folder)
    kept = f"the newest checkpoint in {folder} is step {last.step:,}"
    assert f"stopped, as torchrun has ended; {kept}\n" in errors


@pytest.mark.slow
@on_linux
def test_restarted_workers_meet_and_go_on(tmp_path, text):
    folder = tmp_path / "kept"
    kept = ["--checkpoints", str(folder)]
    process = start(text, *OPTIONS, *kept, processes=2, restarts=1)
    wait_for_a_checkpoint(folder, process)
    os.kill(children(process.pid)[0], signal.SIGKILL)
    try:
        output, errors = process.communicate(timeout=LONGEST_WAIT)
    except subprocess.TimeoutExpired:
        process.terminate()
        raise
    assert process.returncode == 0, errors
    assert re.search(r"^went on from step \d+", output, re.MULTILINE)
    assert checkpoint.latest(folder).step == STEPS


@pytest.mark.slow
@on_linux
def test_an_error_of_all_processes_is_said_once(tmp_path, text):
    nowhere = str(tmp_path / "nowhere" / "model")
    process = start(text, *OPTIONS, "--save", nowhere, processes=2)
    _, errors = process.communicate(timeout=LONGEST_WAIT)
    assert process.returncode != 0
    assert errors.count("error: --save must be in a folder that") == 1
