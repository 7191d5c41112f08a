"""A call whose result is one number, which may come as a tensor."""

from collections.abc import Callable
from typing import Any

import torch

from helpers.checks.stubs import attempted


def call_for_number(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function, and turn a tensor of one number into that number.

    Raises:
        NotImplementedError: it returned what a stub returns.
    """
    value = attempted(function(*arguments))
    scalar = isinstance(value, torch.Tensor) and value.dim() == 0
    return value.item() if scalar else value
