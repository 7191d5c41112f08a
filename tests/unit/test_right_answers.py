"""A right answer is accepted whatever the machine does; what fails is told as ours."""

import dataclasses
import importlib
import logging
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

from attention_audit import limits
from helpers import checks
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


@pytest.mark.slow
@needs_fork
def test_a_right_answer_is_accepted_whatever_is_loaded_meanwhile():
    assert under_pressure(1, "cache_bytes", "causal_attention") == ""


@needs_fork
@pytest.mark.slow
def test_every_right_answer_is_accepted_whatever_is_loaded_meanwhile():
    assert under_pressure(1) == ""


@needs_fork
@pytest.mark.slow
def test_a_right_answer_is_accepted_with_a_tenth_of_a_core():
    # What checks share is the limit on a call; these differ in how they call.
    assert under_pressure(0.1, "get_batch", "causal_attention") == ""


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
    call, left = limits._Call(), []

    def work():
        call.working = True
        left.append(limits._done(loaded_late))
        call.working = False

    thread = threading.Thread(target=work)
    thread.start()
    while not any(one() for one in limits._importing(thread)):
        time.sleep(0.001)
    limits._stop(thread, call)
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


@pytest.mark.one_in(6)
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


# --- layers of other kinds ------------------------------------------------------------


class Linears(torch.nn.Module):
    """A causal layer; others keep something in another way."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = torch.nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = torch.nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = torch.nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = torch.nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril())

    def forward(self, x):
        T = x.shape[1]
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = queries @ keys.mT / keys.shape[-1] ** 0.5
        scores = scores.masked_fill(self.mask[:T, :T] == 0, -torch.inf)
        return self.dropout(scores.softmax(-1)) @ values


class Frozen(Linears):
    def __init__(self, *sizes, **named):
        super().__init__(*sizes, **named)
        mask = self.mask
        del self.mask
        self.mask = torch.nn.Parameter(mask, requires_grad=False)


class Aliased(Linears):
    def __init__(self, *sizes, **named):
        super().__init__(*sizes, **named)
        three = {"q": self.W_query, "k": self.W_key, "v": self.W_value}
        del self.W_query, self.W_key, self.W_value
        self.qkv = torch.nn.ModuleDict(three)
        self.W_query, self.W_key, self.W_value = three.values()


class Lazy(Linears):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, dropout, qkv_bias)
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, torch.nn.LazyLinear(d_out, bias=qkv_bias))


@pytest.mark.parametrize("kind", [Linears, Frozen, Aliased, Lazy])
def test_a_right_layer_may_keep_what_it_needs_in_any_way(kind):
    verdict = checks.causal_attention.examine(kind)
    assert verdict.ok, verdict.text


def test_only_two_devices_are_called_so():
    class Scaled(Linears):
        def __init__(self, *sizes, **named):
            super().__init__(*sizes, **named)
            self.scale = torch.ones(1)

        def forward(self, x):
            return super().forward(x) * self.scale

    class Refuses(Linears):
        def forward(self, x):
            if x.is_meta:
                raise RuntimeError("no numbers")
            return super().forward(x)

    name = "a layer that leaves a tensor, such as its mask, on the CPU"
    assert checks.causal_attention.examine(Scaled).mistake == name
    verdict = checks.causal_attention.examine(Refuses)
    assert (verdict.kind, verdict.mistake) == ("raised", None)


# --- what a search for repairs reads and writes ---------------------------------------

WRONG_TWICE = """
def my_scaled_weights(queries, keys):
    scores = queries @ keys.mT
    scores = scores / queries.shape[0] ** 0.5
    return scores.softmax(-1)
"""
WRONG_OTHERWISE = """
def my_scaled_weights(queries, keys):
    D = keys.shape[-1] * 1.5
    weights = (queries @ keys.mT / D).softmax(-1)
    return weights * 1.01
"""


def test_no_line_is_quoted_that_the_attempt_has_not(tmp_path, monkeypatch):
    path = tmp_path / "mine_to_edit.py"
    monkeypatch.syspath_prepend(tmp_path)
    path.write_text(WRONG_TWICE)
    mine = importlib.import_module("mine_to_edit")
    first = mine.my_scaled_weights
    found = checks.scaled_weights.examine(first).text
    assert "queries.shape[-1] ** 0.5" in found
    path.write_text(WRONG_OTHERWISE)
    os.utime(path, (1e9, 1e9))
    edited = importlib.reload(mine).my_scaled_weights
    assert "queries.shape[0]" not in checks.scaled_weights.examine(edited).text
    # Of the first one, no code can be read any more.
    assert "line" not in checks.scaled_weights.examine(first).text


def my_scaled_weights(queries, keys):
    print("by hand", file=sys.stderr)
    scores = queries @ keys.mT * 2.0
    logging.getLogger("mine").warning("shape %s", tuple(scores.shape))
    scores = scores / (queries.shape[-1] + 1.5)
    return scores.softmax(-1) + 0.01


def test_a_search_for_repairs_logs_nothing(caplog, capsys):
    exercise = checks.scaled_weights
    assert exercise.examine(my_scaled_weights).kind == "values"
    calls = len(exercise.inputs())
    assert 0 < len(caplog.records) <= 3 * calls
    assert capsys.readouterr().err.count("by hand") <= 3 * calls
    assert logging.root.manager.disable == 0
