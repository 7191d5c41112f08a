"""A limit on what somebody else's code takes, by which no slow machine is judged.

It counts the processor time of the call's own thread, and neither what modules take to
load nor the time in which the whole process is stopped. By the clock there is a second
limit, ``PATIENCE`` times as long, for code that only waits; ten times as long again for
modules. What is stopped has not finished, and whoever calls says no more of it.
"""

import contextlib
import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

PATIENCE = 12  # times as many seconds by the clock: a tenth of a core will do
TICK = 0.05  # seconds between two looks at a call; a process that is stopped has none
WHILE_IMPORTING = 0.1  # of a tick, since a lock of an import may never be free
STOPS = 20  # how often a call is told to end that catches what it is told
IMPORTING = "<frozen importlib._bootstrap>"


class _Stopped(BaseException):
    """Raised inside a thread that takes too long."""


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
    done: list[tuple[Any, BaseException | None]] = []
    clocks: list[Callable[[], float]] = []

    def target() -> None:
        with contextlib.suppress(_Stopped):
            clocks.append(_own_clock())
            done.append(_done(work))
            _look()  # a _Stopped that came too late is raised in here

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    try:
        if seconds is None:
            thread.join()
        else:
            _wait(thread, clocks, seconds)
    finally:  # whoever waits may interrupt it as well
        _stop(thread)
    return done[0] if done else None


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


def _wait(
    thread: threading.Thread, clocks: list[Callable[[], float]], seconds: float
) -> None:
    """Wait until a thread ends, or has had its time."""
    used = before = waited = 0.0
    while used < seconds and waited < PATIENCE * seconds:
        thread.join(TICK)
        if not thread.is_alive():
            return
        importing = _is_importing(thread)
        waited += TICK * (WHILE_IMPORTING if importing else 1)
        with contextlib.suppress(OSError):  # it has ended since
            now = clocks[0]() if clocks else 0.0
            used += 0.0 if importing else now - before
            before = now


def _stop(thread: threading.Thread) -> None:
    """Raise _Stopped in a thread that still works, again where it is caught.

    An import is let alone: cut short, it would leave its module broken for the rest of
    the session.
    """
    if not thread.is_alive():
        return
    with _unseen():
        for _ in range(STOPS):
            working = any(one.f_code is _done.__code__ for one in _frames(thread))
            if working and not _is_importing(thread):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Stopped)
                )
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


def _frames(thread: threading.Thread) -> Iterator[FrameType]:
    """What a thread is in at present, the innermost first."""
    frame = sys._current_frames().get(thread.ident or 0)
    # The thread runs on meanwhile: what a frame says called it may be anything by now.
    while isinstance(frame, FrameType):
        yield frame
        frame = frame.f_back


def _is_importing(thread: threading.Thread) -> bool:
    """Whether a thread is loading a module."""
    return any(one.f_code.co_filename == IMPORTING for one in _frames(thread))
