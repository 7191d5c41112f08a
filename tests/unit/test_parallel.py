"""helpers.parallel: what several processes compute is what one computes."""

import json
import os
import signal
import sys
import threading
import time
from unittest import mock

import pytest
import torch
from torch.distributed.elastic.multiprocessing.errors import (
    ChildFailedError,
    ProcessFailure,
)

from helpers.parallel import processes
from helpers.parallel.processes import ProcessError, run
from helpers.parallel.traffic import bytes_sent
from tests.samples import in_processes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not torch.distributed.is_available() or sys.platform == "win32",
        reason="no gloo here",
    ),
]
SIGNALS = (signal.SIGINT, signal.SIGTERM)
TOLERANCES = {"torch.float64": 1e-12, "torch.float32": 1e-5}


def require_equal(pairs, tolerance=1e-12):
    for one, other in pairs:
        torch.testing.assert_close(one, other, rtol=0, atol=tolerance)
        assert one.abs().max() > 0


# --- processes ------------------------------------------------------------------------


def test_each_process_is_called_and_answers_in_order():
    before = [signal.getsignal(one) for one in SIGNALS]
    found = run(in_processes.meet, 3, 10)
    assert [one["rank"] for one in found] == [0, 1, 2]
    assert [one["sum"].item() for one in found] == [33, 33, 33]
    assert {one["threads"] for one in found} == {1}
    assert [signal.getsignal(one) for one in SIGNALS] == before


def test_a_process_that_raises_is_named_with_its_traceback():
    message = r"(?s)process 1 failed.*knows no such name.*in fail"
    with pytest.raises(ProcessError, match=message):
        run(in_processes.fail, 2)


def test_a_process_that_only_lost_another_is_not_named_for_it(tmp_path):
    """PyTorch's times are whole seconds, so that either may stand first."""
    said = ("RuntimeError: [gloo/pair.cc] Connection closed by peer", "KeyError: 'x'")
    failures = {}
    for rank, words in enumerate(said):
        file = tmp_path / f"{rank}.json"
        told = {"message": words, "extraInfo": {"timestamp": "7", "py_callstack": "in"}}
        file.write_text(json.dumps({"message": told}))
        failures[rank] = ProcessFailure(rank, pid=1, exitcode=1, error_file=str(file))
    words = processes._in_words(ChildFailedError("name", failures))
    assert words.startswith("process 1 failed, and the others were ended: KeyError")


def test_a_failure_that_the_launcher_leaves_out_is_named(tmp_path):
    """It may find the process first that only lost the one that failed."""
    said = ("RuntimeError: [gloo/pair.cc] Connection closed by peer", "KeyError: 'x'")
    for rank, words in enumerate(said):
        told = {"message": words, "extraInfo": {"timestamp": "7", "py_callstack": "in"}}
        (tmp_path / str(rank)).mkdir()
        file = tmp_path / str(rank) / "error.json"
        file.write_text(json.dumps({"message": told}))
    found = ProcessFailure(0, 1, 1, str(tmp_path / "0" / "error.json"))
    words = processes._in_words(ChildFailedError("name", {0: found}))
    assert words.startswith("process 1 failed, and the others were ended: KeyError")


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("Connection reset by peer", "process 0 failed because another had ended, and"),
        ("Timed out waiting 9000ms for recv operation", "process 0 failed, and the"),
    ],
)
def test_one_process_of_which_alone_is_known_is_told(tmp_path, said, begins):
    file = tmp_path / "0.json"
    told = {"message": f"RuntimeError: [gloo/pair.cc] {said}"}
    told["extraInfo"] = {"timestamp": "7", "py_callstack": "in"}
    file.write_text(json.dumps({"message": told}))
    failure = ProcessFailure(0, pid=1, exitcode=1, error_file=str(file))
    words = processes._in_words(ChildFailedError("name", {0: failure}))
    assert words.startswith(begins)


def test_a_process_that_is_killed_is_named():
    with pytest.raises(ProcessError, match="process 1 was ended by SIGKILL"):
        run(in_processes.die, 2)


def test_an_interrupted_call_ends_its_processes(tmp_path):
    def interrupt():
        while len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        run(in_processes.wait, 2, tmp_path)
    watcher.join()
    for file in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.name), 0)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (in_processes.leave, r"process \d failed.*it was ended by SystemExit\(0\)"),
        (
            in_processes.give_a_layer,
            r"TypeError.*give_a_layer returned must be .*Linear",
        ),
    ],
)
def test_a_process_that_leaves_or_returns_too_much_is_named(function, message):
    with pytest.raises(ProcessError, match=f"(?s){message}"):
        run(function, 2)


def test_what_other_processes_cannot_import_is_refused():
    def inside():
        pass

    for function in (inside, lambda: None):
        with pytest.raises(ValueError, match=r"can't import.*%%writefile"):
            run(function, 2)
    with pytest.raises(ValueError, match=r"processes .*0"):
        run(in_processes.meet, 0, 1)


def test_windows_is_told_what_its_pytorch_lacks():
    said = RuntimeError("use_libuv was requested but PyTorch was build without libuv")
    other = RuntimeError("no memory is left")
    for error, message in (
        (said, r"builds for Windows.*\(WSL\)"),
        (other, "no memory"),
    ):
        with (
            mock.patch.object(processes, "elastic_launch", side_effect=error),
            pytest.raises(RuntimeError, match=message),
        ):
            run(in_processes.meet, 2, 10)


# --- data parallel --------------------------------------------------------------------


def test_gradients_are_those_of_one_process():
    for process in run(in_processes.train_in_all_ways, 2):
        for dtype, found in process.items():
            alone = found["PyTorch's fused kernel"]
            for way in ("by hand", "DDP", "FSDP"):
                pairs = [(alone["loss"], found[way]["loss"])]
                names = alone["gradients"]
                pairs += [(names[one], found[way]["gradients"][one]) for one in names]
                pairs.append((alone["logits"], found[way]["logits"]))
                require_equal(pairs, TOLERANCES[dtype])
            size = sum(one.nbytes for one in alone["gradients"].values())
            for way in ("by hand", "DDP"):  # and 8 bytes for the count of targets
                assert found[way]["payload"]["all_reduce"] == size + 8
            assert "broadcast" not in found["DDP"]["payload"]
            kinds = found["FSDP"]["payload"]
            # Blocks are gathered twice, forward and backward; the rest stays.
            assert size < kinds["all_gather"] < 2 * size
            assert kinds["reduce_scatter"] == size
            assert alone["payload"] == {}


def test_all_get_the_weights_of_one():
    (own, first, mean), (other, second, others_mean) = run(
        in_processes.share_weights, 2
    )
    assert not own.equal(other)
    assert first.equal(own)
    assert second.equal(own)
    assert mean.equal(others_mean)


# --- ring -----------------------------------------------------------------------------


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_a_ring_finds_what_one_process_finds(processes):
    for process in run(in_processes.rings_beside_whole, processes, 12):
        uneven, ungrouped, twice = process["refused"]
        assert uneven == "queries and keys must be of the same positions, got 4 and 6"
        assert "must divide H = 4 of queries, got H_kv = 3" in ungrouped
        assert "no second gradient" in twice
        for kv_heads, found in zip((6, 2, 1) * 2, process["rings"], strict=True):
            require_equal(found["pairs"])
            size = 2 * kv_heads * 12 * (4 + 5) * 8 // processes  # keys and values
            assert found["bytes of keys and values"] == size
            require_handed_over(found["payloads"], processes, size, size)


@pytest.mark.parametrize("processes", [2, 3])
def test_keys_of_16_bits_travel_in_16_and_their_gradients_in_32(processes):
    for process in run(in_processes.rings_beside_whole, processes, 12):
        found = process["in 16 bits"]
        require_equal(found["pairs"], 0.02)
        numbers = 2 * 2 * 12 * (4 + 5) // processes
        require_handed_over(found["payloads"], processes, 2 * numbers, 4 * numbers)


def require_handed_over(payloads, processes, size, size_of_gradients):
    """Keys and values N - 1 times each way, their gradients N times, once."""
    forward = (processes - 1) * size
    backward = forward + processes * size_of_gradients
    expected = ({"send": forward}, {"send": backward})
    assert payloads == (expected if processes > 1 else ({}, {}))


def test_a_ring_sends_while_it_computes():
    forward = "send walk wait send walk wait walk"
    # Gradients are sent after each walk, and waited for after the one that follows.
    backward = "send walk send wait send walk wait send wait walk wait send wait"
    assert run(in_processes.order_in_a_ring, 3) == [(forward, backward)] * 3


# --- tensor parallel ------------------------------------------------------------------


def test_what_is_spread_over_processes_is_what_was_whole():
    options = [
        {},
        {"num_kv_heads": 2, "qkv_bias": True, "qk_norm": True},
        {"num_kv_heads": 2, "activation": "swiglu", "mlp_ratio": 3, "norm": "rms"},
        {"bias": False, "mlp_hidden": 6, "positions": "rotary", "rotary_base": 50.0},
        {"attention_gate": True},
    ]
    for found in run(in_processes.spread_all, 2, options):
        for one in found["by hand"]:
            require_equal(one["pairs"].values())
            norms = sum(
                "_norm" in name and "attention." in name for name in one["pairs"]
            )
            # Two forward, two backward, and what heads share of their norms.
            assert one["calls"]["all_reduce"] == 4 + norms
        assert len(found["by PyTorch"]) == 4
        for pairs in found["by PyTorch"]:
            require_equal(pairs.values())
        assert found["refused"] == [
            "2 processes can't share num_heads = 3 equally",
            "block must have an MLP and no dropout",
            "3 features can't be shared by 2 processes",
            "batch must have a row for each of 2 processes, got 1",
        ]


# --- traffic --------------------------------------------------------------------------


def test_bytes_are_those_of_a_ring():
    assert bytes_sent("all_reduce", 1000, 4) == 1500
    assert bytes_sent("all_gather", 1000, 4) == 750
    assert bytes_sent("reduce_scatter", 1000, 5) == 800
    assert bytes_sent("send", 1000, 2) == 1000
    assert bytes_sent("all_reduce", 1000, 1) == 0
    with pytest.raises(ValueError, match=r"kind must be one of all_reduce, .*'gather'"):
        bytes_sent("gather", 1, 2)
    with pytest.raises(ValueError, match=r"processes must be an integer .*got 0"):
        bytes_sent("send", 1, 0)
