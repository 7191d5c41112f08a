"""Whether a reader has written anything yet."""

from typing import Any

from helpers.checks.calling import Outcome


def attempted(value: Any) -> Any:
    """Hand a value on, unless it is what a stub returns.

    Raises:
        NotImplementedError: None or ``...``, which is then its argument.
    """
    if value is None or value is ...:
        raise NotImplementedError(value)
    return value


def is_a_stub(outcome: Outcome) -> bool:
    """Whether a call has returned or raised what a stub does."""
    value = outcome.value
    if isinstance(value, tuple) and value:
        return all(one is None or one is ... for one in value)
    nothing = outcome.error is None and (value is None or value is ...)
    return nothing or _says_so(outcome)


def _says_so(outcome: Outcome) -> bool:
    """Whether ``attempted`` or the reader has raised NotImplementedError.

    PyTorch raises it, too, for numbers that an operation can't take.
    """
    error = outcome.error
    if not isinstance(error, NotImplementedError):
        return False
    by_reader = "raise NotImplementedError" in outcome.where
    return by_reader or error.args in ((None,), (...,))


def forgets_return(attempt: Any, outcome: Outcome) -> bool:
    """Whether there is code that has returned None, so that a `return` is missing."""
    nothing = outcome.value is None
    if outcome.error is not None:
        nothing = outcome.error.args == (None,)
    return nothing and _is_written(attempt)


def _stub() -> None: ...


def _documented_stub() -> None:
    """Do nothing, as a stub with a docstring does."""


def _is_written(attempt: Any) -> bool:
    """Whether a function, or a layer's forward, holds more than a docstring."""
    function = attempt.__dict__.get("forward") if isinstance(attempt, type) else attempt
    code = getattr(function, "__code__", None)
    stubs = {one.__code__.co_code for one in (_stub, _documented_stub)}
    return code is not None and code.co_code not in stubs
