"""A run goes on from its own checkpoints, in its own folder, with equal processes."""

import os
import subprocess
import sys

import pytest
import torch

from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.parallel.processes import run
from helpers.training import checkpoint
from helpers.training.loop import train
from tests import ROOT
from tests.samples import teams
from tests.samples.training import (
    CONTEXT_LENGTH,
    VOCAB_SIZE,
    TinyModel,
    make_config,
    make_data,
)

needs_gloo = pytest.mark.skipif(
    not torch.distributed.is_available() or sys.platform == "win32",
    reason="no gloo here",
)
HELD_OUT = make_data(63, seed=1)


def transformer(**options):
    return TransformerLM(
        TransformerConfig(VOCAB_SIZE, CONTEXT_LENGTH, 8, 2, 1, **options)
    )


def short(folder, model=None, *, held_out=HELD_OUT, steps=4, **options):
    return train(
        model or TinyModel(),
        make_data(),
        make_config(steps=steps),
        held_out=held_out,
        checkpoint_dir=folder,
        device="cpu",
        **options,
    )


# --- what a checkpoint belongs to -----------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ({}, {"window": 2}, "model.config.window is None there and 2 here"),
        ({"window": 2}, {}, "model.config.window is 2 there and None here"),
        (
            {"positions": "alibi"},
            {"positions": "none"},
            "model.config.positions is 'alibi' there and 'none' here",
        ),
        (
            {"window": 2},
            {"window": 2, "sinks": 1},
            "model.config.sinks is 0 there and 1 here",
        ),
    ],
)
def test_a_model_with_another_config_is_refused(tmp_path, before, after, message):
    short(tmp_path, transformer(**before))
    assert short(tmp_path, transformer(**before)).resumed_from == 4
    with pytest.raises(ValueError, match=f"is of another run: {message}"):
        short(tmp_path, transformer(**after))


class Optional(TinyModel):
    """An option that only one side has a number for, without a config."""

    def __init__(self, reach):
        super().__init__()
        self.reach = reach


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (None, 3, "model.reach is missing there and 3 here"),
        (3, None, "model.reach is 3 there and missing here"),
    ],
)
def test_a_name_that_one_side_lacks_is_a_difference(tmp_path, before, after, message):
    short(tmp_path, Optional(before))
    with pytest.raises(ValueError, match=message):
        short(tmp_path, Optional(after))


class Counting(TinyModel):
    """Its number changes while it is trained."""

    calls = 0

    def forward(self, ids):
        self.calls += 1
        return super().forward(ids)


def test_a_model_that_changes_its_own_numbers_goes_on(tmp_path):
    short(tmp_path, Counting())
    assert short(tmp_path, Counting()).resumed_from == 4


@pytest.mark.parametrize("other", [make_data(63, seed=2), None])
def test_another_held_out_text_is_refused(tmp_path, other):
    short(tmp_path)
    with pytest.raises(ValueError, match=r"the held-out text is 'Windows: 62 .* here"):
        short(tmp_path, held_out=other)


def test_a_checkpoint_from_before_these_names_is_accepted(tmp_path):
    short(tmp_path, transformer(window=2))
    found = checkpoint.latest(tmp_path)
    state = {name: one for name, one in found.state.items() if name != "held_out"}
    state["model"] = {
        name: one
        for name, one in state["model"].items()
        if not name.startswith("config.")
    }
    checkpoint.save(tmp_path, found.step, found.weights, state)
    assert short(tmp_path, transformer(window=2)).resumed_from == 4
    with pytest.raises(ValueError, match=r"is of another run: model\..*num_kv_heads"):
        short(tmp_path, transformer(num_kv_heads=1))


def test_an_option_that_a_checkpoint_is_too_old_to_have_was_the_default(tmp_path):
    short(tmp_path, transformer())
    found = checkpoint.latest(tmp_path)
    state = {**found.state, "model": dict(found.state["model"])}
    del state["model"]["config.bias"], state["model"]["config.rotary_base"]
    checkpoint.save(tmp_path, found.step, found.weights, state)
    assert short(tmp_path, transformer()).resumed_from == 4
    with pytest.raises(ValueError, match=r"rotary_base is 10000.0 there and 5.0 here"):
        short(tmp_path, transformer(rotary_base=5.0))


# --- one run in a folder --------------------------------------------------------------


def test_a_second_run_in_a_folder_is_refused_until_the_first_has_ended(tmp_path):
    said = []

    def second(step, _):
        if step == 1:
            with pytest.raises(ValueError, match=r"no other run writes into") as caught:
                short(tmp_path, after_step=lambda *_: said.append("trained"))
            said.append(str(caught.value))

    short(tmp_path, after_step=second)
    assert len(said) == 1
    assert f"got {tmp_path}, which another run (process {os.getpid()})" in said[0]
    assert short(tmp_path).resumed_from == 4


def test_an_error_gives_the_folder_back(tmp_path):
    with pytest.raises(ZeroDivisionError):
        short(tmp_path, after_step=lambda step, _: 1 / (2 - step))
    assert short(tmp_path).resumed_from == 0


def test_the_lock_of_a_process_that_was_killed_does_not_count(tmp_path):
    holding = (
        "import sys, time; from helpers.training import checkpoint\n"
        "with checkpoint.claimed(sys.argv[1]):\n"
        "    print('held', flush=True); time.sleep(99)"
    )
    command = [sys.executable, "-c", holding, str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as other:
        try:
            assert other.stdout.readline() == "held\n"
            with pytest.raises(
                ValueError, match=rf"\(process {other.pid}\) writes into"
            ):
                short(tmp_path)
        finally:
            other.kill()
    assert short(tmp_path).resumed_from == 0


def test_a_file_is_no_folder_to_claim(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ValueError, match="file must be a folder of checkpoints"):
        short(tmp_path / "file")


# --- several processes ----------------------------------------------------------------


@pytest.mark.slow
@needs_gloo
@pytest.mark.parametrize(
    ("kind", "strategy", "message"),
    [
        ("seed", "ddp", "config.seed is 0 in process 0 and 5 in process 1"),
        ("window", "fsdp", "model.config.window is None in process 0 and 2 in process"),
        ("resume", "ddp", "resume is False in process 0 and True in process 1"),
        (
            "checkpoint_dir",
            "ddp",
            "whether there is a checkpoint_dir is False in process 0 and True in",
        ),
    ],
)
def test_processes_that_differ_are_refused(tmp_path, kind, strategy, message):
    said = run(teams.differ, 2, strategy, kind, [str(tmp_path)] * 2)
    assert len(set(said)) == 1
    assert "all processes must train with the same arguments, but" in said[0]
    assert message in said[0]


@pytest.mark.slow
@needs_gloo
def test_folders_that_differ_are_refused(tmp_path):
    folders = [str(tmp_path / "one"), str(tmp_path / "other")]
    teams.trained(None, {}, checkpoint_dir=folders[1])
    said = run(teams.differ, 2, "ddp", "folders", folders)
    for line in said:
        assert "checkpoint_dir must be one folder that all processes see" in line
        assert "process 0 sees checkpoints of the steps [] and process 1 of [" in line


@pytest.mark.slow
@needs_gloo
def test_all_processes_are_told_that_a_folder_is_taken(tmp_path):
    with checkpoint.claimed(tmp_path):
        said = run(teams.differ, 2, "ddp", "folders", [str(tmp_path)] * 2)
    assert len(set(said)) == 1
    assert f"another run (process {os.getpid()}) writes into" in said[0]
