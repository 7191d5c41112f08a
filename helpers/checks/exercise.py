"""An exercise: its reference, its inputs, the known mistakes, and how it is checked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from helpers.checks import verdict
from helpers.checks.calling import SECONDS, Outcome, call
from helpers.checks.comparing import Difference, difference, name_parts


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


def plain_call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function and hand its result on."""
    return function(*arguments)


def attempted(value: Any) -> Any:
    """Hand a value on, unless it is what a stub returns.

    Raises:
        NotImplementedError: None or ``...``, which is then its argument.
    """
    if value is None or value is ...:
        raise NotImplementedError(value)
    return value


@dataclass(frozen=True)
class Exercise:
    """What a check needs to know about an exercise.

    Args:
        name: of the check.
        returns: a dict of the result's parts and their shapes in letters, such as
            ``{"weights": "(T, S)"}``; the order is that of the results.
        reference: a right solution, called as the reader's is.
        cases: returns a list of Case, the smallest input first, in which any two of
            the mistakes differ.
        mistakes: each a Mistake.
        run: ``run(attempt, *arguments)`` calls the reader's function or class and
            returns what is compared. What is random is turned into what must hold of
            it, in a dict of numbers and truth values.
    """

    name: str
    returns: dict[str, str]
    reference: Callable[..., Any]
    cases: Callable[[], Sequence[Case]]
    mistakes: tuple[Mistake, ...]
    run: Callable[..., Any] = plain_call

    def check(self, attempt: Any, *, seconds: float = SECONDS) -> verdict.Verdict:
        """Print a verdict on a solution; never raise on the reader's mistakes.

        Args:
            attempt: the reader's function or class, not called.
            seconds: how long one call may take.

        Returns:
            verdict: a Verdict.
        """
        found = self.examine(attempt, seconds)
        print(found.text)
        return found

    def examine(self, attempt: Any, seconds: float = SECONDS) -> verdict.Verdict:
        """Find the verdict without printing it; arguments as for check."""
        title = getattr(attempt, "__name__", self.name)
        if attempt is None or attempt is ...:
            return verdict.not_attempted(self.name, self.name)
        if not callable(attempt):
            return verdict.no_function(self.name, attempt)
        cases, outcomes = self.cases(), []
        for case in cases:
            outcome = call(attempt, case.arguments, run=self.run, seconds=seconds)
            if outcome.hung:
                return verdict.hung(self.name, title, case, seconds)
            outcomes.append(outcome)
            if len(outcomes) == 1 and _is_a_stub(outcome):
                if _is_written(attempt) and _gives_none(outcome):
                    return verdict.nothing_returned(self.name, title)
                return verdict.not_attempted(self.name, title)
        expected = [self._result(self.reference, case) for case in cases]
        found = [
            _failure(right, outcome, list(self.returns))
            for right, outcome in zip(expected, outcomes, strict=True)
        ]
        failures = [
            (case, outcome, one)
            for case, outcome, one in zip(cases, outcomes, found, strict=True)
            if one is not None
        ]
        if not failures:
            # One mistake can be made in several ways, each a Mistake of that name.
            known = len({mistake.name for mistake in self.mistakes})
            return verdict.right(self.name, title, cases, known, outcomes)
        mistake = self._recognised(cases, outcomes)
        passed = len(cases) - len(failures)
        return verdict.wrong(self.name, title, self.returns, failures, passed, mistake)

    def _recognised(
        self, cases: Sequence[Case], outcomes: list[Outcome]
    ) -> Mistake | None:
        if all(outcome.error is not None for outcome in outcomes):
            return None  # any code that fails everywhere would look alike
        for mistake in self.mistakes:
            matches = (
                alike(self._result(mistake.function, case), outcome)
                for case, outcome in zip(cases, outcomes, strict=True)
            )
            if all(matches):
                return mistake
        return None

    def _result(self, function: Callable[..., Any], case: Case) -> Outcome:
        return call(function, case.arguments, run=self.run)


def _is_a_stub(outcome: Outcome) -> bool:
    value = outcome.value
    if isinstance(value, tuple) and value:
        return all(one is None or one is ... for one in value)
    nothing = outcome.error is None and (value is None or value is ...)
    return nothing or isinstance(outcome.error, NotImplementedError)


def _gives_none(outcome: Outcome) -> bool:
    if outcome.error is not None:
        return outcome.error.args == (None,)
    return outcome.value is None


def _stub() -> None: ...


def _documented_stub() -> None:
    """Do nothing, as a stub with a docstring does."""


def _is_written(attempt: Any) -> bool:
    """Whether a function, or a layer's forward, holds more than a docstring."""
    function = attempt.__dict__.get("forward") if isinstance(attempt, type) else attempt
    code = getattr(function, "__code__", None)
    stubs = {one.__code__.co_code for one in (_stub, _documented_stub)}
    return code is not None and code.co_code not in stubs


def _failure(
    right: Outcome, outcome: Outcome, names: list[str]
) -> Difference | BaseException | None:
    """A Difference, the outcome's error, or None where all is well."""
    if outcome.error is not None:
        return outcome.error
    expected, yours = (name_parts(one.value, names) for one in (right, outcome))
    if not isinstance(yours, dict):
        expected = right.value  # a tuple, where the parts' names would be a dict
    return difference(expected, yours)


def alike(mistaken: Outcome, outcome: Outcome) -> bool:
    """Whether a known mistake and the reader's function do the same."""
    if mistaken.error is not None or outcome.error is not None:
        return type(mistaken.error) is type(outcome.error)
    return difference(mistaken.value, outcome.value) is None
