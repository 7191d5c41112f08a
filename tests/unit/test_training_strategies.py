"""Several processes train what one would train, and go on where others were ended."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest
import torch

from helpers.models.model_file import load_model
from helpers.parallel.processes import run
from helpers.training import checkpoint
from helpers.training.__main__ import main
from helpers.training.loop import train
from helpers.training.strategies import STRATEGIES
from tests.samples import teams
from tests.samples.training import TinyModel, make_config, make_data

needs_gloo = pytest.mark.skipif(
    not torch.distributed.is_available() or sys.platform == "win32",
    reason="no gloo here",
)
TEXT = "To be, or not to be, that is the question.\n" * 60
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


def require_same(one, other, tolerance):
    assert len(one["rows"]) == len(other["rows"]) == teams.STEPS
    for ours, theirs in zip(one["rows"], other["rows"], strict=True):
        assert ours == pytest.approx(theirs, abs=tolerance)
    for name, tensor in one["weights"].items():
        torch.testing.assert_close(
            tensor, other["weights"][name], rtol=0, atol=tolerance
        )


def test_a_team_needs_others_and_a_name_that_is_known():
    with pytest.raises(ValueError, match=r"strategy='ddp' needs processes.*torchrun"):
        train(TinyModel(), make_data(), make_config(), device="cpu", strategy="ddp")
    with pytest.raises(ValueError, match=r"strategy must be None or one of ddp, fsdp,"):
        train(
            TinyModel(), make_data(), make_config(), device="cpu", strategy="pipeline"
        )


@pytest.mark.slow
@needs_gloo
def test_losses_and_weights_are_those_of_one_process():
    first, second = run(teams.train_in_all_ways, 2)
    for name, found in first.items():
        for way in STRATEGIES:
            require_same(found["None"], found[way], 1e-12)
            require_same(found[way], second[name][way], 0.0)
            assert not found[way]["training"]
    losses = {tuple(found["ddp"]["rows"]) for found in first.values()}
    assert len(losses) == len(first)  # no setting does nothing


@pytest.mark.slow
@needs_gloo
def test_each_process_draws_its_own_and_the_first_logs():
    for way in STRATEGIES:
        (first, logged), (second, silent) = run(teams.draw, 2, way)
        assert len({*first, *second}) == 2 * (teams.STEPS + 1)
        assert logged == [*range(1, teams.STEPS + 1)]
        assert silent == []
    assert (
        run(teams.refuse, 2, "ddp")
        == ["config.batch_size must be at least the number of processes, 2, got 1"] * 2
    )


@pytest.mark.slow
@needs_gloo
@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        (("fsdp", 2), (None, 1), "Muon"),
        ((None, 1), ("fsdp", 2), "tied weights"),
        (("ddp", 2), ("fsdp", 3), "Muon, rotary, skips"),
        (("fsdp", 2), ("ddp", 2), "AdamW"),
    ],
)
def test_another_number_of_processes_goes_on(tmp_path, before, after, name):
    options, folder = teams.SETTINGS[name], str(tmp_path / "run")
    strategy, processes = before
    assert all(run(teams.train_a_part, processes, strategy, folder, options))
    assert checkpoint.latest(folder).step == teams.STOP
    strategy, processes = after
    whole = teams.trained(None, options)
    for found in run(teams.go_on, processes, strategy, folder, options):
        assert found["resumed"] == teams.STOP
        require_same(whole, found, 1e-12)


# --- the command ----------------------------------------------------------------------


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def command(*arguments, processes=1):
    if processes > 1:
        launcher = [
            "torch.distributed.run",
            "--standalone",
            f"--nproc-per-node={processes}",
        ]
        arguments = ("-m", "helpers.training", *arguments)
    else:
        launcher = ["helpers.training"]
    return [sys.executable, "-m", *launcher, *arguments]


def start(*arguments, **options):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command(*arguments, **options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        encoding="utf-8",
        cwd=pathlib.Path(__file__).parents[2],
    )


def losses(folder):
    return [loss for _, loss, _, _ in checkpoint.latest(folder).state["history"]]


def wait_for_a_checkpoint(folder, process):
    end = time.monotonic() + 120
    while not list(folder.glob("step-*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def children(pid):
    """The processes that a process has started, in that order; of Linux alone."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:  # it has ended meanwhile
            continue
        if parent == str(pid):
            found.append(int(folder.name))
    return sorted(found)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    text, file = str(folder / "text.txt"), str(folder / "model.safetensors")
    kept = ["--checkpoints", str(folder / "kept")]
    done = start(text, *OPTIONS, *kept, "--save", file)
    output, errors = done.communicate(timeout=300)
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
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(
    ("victim", "strategy"), [(0, "ddp"), (1, "ddp"), (0, "fsdp"), (1, "fsdp")]
)
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
    output, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert f"2 processes ({strategy})" in output
    last = checkpoint.latest(folder)
    assert 10 <= last.step < STEPS
    (clear,) = [line for line in errors.splitlines() if "checkpoint" in line]
    assert "another process has ended; the newest checkpoint" in clear
    assert clear.endswith(f" is step {last.step}")
    again = start(text, *kept)
    output, errors = again.communicate(timeout=300)
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
    _, errors = process.communicate(timeout=60)
    assert process.returncode == status
    assert f": stopped by {name}; the newest checkpoint in {folder} is " in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "text must be one of hello, .* or a file, got 'nowhere'"),
        (["hello"], r"text_ids must hold at least context_length \+ 1 = 129 .* got 11"),
        (["hello", "--set", "steps"], "--set takes NAME=VALUE, got 'steps'"),
        (["hello", "--set", "width=3"], "width: no option of TransformerConfig or"),
        (["hello", "--set", "optimizer=sgd"], "optimizer must be one of .* 'sgd'"),
        (["hello", "--device", "tpu"], "name must be a device such as"),
    ],
)
def test_a_command_that_cannot_be_followed_is_told_why(capsys, arguments, message):
    assert main(arguments) == 2
    output, errors = capsys.readouterr()
    assert re.search(rf"^python -m helpers\.training: error: .*{message}", errors)
    assert errors.count("\n") == 1
    assert output == ""


def test_the_smallest_text_is_learned(capsys):
    small = {"context_length": 5, "steps": 4, "warmup_steps": 1, "evaluate_every": 2}
    changes = [f"--set={name}={value}" for name, value in small.items()]
    assert main(["hello", "--device", "cpu", *changes]) == 0
    output, _ = capsys.readouterr()
    steps = re.findall(r"^step +(\d) ", output, re.MULTILINE)
    assert steps == ["2", "4"]
    assert "held out" not in output
