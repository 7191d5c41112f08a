"""Keys whose axes were not exchanged but filled anew: a mistake of many exercises."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from helpers.checks.cases import Mistake


def reshaped(keys: Tensor) -> Tensor:
    """Keys (..., S, D) read row by row into the shape (..., D, S)."""
    *leading, S, D = keys.shape
    return keys.reshape(*leading, D, S)


def reshaped_keys(function: Callable[..., Any]) -> Mistake:
    """The mistake, made by a function."""
    return Mistake(
        "keys reshaped in place of transposed",
        function,
        "reshape and view leave the numbers in their order and cut them into other "
        "rows, so that the features of several keys end in one column. transpose "
        "exchanges the axes.",
    )
