"""What A thousand machines says of times on two processes."""

import pytest

from helpers.parallel.cost import estimate, fitted, work_of
from helpers.recorded import results


@pytest.mark.parametrize("session", ["runs", "again"])
def test_what_is_recorded_was_measured_in_every_way(session):
    runs = results.record("processes")[session]
    ways = {"alone", "all_reduce", "ddp", "fsdp", "tensor", "tensor by hand"}
    assert {run["way"] for run in runs} == ways
    for run in runs:
        assert 0 < run["low"] <= run["seconds"] <= run["high"] < 1
        if run["way"] != "all_reduce":
            assert 0 < run["products"] < 2 * run["seconds"]  # on two threads
            assert 0 < run["copies"] < 2 * run["seconds"]


def test_the_fitted_machine_is_near_what_it_is_fitted_to():
    runs = results.record("processes")["runs"]
    machine = fitted(runs)
    for run in runs:
        if run["way"] == "all_reduce":
            told = run["bytes"] / machine.bandwidth + 2 * machine.latency
        elif run["way"] == "alone":
            told = estimate(work_of(run), machine, 1, "ddp").most
        else:
            continue
        assert 1 / 2 < run["seconds"] / told < 2, run
