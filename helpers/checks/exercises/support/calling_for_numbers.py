"""A call whose result is one number, which may come in several ways."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import torch

from helpers.checks.stubs import attempted


def call_for_number(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function, and turn a tensor of one number, or an exact one, into a float.

    Raises:
        NotImplementedError: it returned what a stub returns.
    """
    value = attempted(function(*arguments))
    if isinstance(value, (Decimal, Fraction)):
        return float(value)
    scalar = isinstance(value, torch.Tensor) and value.dim() == 0
    return value.item() if scalar else value


def call_for_any_number(function: Callable[..., Any], *arguments: Any) -> Any:
    """The same where a result may be whole or not, and a whole one come as a float."""
    value = call_for_number(function, *arguments)
    return float(value) if type(value) is int else value
