"""The command that trains: what it refuses, what it promises, and how it ends."""

import io
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
from helpers.notebook.device import choose_device
from helpers.training import __main__ as command
from helpers.training import checkpoint
from helpers.training.__main__ import main
from helpers.training.launching import Kept, Launcher, Stopped

TEXT = "To be, or not to be, that is the question.\n" * 60
TINY = ["--device", "cpu"]
for change in ("d_model=16", "num_layers=1", "context_length=16", "warmup_steps=2"):
    TINY += ["--set", change]
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def error_of(capsys, *arguments):
    """The one line of a command that isn't followed, which doesn't begin to train."""
    assert main([*arguments, *TINY]) == 2
    output, errors = capsys.readouterr()
    assert errors.count("\n") == 1
    assert not re.search(r"^step ", output, re.MULTILINE)
    return errors


# --- before the first step ------------------------------------------------------------


def test_a_place_to_save_at_is_tried_before_the_training(tmp_path, text, capsys):
    (tmp_path / "folder").mkdir()
    for place, message in (
        ("nowhere/model", "must be in a folder that is there, got"),
        ("text.txt/model", "must be in a folder that is there, got"),
        ("folder", "must be a file, and .*folder is a folder"),
        ("text.txt", "must be another file than the text"),
        ("kept", "must be another place than --checkpoints, "),
        ("m" * 300, "can't be written: .*name too long"),
    ):
        kept = ["--checkpoints", str(tmp_path / "kept")]
        found = error_of(capsys, text, *kept, "--save", str(tmp_path / place))
        assert re.search(f"error: --save {message}", found)
    assert pathlib.Path(text).read_text(encoding="utf-8") == TEXT
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "text.txt"]


@on_linux
def test_a_device_is_no_place_to_save_at(text, capsys):
    assert "must be a file, and /dev/null is none" in error_of(
        capsys, text, "--save", "/dev/null"
    )


def test_a_name_that_cannot_be_printed_ends_no_run(tmp_path, text, monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="ascii"))
    folder = tmp_path / "\xfc"
    some = [text, *TINY, "--set=steps=3", "--checkpoints", str(folder)]
    assert main(some) == main(some) == 0
    assert rb"\xfc" in written.getvalue().partition(b"found ")[2]


def test_a_model_that_cannot_be_saved_after_all_names_the_checkpoints(
    tmp_path, text, capsys, monkeypatch
):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("helpers.training.__main__.save_model", full)
    kept, file = tmp_path / "kept", tmp_path / "model"
    some = ["--set", "steps=3", "--checkpoints", str(kept), "--save", str(file)]
    assert main([text, *TINY, *some]) == 2
    assert f"error: --save can't write {file} (No space left on device), and " + str(
        kept / "step-00000003"
    ) in (capsys.readouterr().err)


@pytest.mark.parametrize("option", ["--checkpoints", "--save"])
def test_an_empty_path_is_refused(text, capsys, option):
    with pytest.raises(SystemExit) as stopped:
        main([text, *TINY, option, ""])
    assert stopped.value.code == 2
    assert f"argument {option}: must be a path, got ''" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("vocab_size=3", "--set can't change vocab_size, which comes from the text"),
        ("learningrate=1", "learningrate: no option .*; did you mean learning_rate?"),
        ("name=plain", "name: no option of TransformerConfig or TrainConfig$"),
        ("d_model=4000000000000000", "no model of these sizes can be made: "),
        ("=5", "--set takes NAME=VALUE, got '=5'"),
        ("betas={[]:1}", r"(config\.)?betas must be .*"),
        (f"steps={'-' * 5000}1", r"(config\.)?steps must be .*"),
    ],
)
def test_an_option_that_cannot_be_set_is_named(text, capsys, change, message):
    assert main([text, *TINY, "--set", change]) == 2
    errors = capsys.readouterr().err
    assert re.search(f"error: {message}", errors, re.MULTILINE)
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "text.txt is empty"),
        (b"\xfd\xfe", "text.txt must be a text in UTF-8: .* byte 0xfd in position 0"),
        (
            b"ab" * 50,
            "text.txt that is held out is too short: .*context_length=9 would",
        ),
    ],
)
def test_a_text_that_cannot_be_used_is_named(text, capsys, content, message):
    pathlib.Path(text).write_bytes(content)
    assert re.search(message, error_of(capsys, text))


def test_a_byte_order_mark_is_no_character(tmp_path, text):
    pathlib.Path(text).write_text("\ufeff" + TEXT, encoding="utf-8")
    file = str(tmp_path / "model")
    assert main([text, *TINY, "--set", "steps=3", "--save", file]) == 0
    assert load_model(file)[1].alphabet == "".join(sorted(set(TEXT)))


def test_a_device_is_named_as_the_command_calls_it():
    with pytest.raises(ValueError, match=r"^--device must be a device .* got 'tpu'"):
        choose_device("tpu", source="--device")
    with pytest.raises(ValueError, match=r"^name must be a device"):
        choose_device("tpu")


def test_stories_are_trained_on_whole(capsys):
    sizes = [*TINY, "--set=steps=3", "--set=batch_size=4", "--set=context_length=256"]
    sizes += ["--set=num_heads=2"]
    recipe = ["little-world", "--recipe", "one-minute", "--set=evaluate_every=3"]
    assert main([*recipe, *sizes]) == 0
    output = capsys.readouterr().out
    assert "\nshort_steps=0, as each story is read from its start\n" in output
    assert re.search(r"^step +3 ", output, re.MULTILINE)


# --- checkpoints ----------------------------------------------------------------------


def test_a_run_says_at_the_start_where_it_goes_on_from(tmp_path, text, capsys):
    folder = tmp_path / "kept"
    some = [text, *TINY, "--set", "steps=4", "--checkpoints", str(folder)]
    assert main(some) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert main(some) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"found {folder / 'step-00000004'}"
    assert lines[2] == last  # all steps were done, and are told again
    assert lines[3:] == ["went on from step 4"]


def make_checkpoint(folder, step):
    return checkpoint.save(folder, step, {}, {})


def test_only_a_checkpoint_of_the_run_is_promised(tmp_path):
    promise = "step-00000007 has everything up to step 7: the same command"
    kept = Kept(tmp_path)
    assert str(kept) == "and no checkpoint was written yet"
    make_checkpoint(tmp_path, 5)
    newest = f"and wrote no checkpoint; the newest in {tmp_path} is step-0000000"
    assert str(kept) == f"{newest}5"  # nobody has looked
    assert kept.look().step == 5
    assert str(kept) == f"{newest}5"
    make_checkpoint(tmp_path, 7)
    assert promise in str(kept)
    went_on = Kept(tmp_path)
    assert went_on.look().step == 7
    assert str(went_on) == f"{newest}7"
    went_on.has_begun = True
    assert promise in str(went_on)
    assert "--checkpoints FOLDER keeps some" in str(Kept(None))


def test_another_runs_checkpoint_is_not_promised(tmp_path, text, capsys, monkeypatch):
    def stop(*_, **__):
        signal.raise_signal(signal.SIGINT)

    make_checkpoint(tmp_path / "kept", 5)
    monkeypatch.setattr("helpers.training.__main__.train", stop)
    assert main([text, *TINY, "--checkpoints", str(tmp_path / "kept")]) == 130
    errors = capsys.readouterr().err
    assert errors.startswith("stopped by SIGINT, and wrote no checkpoint; the newest")
    assert "goes on" not in errors


def test_a_full_disk_is_told_with_what_is_kept(tmp_path, text, capsys, monkeypatch):
    written, save = [], checkpoint.save

    def full(*arguments):
        if written:
            raise OSError(28, "No space left on device")
        written.append(save(*arguments))
        return written[0]

    monkeypatch.setattr("helpers.training.checkpoint.save", full)
    some = ["--set=steps=4", "--set=checkpoint_every=2", "--checkpoints"]
    assert main([text, *TINY, *some, str(tmp_path / "kept")]) == 2
    errors = capsys.readouterr().err
    assert "No space left on device, and " in errors
    assert f"{written[0]} has everything up to step 2" in errors


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_only_torchruns_signal_is_called_that(capsys, monkeypatch, name, status):
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "a run")
    assert command._stopped(Stopped(name), Kept(None), Launcher()) == status
    found = capsys.readouterr().err
    assert found.startswith(f"stopped by {name}")
    assert ("torchrun's" in found) == (name == "SIGTERM")


def test_a_signal_that_meets_a_class_being_made_ends_the_run(text, capsys, monkeypatch):
    def stop(*_, **__):
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException as stopped:  # as Python 3.11 wraps it
            raise RuntimeError("Error calling __set_name__") from stopped

    monkeypatch.setattr("helpers.training.__main__.train", stop)
    assert main([text, *TINY]) == 143
    assert capsys.readouterr().err.startswith("stopped by SIGTERM, and no checkpoint")


@pytest.mark.filterwarnings("default")  # here they aren't errors
def test_a_damaged_checkpoint_is_told_in_a_line(tmp_path, text, capsys):
    folder = tmp_path / "kept"
    some = [text, *TINY, "--set=steps=4", "--set=checkpoint_every=2"]
    some += ["--checkpoints", str(folder)]
    assert main(some) == 0
    (folder / "step-00000004" / "state.pt").write_bytes(b"short")
    assert main(some) == 0
    output, errors = capsys.readouterr()
    assert output.endswith("went on from step 2\n")
    assert errors.count("\n") == 1
    assert "helpers.training: warning: " in errors
    assert "is damaged" in errors


def test_what_is_kept_can_be_said_of_damaged_checkpoints(tmp_path, text, capsys):
    folder = tmp_path / "kept"
    for step in (5, 7):
        (make_checkpoint(folder, step) / "state.pt").write_bytes(b"short")
    assert str(Kept(folder)) == f"and {folder} has no checkpoint that can be read"
    found = error_of(capsys, text, "--checkpoints", str(folder))
    assert "holds no checkpoint that can be read" in found
    make_checkpoint(folder, 6)
    (make_checkpoint(folder, 7) / "state.pt").write_bytes(b"short")
    assert Kept(folder).look().step == 6  # without a warning, which is train's


# --- several processes ----------------------------------------------------------------


def start(*arguments, restarts=0):
    launcher = ["torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    launcher += [f"--max-restarts={restarts}", "-m", "helpers.training"]
    return subprocess.Popen(
        [sys.executable, "-m", *launcher, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        encoding="utf-8",
        cwd=pathlib.Path(__file__).parents[2],
    )


def wait_for_a_checkpoint(folder, process):
    end = time.monotonic() + 120
    while not list(folder.glob("step-*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)


def children(pid):
    """The processes that a process has started; of Linux alone."""
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()]


def end_without(process, workers):
    """Kill a launcher; returns what its workers say, which end on their own."""
    process.kill()
    try:
        _, errors = process.communicate(timeout=60)  # the workers' pipes, too
    except subprocess.TimeoutExpired:
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        raise
    return errors


def test_a_launcher_is_there_only_where_it_says_so(monkeypatch):
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    alone = Launcher()
    assert not alone.is_there
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "a run")
    monkeypatch.setenv("LOCAL_RANK", "1")
    started = Launcher()
    assert started.is_there
    assert not started.has_ended()
    assert not started.first_to("say it")  # the process with LOCAL_RANK 0 is
    monkeypatch.setattr("os.getppid", lambda: 1)
    assert started.has_ended()
    assert not started.first_to("say it")
    monkeypatch.setenv("LOCAL_RANK", "0")
    assert started.first_to("say it")
    assert not alone.has_ended()


def test_a_line_is_said_by_the_first_that_asks(monkeypatch, capsys):
    store = torch.distributed.HashStore()
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "a run")
    monkeypatch.setattr("torch.distributed.is_initialized", lambda: True)
    monkeypatch.setattr(
        "torch.distributed.distributed_c10d._get_default_store", lambda: store
    )
    assert [Launcher().first_to(line) for line in "aba"] == [True, True, False]
    monkeypatch.undo()
    monkeypatch.setattr(Launcher, "first_to", lambda *_: False)
    assert main(["nowhere", *TINY]) == 2
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@on_linux
def test_workers_end_soon_after_their_launcher(tmp_path, text):
    folder = tmp_path / "kept"
    steps = ["--set", "steps=100000", "--set", "checkpoint_every=10"]
    process = start(text, *TINY, *steps, "--checkpoints", str(folder))
    wait_for_a_checkpoint(folder, process)
    workers = children(process.pid)
    assert len(workers) == 2
    errors = end_without(process, workers)
    last = checkpoint.latest(folder)
    line = f"and {last.path} has everything up to step {last.step:,}: the same command"
    assert line in errors
    assert "stopped, since torchrun has ended" in errors


@pytest.mark.slow
@on_linux
def test_workers_whose_launcher_is_gone_before_they_meet_end(tmp_path, text):
    process = start(text, *TINY)
    end = time.monotonic() + 60
    while len(workers := children(process.pid)) < 2:
        assert time.monotonic() < end
        time.sleep(0.02)
    errors = end_without(process, workers)
    assert "torchrun has ended, and no checkpoint was written yet" in errors


@pytest.mark.slow
@on_linux
def test_restarted_workers_meet_and_go_on(tmp_path, text):
    folder = tmp_path / "kept"
    steps = ["--set", "steps=300", "--set", "checkpoint_every=10"]
    process = start(text, *TINY, *steps, "--checkpoints", str(folder), restarts=1)
    wait_for_a_checkpoint(folder, process)
    os.kill(children(process.pid)[0], signal.SIGKILL)
    try:
        output, errors = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.terminate()
        raise
    assert process.returncode == 0, errors
    assert re.search(r"^went on from step \d+", output, re.MULTILINE)
    assert checkpoint.latest(folder).step == 300


@pytest.mark.slow
@on_linux
def test_an_error_of_all_processes_is_said_once(tmp_path, text):
    nowhere = str(tmp_path / "nowhere" / "model")
    process = start(text, *TINY, "--save", nowhere)
    _, errors = process.communicate(timeout=120)
    assert process.returncode != 0
    assert errors.count("error: --save must be in a folder that is there") == 1
