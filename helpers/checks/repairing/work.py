"""How much work a call is, in steps that a slow machine doesn't change."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class Enough(BaseException):
    """Raised in work that takes more steps than anybody wants to count."""


def steps(work: Callable[[], Any], most: int) -> int:
    """Count the instructions of Python that some work takes in this thread.

    Args:
        work: called without arguments; what it returns or raises is let go.
        most: where it is cut short.

    Returns:
        count: at most ``most``.
    """
    count = 0

    def traced(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        if count >= most:
            raise Enough
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        work()
    except BaseException:  # noqa: S110 - only the count matters
        pass
    finally:
        sys.settrace(before)
    return count
