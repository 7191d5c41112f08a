"""One model, executed in eleven ways: logits, loss and gradients are the same."""

import pytest
import torch

from helpers.parallel import executions
from helpers.parallel.executions import ALONE, SPREAD, execute
from helpers.parallel.processes import run

pytestmark = pytest.mark.usefixtures("one_thread")


def require_same(found, expected):
    for part in ("logits", "loss", "gradients"):
        torch.testing.assert_close(found[part], expected[part], rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def naive():
    """Logits, loss and gradients, with every weight computed."""
    found = execute(ALONE[0])
    assert all(one.abs().max() > 0 for one in found["gradients"].values())
    return found


def test_there_are_eleven():
    assert len({*ALONE, *SPREAD}) == 11
    with pytest.raises(ValueError, match=r"way must be one of .*, ring, got 'pipe'"):
        execute("pipe")


@pytest.mark.parametrize("way", [way for way in ALONE[1:] if way != "a cache"])
def test_in_one_process(naive, way):
    require_same(execute(way), naive)


def test_with_a_cache(naive):
    found = execute("a cache")
    torch.testing.assert_close(found["logits"], naive["logits"], rtol=0, atol=1e-12)


@pytest.mark.slow
def test_in_several_processes(naive):
    """DDP, FSDP, heads over processes, and positions round a ring."""
    B, T, H_KV = executions.B, executions.T, executions.H_KV
    keys = B * H_KV * (T // 2) * (executions.C // executions.H) * 8  # bytes of a part
    for process in run(executions.execute_parallel, 2):
        assert tuple(process) == SPREAD
        for found in process.values():
            require_same(found, naive)
        # In two blocks: 2 tensors forward, and 2 + 4 backward; shared heads once.
        assert process["ring"]["payload"]["send"] == 2 * 8 * keys
