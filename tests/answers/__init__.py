"""Answers to the exercises, written from the tasks' text alone by six hands.

Nobody who wrote them had seen a check. Each hand's folder has a module for each of its
checks, whose ``ANSWERS`` begin their docstring with "right:" or "wrong:", and then say
what they do. They stay as they were handed in, but for five calls that raised an error.

A third of them, drawn by a hash of their names, is sealed: whoever mends a check looks
at the other two thirds alone, and the sealed ones say how good the checks are.
"""

import importlib
import pkgutil
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from helpers import attention


class Answer(NamedTuple):
    """A solution and what its author says of it.

    Attributes:
        hand: the author's letter.
        check: the name of the check that it is for.
        solution: a function or class.
        says: what it does, in the author's words.
        right: whether it is right.
        sealed: whether it is kept for judging the checks.
    """

    hand: str
    check: str
    solution: Callable[..., Any]
    says: str
    right: bool
    sealed: bool

    def __str__(self) -> str:
        return f"{self.hand}-{self.check}-{self.solution.__name__}"


def read() -> Iterator[Answer]:
    """All answers, hand by hand."""
    for found in pkgutil.walk_packages(__path__, f"{__name__}."):
        if found.ispkg:
            continue
        module = importlib.import_module(found.name)
        hand, check = found.name.split(".")[-2:]
        # What the notebooks import, and some answers look for.
        module.attention = attention
        module.SelfAttentionV1 = attention.SelfAttentionV1
        for solution in module.ANSWERS:
            kind, _, says = " ".join(solution.__doc__.split()).partition(": ")
            name = f"{hand}/{check}/{solution.__name__}"
            sealed = zlib.crc32(name.encode()) % 3 == 2
            yield Answer(hand, check, solution, says, kind == "right", sealed)


ANSWERS = list(read())
