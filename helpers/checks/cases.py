"""What an exercise is made of: inputs, and known mistakes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """One input.

    Args:
        name: what is special about it, such as "one token".
        arguments: a dict of names and values, in the order of the parameters.
        shown: what a verdict prints of the input, where that isn't the arguments.
    """

    name: str
    arguments: dict[str, Any]
    shown: dict[str, Any] | None = None


@dataclass(frozen=True)
class Mistake:
    """A known mistake: code that makes it, and words for it.

    Args:
        name: completes "behaves like …", such as "a mask with its meaning inverted".
        function: does what a reader with this mistake would write.
        why: one to three sentences: why that is wrong, and what to look at.
    """

    name: str
    function: Callable[..., Any]
    why: str
