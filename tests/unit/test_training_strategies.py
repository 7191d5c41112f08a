"""Several processes train what one would train, and go on where others were ended."""

import sys

import pytest
import torch

from helpers.parallel.processes import run
from helpers.training import checkpoint
from helpers.training.loop import train
from helpers.training.strategies import STRATEGIES
from tests.samples import teams
from tests.samples.training import TinyModel, make_config, make_data

needs_gloo = pytest.mark.skipif(
    not torch.distributed.is_available() or sys.platform == "win32",
    reason="no gloo here",
)


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
