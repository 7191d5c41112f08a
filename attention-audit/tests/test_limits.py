"""A call that takes too long is stopped, and what it imports is left whole."""

import _imp
import contextlib
import importlib
import sys
import threading

import pytest

from attention_audit import limits

SLOW = """
import time
end = time.thread_time() + 0.4
while time.thread_time() < end:
    pass
whole = True
"""


def forever():
    while True:
        [one * one for one in range(100)]


def test_what_ends_gives_what_it_returns_or_raises():
    assert limits.within(5, lambda: 3) == (3, None)
    result, error = limits.within(None, lambda: 1 // 0)
    assert result is None
    assert isinstance(error, ZeroDivisionError)


def test_what_takes_too_long_is_stopped_though_it_catches_all():
    def stubborn():
        for _ in range(3):
            with contextlib.suppress(BaseException):
                forever()
        forever()

    before = threading.active_count()
    assert limits.within(0.1, stubborn) is None
    assert threading.active_count() == before


def test_a_module_is_loaded_to_its_end(tmp_path, monkeypatch):
    (tmp_path / "slow_to_load.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)

    def load_and_hang():
        importlib.import_module("slow_to_load")
        forever()

    try:
        assert limits.within(0.1, load_and_hang) is None
        assert sys.modules.pop("slow_to_load").whole
    finally:
        sys.modules.pop("slow_to_load", None)


def test_nobody_looks_at_the_frames_of_a_running_thread(monkeypatch):
    monkeypatch.delattr(sys, "_current_frames")
    assert limits.within(0.1, forever) is None


@pytest.mark.slow
def test_no_lock_is_left_by_what_was_stopped_while_it_imports(monkeypatch):
    """Stopped at any moment, with turns so short that each may be the one."""
    for name, value in {"TICK": 0.001, "STOPS": 500}.items():
        monkeypatch.setattr(limits, name, value)

    def imports():
        while True:
            for name in ("colorsys", "there_is_no_such_module"):
                sys.modules.pop(name, None)
                try:
                    importlib.import_module(name)
                except ImportError:
                    [one * one for one in range(2000)]

    before, usual = threading.active_count(), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for i in range(300):
            assert limits.within(i % 40 / 1e4, imports) is None
            assert threading.active_count() == before
            assert not _imp.lock_held()
            owners = {
                lock.owner
                for known in [*importlib._bootstrap._module_locks.values()]
                if (lock := known()) is not None
            }
            assert owners <= {None}
    finally:
        sys.setswitchinterval(usual)
    assert importlib.import_module("colorsys").rgb_to_hsv(1, 1, 1) == (0, 0, 1)
