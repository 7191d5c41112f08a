"""Call a reader's function, and see what it leaves behind."""

import contextlib
import copy
import logging
import operator
import pathlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from attention_audit.calling import SEED, StartOfIt, apart, same_default_dtype
from attention_audit.frames import where
from attention_audit.limits import within

SECONDS = 10.0  # of the processor, for a reader's call
HALF = (torch.float16, torch.bfloat16)
BOOK = str(pathlib.Path(__file__).resolve().parent.parent)


@dataclass(frozen=True)
class Outcome:
    """What came of one call.

    Args:
        value: what it returned.
        error: what it raised, or None.
        where: the reader's line that raised, such as "line 3: x = y[7]", or "".
        hung: whether it had to be stopped.
        printed: the first of what it printed.
        changed: the arguments that it changed, each with what of it: "tensor", "list"
            (its items), "tensors in a list", "modules in a list" or "object".
        shared: names of the arguments whose memory the result's tensors share.
        reseeded: whether it set PyTorch's seed.
    """

    value: Any = None
    error: BaseException | None = None
    where: str = ""
    hung: bool = False
    printed: str = ""
    changed: dict[str, str] = field(default_factory=dict)
    shared: tuple[str, ...] = ()
    reseeded: bool = False


def plain_call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function and hand its result on."""
    return function(*arguments)


def call(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    *,
    run: Callable[..., Any],
    seconds: float | None = None,
) -> Outcome:
    """Call a function with copies of its arguments; nothing it does gets out.

    Args:
        function: what the reader wrote.
        arguments: a dict of names and values.
        run: ``run(function, *values)`` makes the call and returns what to compare.
        seconds: how much processor time it may take; None for the book's own code,
            which ends.

    Returns:
        outcome: an Outcome.
    """
    given = copy.deepcopy(arguments)
    before = {name: _items(one) for name, one in given.items()}
    with apart() as printed:
        done = within(seconds, lambda: run(function, *given.values()))
        reseeded = torch.initial_seed() != SEED
    if done is None:
        return Outcome(hung=True, printed=printed.text)
    value, error = done
    changed = {
        name: _part_that_changed(before[name], given[name])
        for name in arguments
        if not same(arguments[name], given[name])
    }
    shared = [name for name in before if _memory(before[name]) & _memory(_items(value))]
    return Outcome(
        value=value,
        error=error,
        where=where(error, BOOK),
        printed=printed.text,
        changed=changed,
        shared=tuple(shared),
        reseeded=reseeded,
    )


def quick_call(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    *,
    run: Callable[..., Any],
    seconds: float | None = None,
) -> Outcome:
    """What a function returns or raises, and no more; for use inside ``sheltered``.

    Arguments as for ``call``.
    """
    torch.default_generator.manual_seed(SEED)
    given = copy.deepcopy(arguments).values()
    done = within(seconds, lambda: run(function, *given))
    return Outcome(hung=True) if done is None else Outcome(*done)


@contextlib.contextmanager
def sheltered() -> Iterator[None]:
    """Let nothing out of many quick calls, as nothing gets out of ``call``."""
    logged = logging.root.manager.disable
    logging.disable()  # a changed call may log what the reader's never would
    try:
        with (
            apart(),
            contextlib.redirect_stderr(StartOfIt()),
            warnings.catch_warnings(action="ignore"),
        ):
            yield
    finally:
        logging.disable(logged)


@contextlib.contextmanager
def settled() -> Iterator[None]:
    """Judge on the CPU, in float32 or float64, and keep no filter of warnings.

    Half precision rounds two right ways to another result. A module that is loaded on
    the way may add a filter.
    """
    with (
        warnings.catch_warnings(),
        same_default_dtype(),
        torch.device("cpu") if _elsewhere() else contextlib.nullcontext(),
    ):
        if torch.get_default_dtype() in HALF:
            torch.set_default_dtype(torch.float32)
        yield


def _elsewhere() -> bool:
    """Whether new tensors would be on another device, as they are in this thread."""
    return torch.get_default_device().type != "cpu"


def _items(value: Any) -> list[Any]:
    """What a list or tuple holds; any other value stands for itself."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _part_that_changed(before: list[Any], after: Any) -> str:
    """What of an argument is another one now, from its items before the call."""
    if isinstance(after, list):
        items = len(before) == len(after) and all(map(operator.is_, before, after))
        if items and any(isinstance(one, torch.nn.Module) for one in after):
            return "modules in a list"
        return "tensors in a list" if items else "list"
    return "tensor" if isinstance(after, torch.Tensor) else "object"


def _memory(items: list[Any]) -> set[int]:
    """Where the numbers of those items lie that are tensors."""
    return {
        one.untyped_storage().data_ptr()
        for one in items
        if isinstance(one, torch.Tensor)
        and one.layout == torch.strided
        and one.device.type != "meta"
        and one.numel()
    }


def _trained(module: torch.nn.Module) -> list[bool]:
    """Which parameters training changes."""
    return [values.requires_grad for values in module.parameters()]


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal to the last bit: tensors, modules, plain values."""
    if isinstance(one, torch.nn.Module):
        return (
            type(one) is type(other)
            and same(dict(one.state_dict()), dict(other.state_dict()))
            and _trained(one) == _trained(other)
        )
    if isinstance(one, torch.Tensor):
        return (
            isinstance(other, torch.Tensor)
            and one.shape == other.shape
            and one.dtype == other.dtype
            and one.requires_grad == other.requires_grad
            and bool(((one == other) | ((one != one) & (other != other))).all())
        )
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            same(one[key], other[key]) for key in one
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other
