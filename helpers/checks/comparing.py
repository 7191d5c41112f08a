"""Where a result differs from the expected one, and in what."""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_audit.wording import numbers_of
from helpers.checks.calling import Outcome

ABSOLUTE, RELATIVE = 1e-5, 1e-4
MOST_SHOWN = 20


@dataclass(frozen=True)
class Difference:
    """What is wrong with a result.

    Args:
        kind: "type", "shape", "dtype", "device" or "values".
        part: which part of the result, such as "weights", or "".
        yours: what came.
        expected: what should have come.
        index: of the first number that differs, in a tensor.
    """

    kind: str
    part: str
    yours: Any
    expected: Any
    index: tuple[int, ...] | None = None


def difference(expected: Any, yours: Any, part: str = "") -> Difference | None:
    """The first thing in which a result differs from the expected one.

    Args:
        expected: a tensor, a number, a text, or a list, tuple or dict of these.
        yours: anything.
        part: the name of what is compared.

    Returns:
        found: a Difference, or None where they agree. Tensors of any floating-point
            type agree when their numbers do; a list agrees with a tuple.
    """
    if isinstance(expected, Tensor):
        return _tensor_difference(expected, yours, part)
    if isinstance(expected, dict):
        if not isinstance(yours, dict) or yours.keys() != expected.keys():
            return Difference("type", part, yours, expected)
        pairs = [(name, expected[name], yours[name]) for name in expected]
        return _first(pairs)
    if isinstance(expected, (list, tuple)):
        if not isinstance(yours, (list, tuple)):
            return Difference("type", part, yours, expected)
        if len(yours) != len(expected):
            return Difference("shape", part, yours, expected)
        pairs = [(part, *both) for both in zip(expected, yours, strict=True)]
        inner = _first(pairs)
        if inner is None or isinstance(inner.expected, Tensor):
            return inner
        return Difference(inner.kind, part, yours, expected)
    return _plain_difference(expected, yours, part)


def name_parts(value: Any, names: Sequence[str]) -> Any:
    """A result of several parts as a dict, so that a difference names its part.

    What comes later in a result was often computed before, as in context, weights. So
    the dict begins with the last part: where all differ, that one is shown.

    Args:
        value: a list or tuple, or anything else.
        names: names of the parts.

    Returns:
        named: a dict where the value has as many parts as there are names, more
            than one; else the value itself.
    """
    several = isinstance(value, (list, tuple)) and len(names) > 1
    if several and len(value) == len(names):
        return dict(reversed([*zip(names, value, strict=True)]))
    return value


def _first(pairs: Iterable[tuple[str, Any, Any]]) -> Difference | None:
    found = (difference(expected, yours, part) for part, expected, yours in pairs)
    return next((one for one in found if one is not None), None)


def _plain_difference(expected: Any, yours: Any, part: str) -> Difference | None:
    expected, yours = _unwrapped(expected), _unwrapped(yours)
    wanted = (int, float) if isinstance(expected, float) else type(expected)
    fits = isinstance(yours, wanted)
    if fits and isinstance(yours, bool) != isinstance(expected, bool):
        fits = False
    if not fits:
        return Difference("type", part, yours, expected)
    if isinstance(expected, float):
        equal = _close(expected, yours)
    else:
        equal = expected == yours
    return None if equal else Difference("values", part, yours, expected)


def _unwrapped(value: Any) -> Any:
    """The number in a tensor or an array of one; anything else as it is."""
    if isinstance(value, (Tensor, np.ndarray, np.generic)) and value.ndim == 0:
        return value.item()
    return value


def _close(expected: float, yours: float) -> bool:
    """Whether two numbers are the same, up to rounding."""
    if math.isnan(expected) and math.isnan(yours):
        return True
    try:
        return math.isclose(expected, yours, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    except OverflowError:  # a whole number beyond all floats
        return False


def _tensor_difference(expected: Tensor, yours: Any, part: str) -> Difference | None:
    if not isinstance(yours, Tensor) or yours.layout != torch.strided:
        return Difference("type", part, yours, expected)
    if yours.shape != expected.shape:
        return Difference("shape", part, yours, expected)
    if numbers_of(yours) != numbers_of(expected):
        return Difference("dtype", part, yours, expected)
    if yours.device.type != expected.device.type:
        return Difference("device", part, yours, expected)
    wrong = ~agree(yours.detach(), expected.detach())
    if not wrong.any():
        return None
    index = tuple(wrong.nonzero()[0].tolist())
    return Difference("values", part, yours, expected, index)


def agree(yours: Tensor, expected: Tensor) -> Tensor:
    """True where two tensors of one shape hold the same number, up to rounding."""
    if not expected.is_floating_point():
        return yours == expected
    yours, expected = yours.double(), expected.double()
    near = (yours - expected).abs() <= ABSOLUTE + RELATIVE * expected.abs()
    both_nan = yours.isnan() & expected.isnan()
    return torch.where(expected.isfinite(), near, (yours == expected) | both_nan)


def failure_of(
    right: Outcome, outcome: Outcome, names: list[str]
) -> Difference | BaseException | None:
    """A Difference, the outcome's error, or None where all is well."""
    if outcome.error is not None:
        return outcome.error
    expected, yours = (name_parts(one.value, names) for one in (right, outcome))
    if yours is outcome.value:
        expected = right.value  # a tuple, where the parts' names would be a dict
    found = difference(expected, yours)
    if found is None:
        return None
    return dataclasses.replace(found, expected=_copied(found.expected))


def _copied(value: Any) -> Any:
    """What a caller may change, while the check remembers what it was."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {name: _copied(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_copied, value))
    return value


def alike(mistaken: Outcome, outcome: Outcome) -> bool:
    """Whether a known mistake and the reader's function do the same."""
    if mistaken.error is not None or outcome.error is not None:
        return type(mistaken.error) is type(outcome.error)
    return difference(mistaken.value, outcome.value) is None


def describe(value: Any, index: tuple[int, ...] | None = None) -> str:
    """A value in a few lines: its numbers where they are few, else its shape.

    Args:
        value: anything.
        index: of the number to show where there are too many.

    Returns:
        text: a string.
    """
    if isinstance(value, Tensor):
        return _describe_tensor(value, index)
    if isinstance(value, torch.nn.Module):
        return f"a module {type(value).__name__}"
    if isinstance(value, float):
        return f"{value:z.4f}"
    if isinstance(value, (list, tuple)) and len(value) <= MOST_SHOWN:
        inner = [describe(one) for one in value]
        tables = any("\n" in one for one in inner)
        inner = (",\n" if tables else ", ").join(inner)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, (str, int)) or value is None:
        text = repr(value)
        return text if len(text) <= 200 else f"{text[:200]}… ({len(text)} characters)"
    return f"an object of type {type(value).__name__}"


def _describe_tensor(value: Tensor, index: tuple[int, ...] | None) -> str:
    shape = tuple(value.shape)
    value = value.detach()
    if value.layout != torch.strided:
        return f"a sparse tensor {shape}"
    if value.device.type == "meta":
        return f"a tensor {shape} on the meta device, without numbers"
    if value.numel() > MOST_SHOWN:
        if index is None:
            return f"a tensor {shape}"
        one = describe(value[index].item())
        return f"{one} at [{', '.join(map(str, index))}] of a tensor {shape}"
    return _nested(value.tolist(), value.dim())


def _nested(numbers: Any, depth: int, level: int = 1) -> str:
    """Nested lists; a matrix has a row a line."""
    if depth == 0:
        return describe(numbers)
    separator = ", " if depth == 1 else ",\n" + " " * level
    inner = (_nested(one, depth - 1, level + 1) for one in numbers)
    return f"[{separator.join(inner)}]"
