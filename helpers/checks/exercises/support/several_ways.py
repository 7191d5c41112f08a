"""One mistake that readers make in several ways, with one name for all."""

from collections.abc import Callable, Sequence
from typing import Any

from helpers.checks.cases import Mistake


def several(
    name: str, functions: Sequence[Callable[..., Any]], why: str
) -> list[Mistake]:
    """A Mistake for each function, all of one name, which a verdict counts once."""
    return [Mistake(name, function, why) for function in functions]
