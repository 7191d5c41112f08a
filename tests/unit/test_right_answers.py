"""A right answer is accepted whatever the machine does; what fails is told as ours."""

import dataclasses
import importlib
import os
import queue
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import pytest
import torch

from helpers import checks
from helpers.checks import limits
from helpers.checks.calling import call, plain_call
from tests import ROOT
from tests.solutions import RIGHT

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def good(T):
    return torch.ones(T, T).tril().bool()


def work(seconds):
    """Keep the processor busy."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


# --- slow machines --------------------------------------------------------------------


def under_pressure(share, *names):
    """What isn't right of right solutions in new processes, with a share of a core."""
    command = [sys.executable, "-m", "tests.samples.under_pressure", str(share), *names]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@needs_fork
def test_a_right_answer_is_accepted_whatever_is_loaded_meanwhile():
    assert under_pressure(1, "count_parameters", "causal_attention") == ""


@needs_fork
@pytest.mark.slow
def test_every_right_answer_is_accepted_whatever_is_loaded_meanwhile():
    assert under_pressure(1) == ""


@needs_fork
@pytest.mark.slow
def test_every_right_answer_is_accepted_with_a_tenth_of_a_core():
    assert under_pressure(0.1) == ""


def test_time_is_the_processors_and_not_the_clocks():
    def waits(T):
        time.sleep(0.15)
        return good(T)

    def works(T):
        work(0.15)
        return good(T)

    assert checks.causal_mask.examine(waits, seconds=0.1).ok
    assert checks.causal_mask.examine(works, seconds=0.1).kind == "not finished"


def test_other_threads_take_no_time_away():
    if sys.platform != "linux":
        pytest.skip("a thread's clock is read on Linux alone")
    over = threading.Event()

    def busy():
        while not over.is_set():
            pass

    others = [threading.Thread(target=busy) for _ in range(2)]
    for other in others:
        other.start()
    try:
        started = time.process_time()
        verdict = checks.causal_mask.examine(lambda T: work(0.05) or good(T), 0.2)
    finally:
        over.set()
    assert time.process_time() - started > 0.2
    assert verdict.ok


def test_where_a_thread_has_no_clock_the_process_has_one(monkeypatch):
    monkeypatch.setattr(limits.sys, "platform", "other")
    slow = call(work, {"seconds": 0.6}, run=plain_call, seconds=0.3)
    quick = call(work, {"seconds": 0.1}, run=plain_call, seconds=0.3)
    monkeypatch.undo()
    assert slow.hung
    assert not quick.hung


@pytest.fixture
def loaded_late(tmp_path, monkeypatch):
    """A module that takes a while to load."""
    code = """
    import time
    until = time.thread_time() + 1.0
    while time.thread_time() < until:
        pass
    loaded = True
    """
    (tmp_path / "loaded_late.py").write_text(textwrap.dedent(code))
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda: importlib.import_module("loaded_late").loaded
    sys.modules.pop("loaded_late", None)


def test_loading_a_module_takes_none_of_the_time(loaded_late):
    check = checks.causal_mask
    assert check.examine(lambda T: loaded_late() and good(T), seconds=0.05).ok


def test_a_module_that_loads_is_not_cut_short(loaded_late):
    left = []

    def work():
        left.append(limits._done(loaded_late))

    thread = threading.Thread(target=work)
    thread.start()
    while not limits._is_importing(thread):
        time.sleep(0.001)
    limits._stop(thread)
    thread.join()
    assert left == [(True, None)]


def test_what_only_waits_is_stopped_as_well():
    def waits():
        while True:
            threading.Event().wait(0.2)

    started = time.monotonic()
    assert call(waits, {}, run=plain_call, seconds=0.1).hung
    assert time.monotonic() - started < 5


def work_for_ever():
    while True:
        time.sleep(0.001)


def test_a_call_that_catches_what_stops_it_is_stopped_at_last():
    left = []

    def stubborn():
        try:
            work_for_ever()
        except BaseException:
            left.append(1)
        work_for_ever()

    outcome = call(stubborn, {}, run=plain_call, seconds=0.02)
    assert outcome.hung
    assert left == [1]
    names = {one.name for one in threading.enumerate()}
    assert not any("target" in name for name in names), "it still runs"


def test_a_call_that_ends_before_it_notices_has_ended(monkeypatch):
    escaped = []
    monkeypatch.setattr(threading, "excepthook", escaped.append)

    def waits():
        return queue.SimpleQueue().get(timeout=0.4)

    for _ in range(50):  # so that Python takes its fastest ways
        limits.within(None, lambda: 1)
    _, error = limits.within(0.01, waits)
    assert isinstance(error, queue.Empty)
    assert not escaped


def test_what_stops_a_call_is_not_printed_where_it_can_not_be_raised(capfd):
    class Cleans:
        def __del__(self):
            work(0.3)

    def leaves(T):
        Cleans()
        work_for_ever()

    assert call(leaves, {"T": 1}, run=plain_call, seconds=0.1).hung
    assert "_Stopped" not in capfd.readouterr().err


def test_references_and_known_mistakes_have_no_limit(monkeypatch):
    given = []

    def counted(function, arguments, *, run, seconds=None):
        given.append((function, seconds))
        return call(function, arguments, run=run, seconds=seconds)

    monkeypatch.setattr("helpers.checks.exercise.call", counted)
    # Of its own, since a check asks references and mistakes only once.
    check = dataclasses.replace(checks.causal_mask)
    check.examine(lambda T: ~good(T))
    limits = {seconds for function, seconds in given if function is check.reference}
    assert limits == {None}
    known = {one.function for one in check.mistakes}
    assert {seconds for function, seconds in given if function in known} == {None}


# --- the check's own failures ---------------------------------------------------------


def test_a_reference_that_fails_is_our_error_and_says_so():
    broken = [True]

    def reference(T):
        if broken:
            raise RuntimeError("no meta device")
        return good(T)

    check = dataclasses.replace(checks.causal_mask, reference=reference)
    verdict = check.examine(good)
    assert verdict.kind == "not judged"
    assert not verdict.ok
    text = " ".join(verdict.text.split())
    assert "○ good: not judged" in text
    assert "RuntimeError: no meta device" in text
    assert "none of yours" in text
    broken.clear()
    assert check.examine(good).ok, "the failure was remembered"


def test_inputs_that_can_not_be_made_are_our_error():
    def cases():
        raise MemoryError

    check = dataclasses.replace(checks.causal_mask, cases=cases)
    assert check.examine(good).kind == "not judged"


# --- what the session was like before -------------------------------------------------


def odd_default(T):
    torch.set_default_dtype(torch.float16)
    warnings.simplefilter("error")
    torch.set_grad_enabled(False)
    torch.manual_seed(1)
    raise RuntimeError("after all that")


def fails_in_an_import(T):
    import helpers.no_such_module  # noqa: F401


def endless(T):
    while True:
        pass


def exits(T):
    raise SystemExit


def recurses(T):
    return recurses(T)


FAILURES = (odd_default, fails_in_an_import, exits, recurses, endless)
some = [
    pytest.param(
        name, marks=[] if name in ("block_parameters", "attend") else pytest.mark.slow
    )
    for name in checks.EXERCISES
]


@pytest.mark.parametrize("name", some)
def test_a_right_answer_is_accepted_after_other_failures(name):
    check = dataclasses.replace(checks.EXERCISES[name])  # has asked nothing yet
    for failure in FAILURES:
        seconds = 0.1 if failure is endless else 10
        assert not check.examine(lambda *_, f=failure: f(1), seconds).ok
    verdict = check.examine(RIGHT[name][0])
    assert verdict.ok, verdict.text


@pytest.mark.parametrize(
    "dtype",
    [
        torch.bfloat16,
        pytest.param(torch.float16, marks=pytest.mark.slow),
        pytest.param(torch.float64, marks=pytest.mark.slow),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", checks.EXERCISES)
def test_a_right_answer_is_accepted_whatever_the_default_dtype(name, dtype):
    torch.set_default_dtype(dtype)
    try:
        verdict = checks.EXERCISES[name].examine(RIGHT[name][0])
        assert torch.get_default_dtype() == dtype
    finally:
        torch.set_default_dtype(torch.float32)
    assert verdict.ok, verdict.text


def test_a_right_answer_is_accepted_whatever_the_default_device():
    torch.set_default_device("meta")
    try:
        check = dataclasses.replace(checks.causal_weights)
        verdict = check.examine(RIGHT["causal_weights"][0])
        assert torch.ones(1).device.type == "meta"
    finally:
        torch.set_default_device(None)
    assert verdict.ok, verdict.text


def test_a_check_leaves_the_filters_of_warnings_as_they_were():
    def filters(T):
        warnings.simplefilter("ignore")
        return good(T)

    before = [*warnings.filters]
    assert checks.causal_mask.examine(filters).ok
    assert [*warnings.filters] == before
