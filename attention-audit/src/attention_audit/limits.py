"""A limit on what somebody else's code takes, by which no slow machine is judged.

It counts the processor time of the call's own thread, and neither what modules take to
load nor the time in which the whole process is stopped. By the clock there is a second
limit, ``PATIENCE`` times as long, for code that only waits; ten times as long again for
modules. What is stopped has not finished, and whoever calls says no more of it.
"""

import _imp
import contextlib
import ctypes
import functools
import importlib
import itertools
import operator
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

PATIENCE = 12  # times as many seconds by the clock: a tenth of a core will do
TICK = 0.05  # seconds between two looks at a call; a process that is stopped has none
WHILE_IMPORTING = 0.1  # of a tick, since a lock of an import may never be free
STOPS = 20  # how often a call is told to end that catches what it is told
# Python's own, by the names of modules that are being loaded.
LOCKS: Any = vars(importlib.import_module("importlib._bootstrap"))["_module_locks"]


class _Stopped(BaseException):
    """Raised inside a thread that takes too long."""


class _Call:
    """A thread's account of what it does, for the one that waits for it."""

    def __init__(self) -> None:
        self.working = False  # whether it may be stopped
        self.done: tuple[Any, BaseException | None] | None = None
        self.clock: Callable[[], float] | None = None


def within(
    seconds: float | None, work: Callable[[], Any]
) -> tuple[Any, BaseException | None] | None:
    """Do some work in a thread of its own.

    Args:
        seconds: how much processor time it may take; None where it ends.
        work: called without arguments.

    Returns:
        done: what the work returned, and what it raised or None; None for both where it
            had to be stopped.
    """
    call = _Call()

    def target() -> None:
        call.clock = _own_clock()
        try:
            call.working = True
            call.done = _done(work)
            _look()  # a _Stopped that came too late is raised in here
            call.working = False
        except _Stopped:
            call.working = False

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    try:
        if seconds is None:
            thread.join()
        else:
            _wait(thread, call, seconds)
    finally:  # whoever waits may interrupt it as well
        _stop(thread, call)
    return call.done


def _done(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """What the work returns and raises; only in here may it be stopped."""
    try:
        return work(), None
    except _Stopped:
        raise
    except BaseException as error:  # they may raise anything, even SystemExit
        return None, error


def _look() -> None:
    """Do nothing: where a function begins, Python raises what waits to be raised."""


def _wait(thread: threading.Thread, call: _Call, seconds: float) -> None:
    """Wait until a thread ends, or has had its time."""
    used = before = waited = 0.0
    while used < seconds and waited < PATIENCE * seconds:
        thread.join(TICK)
        if not thread.is_alive():
            return
        importing = any(one() for one in _importing(thread))
        waited += TICK * (WHILE_IMPORTING if importing else 1)
        with contextlib.suppress(OSError):  # it has ended since
            now = call.clock() if call.clock else 0.0
            used += 0.0 if importing else now - before
            before = now


def _stop(thread: threading.Thread, call: _Call) -> None:
    """Raise _Stopped in a thread that still works, again where it is caught.

    An import is let alone: cut short, it would leave its module broken for the rest of
    the session.
    """
    if not thread.is_alive():
        return
    raised = ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Stopped)
    tell = functools.partial(ctypes.pythonapi.PyThreadState_SetAsyncExc, *raised)
    with _unseen():
        for _ in range(STOPS):
            importing = _importing(thread)
            # From here to the call, Python gives no other thread a turn: what is asked
            # calls C alone, and ``in`` is no call. So the answer still holds.
            if call.working and True not in map(operator.call, importing):
                tell()
            thread.join(TICK)
            if not thread.is_alive():
                return


@contextlib.contextmanager
def _unseen() -> Iterator[None]:
    """Print no _Stopped that is raised where Python can't hand it on."""
    hook = sys.unraisablehook

    def printed(told: Any) -> None:
        if not isinstance(told.exc_value, _Stopped):
            hook(told)

    sys.unraisablehook = printed
    try:
        yield
    finally:
        sys.unraisablehook = hook


def _own_clock() -> Callable[[], float]:
    """The processor time of the thread that calls this, for others to read.

    Where a thread has no such clock, it is that of the whole process since now.
    """
    if sys.platform == "linux":
        number = time.pthread_getcpuclockid(threading.get_ident())
        return lambda: time.clock_gettime(number)
    start = time.process_time()
    return lambda: time.process_time() - start


def _importing(thread: threading.Thread) -> list[Callable[[], bool]]:
    """What to ask, once, about whether a thread is loading a module.

    It then owns that module's lock. Its frames are none of ours: they change while we
    look, and Python may crash.
    """
    # A chain begins with what it is made of only when it is asked.
    locks = map(operator.call, itertools.chain.from_iterable([LOCKS.values()]))
    owners: Any = map(operator.attrgetter("owner"), filter(None, locks))
    return [
        _imp.lock_held,  # by any thread, for the moment in which a lock is made
        functools.partial(operator.contains, owners, thread.ident),
    ]
