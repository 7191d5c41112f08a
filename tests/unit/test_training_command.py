"""The command that trains: what it refuses, what it promises, and how it ends."""

import pathlib
import re
import signal
import sys

import pytest
import torch

from helpers.models.model_file import load_model
from helpers.notebook.device import choose_device
from helpers.training import checkpoint
from helpers.training.__main__ import main
from helpers.training.launching import Group, Stopped

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


def test_a_place_to_save_at_is_tried_before_the_training(tmp_path, text, capsys):
    (tmp_path / "folder").mkdir()
    for place, message in (
        ("nowhere/model", "must be in a folder that is there, got"),
        ("text.txt/model", "must be in a folder that is there, got"),
        ("folder", "must be a file, got"),
        ("text.txt", "must be another place than the text and --checkpoints"),
        ("kept", "must be another place than the text and --checkpoints"),
    ):
        kept = ["--checkpoints", str(tmp_path / "kept")]
        found = error_of(capsys, text, *kept, "--save", str(tmp_path / place))
        assert re.search(f"error: --save {message}", found)
    long = str(tmp_path / ("m" * 300))
    assert "name too long" in error_of(capsys, text, "--save", long)
    assert pathlib.Path(text).read_text(encoding="utf-8") == TEXT
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "text.txt"]


@on_linux
def test_a_device_is_no_place_to_save_at(text, capsys):
    assert "must be a file, got /dev/null" in error_of(
        capsys, text, "--save", "/dev/null"
    )


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


def test_a_run_says_how_it_goes_on_and_that_it_did(tmp_path, text, capsys):
    folder = tmp_path / "kept"
    some = [text, *TINY, "--set", "steps=4", "--checkpoints", str(folder)]
    assert main(some) == 0
    _, how, *_, last = capsys.readouterr().out.splitlines()
    assert f"steps in {folder}: the same command, with any number of" in how
    assert main(some) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:] == [last, "went on from step 4"]  # what was done is told again


def full(*_):
    raise OSError(28, "No space left on device")


def end_early(capsys, arguments, status):
    """What a command says that ends in the middle of its work: one line."""
    assert main(arguments) == status
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    return errors


def test_a_run_that_ends_early_says_what_is_kept(tmp_path, text, capsys, monkeypatch):
    kept, written, save = tmp_path / "kept", [], checkpoint.save

    def save_one(*arguments):
        if written:
            full()
        written.append(save(*arguments))
        return written[0]

    some = [text, *TINY, "--set=steps=4", "--set=checkpoint_every=2"]
    with monkeypatch.context() as patched:
        patched.setattr("helpers.training.checkpoint.save", save_one)
        found = end_early(capsys, [*some, "--checkpoints", str(kept)], 2)
    assert f"No space left on device; the newest checkpoint in {kept} is step 2" in (
        found
    )
    with monkeypatch.context() as patched:
        patched.setattr("helpers.training.__main__.save_model", full)
        some += ["--save", str(tmp_path / "model")]
        found = end_early(capsys, [*some, "--checkpoints", str(kept)], 2)
        assert found.endswith(f"device; the newest checkpoint in {kept} is step 4\n")
        found = end_early(capsys, some, 2)
    assert found.endswith("device; nothing is kept without --checkpoints FOLDER\n")


@pytest.mark.parametrize("launched", [False, True])
@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_only_torchruns_signal_is_called_that(
    tmp_path, text, capsys, monkeypatch, name, status, launched
):
    def stop(*_, **__):
        if launched:
            monkeypatch.setenv("TORCHELASTIC_RUN_ID", "a run")
        signal.raise_signal(signal.Signals[name])

    monkeypatch.setattr("helpers.training.__main__.train", stop)
    before = signal.getsignal(signal.SIGTERM)
    arguments = [text, *TINY, "--checkpoints", str(tmp_path / "kept")]
    found = end_early(capsys, arguments, status)
    assert f": stopped by {name}" in found
    assert f"; the newest checkpoint in {tmp_path / 'kept'} is none" in found
    assert ("which torchrun sends" in found) == (launched and name == "SIGTERM")
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_diverging_run_is_no_mistake_of_the_command(text, capsys):
    wild = ["--set=learning_rate=1e30", "--set=steps=50", "--set=gradient_clip=None"]
    assert "loss" in end_early(capsys, [text, *TINY, *wild], 1)


@pytest.mark.filterwarnings("default")  # here they aren't errors
def test_a_damaged_checkpoint_is_named(tmp_path, text, capsys):
    folder = tmp_path / "kept"
    some = [text, *TINY, "--set=steps=4", "--set=checkpoint_every=2"]
    some += ["--checkpoints", str(folder)]
    assert main(some) == 0
    (folder / "step-00000004" / "state.pt").write_bytes(b"short")
    with pytest.warns(UserWarning, match="step-00000004 is damaged"):
        assert main(some) == 0
    assert capsys.readouterr().out.endswith("went on from step 2\n")
    for one in folder.glob("step-*"):
        (one / "state.pt").write_bytes(b"short")
    assert "holds no checkpoint that can be read" in error_of(
        capsys, text, "--checkpoints", str(folder)
    )


# --- its group of processes -----------------------------------------------------------


def test_a_line_is_said_by_the_first_that_asks(monkeypatch):
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    assert Group().is_first_to_end()
    monkeypatch.setenv("LOCAL_RANK", "1")
    unmet, first, second = Group(), Group(), Group()
    assert not unmet.is_first_to_end()  # the process with LOCAL_RANK 0 is
    first._store = second._store = torch.distributed.HashStore()
    assert first.is_first_to_end()
    assert not second.is_first_to_end()


def test_a_lost_connection_waits_for_torchruns_signal(monkeypatch):
    waited = []
    monkeypatch.setattr("time.sleep", waited.append)
    for launched in (False, True):
        if launched:
            monkeypatch.setenv("TORCHELASTIC_RUN_ID", "a run")
        with pytest.raises(RuntimeError, match="closed"), Group().noticing():
            raise RuntimeError("closed by peer")
        assert len(waited) == launched


def test_a_process_ends_once_its_launcher_has(monkeypatch):
    alone = Group()
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "a run")
    launched = Group()
    launched.require_launcher()
    monkeypatch.setattr("os.getppid", lambda: 1)
    alone.require_launcher()
    with pytest.raises(Stopped, match="torchrun has ended"):
        launched.require_launcher()
