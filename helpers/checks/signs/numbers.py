"""What a wrong number, text or list of numbers shows."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from helpers.checks.cases import Case
from helpers.checks.sizes import sizes_of

NEAR = 0.03  # how far a rounded or padded number may be off, as a share
MOST_TIMES = 20  # an argument that a count is off by


def number_facts(case: Case, yours: float, right: float) -> Iterator[str]:
    """What is true of a wrong number, such as that it is one too large."""
    if yours == right or not math.isfinite(right):
        return
    if math.isnan(yours):
        yield "NaN comes out, not a number."
    elif math.isinf(yours):
        yield "The number is infinite."
    elif yours == -right:
        yield "The number has the wrong sign."
    elif yours - right in (1, -1):
        yield f"The number is one too {'large' if yours > right else 'small'}."
    if not math.isfinite(yours) or yours == -right or abs(yours - right) == 1:
        return
    if float(yours).is_integer() and float(right).is_integer():
        yield from _counted(case, yours - right)
    if 0 != yours == int(right) != right:
        yield "The number was cut to a whole one."
    elif yours == 0:
        yield "The number is 0."
    elif right != 0:
        yield from factors(case, yours / right)
        if abs(yours - right) <= NEAR * abs(right):
            yield "The number is off by little."


def _counted(case: Case, off: float) -> Iterator[str]:
    """Which whole number of times an argument, or its square, a count is off by."""
    way = "large" if off > 0 else "small"
    for name, value in case.arguments.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            continue
        for words, size in ((name, value), (f"{name}²", value * value)):
            times = abs(off) / size
            if times.is_integer() and times <= MOST_TIMES:
                several = f"{times:.0f} times " if times > 1 else ""
                yield f"The number is too {way} by {several}{words}."


def factors(case: Case, factor: float) -> Iterator[str]:
    """What a result was multiplied or divided by."""
    for what, number in sizes_of(case):
        if number <= 0:
            continue
        for words, size in ((what, number), (f"the root of {what}", number**0.5)):
            if size == 1:
                continue
            # Not "too large by": a number below 1 makes smaller what it multiplies.
            for way, expected in (("times", size), ("divided by", 1 / size)):
                if math.isclose(factor, expected, rel_tol=1e-4):
                    yield f"Every number is the right one {way} {words}."
    if not 1e-6 < abs(factor) < 1e6 or abs(factor - 1) < 0.01:
        return
    way, times = ("large", factor) if abs(factor) > 1 else ("small", 1 / factor)
    yield f"Every number is too {way}, by a factor of {times:.3g}."


def sequence_facts(yours: Sequence[Any], right: Sequence[Any]) -> Iterator[str]:
    """What is true of a wrong text, or list of numbers."""
    if type(yours) is not type(right) and {type(yours), type(right)} != {list, tuple}:
        return
    thing = "character" if isinstance(right, str) else "item"
    if yours == right[::-1]:
        yield "It comes in reverse order."
    elif len(yours) < len(right):
        missing = len(right) - len(yours)
        if yours == right[missing:]:
            yield (
                f"The first {thing} is missing."
                if missing == 1
                else (f"{thing.title()}s are missing at the beginning.")
            )
        if yours == right[: len(yours)]:
            yield (
                f"The last {thing} is missing."
                if missing == 1
                else (f"{thing.title()}s are missing at the end.")
            )
        yield f"There are too few {thing}s."
    elif len(yours) > len(right):
        if yours[: len(right)] == right:
            yield f"There are {thing}s too many at the end."
        if yours[-len(right) :] == right:
            yield f"There are {thing}s too many at the beginning."
        yield f"There are too many {thing}s."
    elif isinstance(right, str) and isinstance(yours, str):
        if yours == right.lower():
            yield "Every letter became a small one."
        if yours == right.upper():
            yield "Every letter became a capital."
    elif all(isinstance(one, int) for one in [*yours, *right]):
        apart = {one - other for one, other in zip(yours, right, strict=True)}
        if len(apart) == 1:
            (by,) = apart
            yield f"Every number is {abs(by)} too {'large' if by > 0 else 'small'}."
        if sorted(yours) == sorted(right):
            yield "The right numbers came in another order."


def plain(value: Any) -> bool:
    """Whether a value is a text, or a list of texts and numbers."""
    if isinstance(value, (list, tuple)):
        return all(isinstance(one, (str, int, float)) for one in value)
    return isinstance(value, str)
