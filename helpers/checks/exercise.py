"""An exercise: call it with a solution, and it finds the mistake."""

import dataclasses
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from helpers.checks import combining, repairing, signs, verdict
from helpers.checks.calling import (
    SECONDS,
    Outcome,
    call,
    guarded,
    plain_call,
    quick_call,
)
from helpers.checks.cases import Case, Mistake
from helpers.checks.comparing import Difference, difference, name_parts
from helpers.checks.stubs import forgets_return, is_a_stub

DOCUMENTATION = """Check ``{stub}``.

Args:
{asks}

Returns:
    verdict: a Verdict.
"""


Failed = tuple[Case, Outcome, Difference | BaseException]


@dataclass(frozen=True, eq=False, repr=False)
class Exercise:
    """What a check needs to know about an exercise; calling it is the check.

    Args:
        name: of the check.
        stub: what the reader writes, such as "my_softmax(scores)".
        asks: what that is, with the shapes of its arguments and its result.
        returns: a dict of the result's parts and their shapes in letters, such as
            ``{"weights": "(T, S)"}``; the order is that of the results.
        reference: a right solution, called as the reader's is.
        cases: returns a list of Case, the smallest input first, in which any two of
            the mistakes differ; the same ones each time.
        mistakes: each a Mistake.
        run: ``run(attempt, *arguments)`` calls the reader's function or class and
            returns what is compared. What is random is turned into what must hold of
            it, in a dict of numbers and truth values.
        fresh: whether the result must be new tensors: none that shares its memory with
            an argument.
    """

    name: str
    stub: str
    asks: str
    returns: dict[str, str]
    reference: Callable[..., Any]
    cases: Callable[[], Sequence[Case]]
    mistakes: tuple[Mistake, ...]
    run: Callable[..., Any] = plain_call
    fresh: bool = False
    _known: dict[tuple[Any, ...], Any] = dataclasses.field(
        default_factory=dict, init=False
    )

    def __post_init__(self) -> None:
        """Document this check, so that ``help(checks.softmax)`` says what it asks."""
        asks = textwrap.fill(
            f"attempt: {self.asks}",
            88,
            initial_indent="    ",
            subsequent_indent="        ",
            break_on_hyphens=False,
        )
        text = DOCUMENTATION.format(stub=self.stub, asks=asks)
        object.__setattr__(self, "__doc__", text)

    def __repr__(self) -> str:
        return f"<checks.{self.name}: hand over {self.stub}>"

    def __call__(self, attempt: Any, *, seconds: float = SECONDS) -> verdict.Verdict:
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
        """Find the verdict without printing it; arguments as for the check itself."""
        if attempt is None or attempt is ...:
            return verdict.not_attempted(self.name, self.name)
        if not callable(attempt):
            return verdict.no_function(self.name, attempt)
        title = getattr(attempt, "__name__", self.name)
        outcomes: list[Outcome] = []
        for case in self.inputs():
            outcome = call(attempt, case.arguments, run=self.run, seconds=seconds)
            if outcome.hung:
                return verdict.hung(self.name, title, case, seconds)
            if not outcomes and is_a_stub(outcome):
                if forgets_return(attempt, outcome):
                    return verdict.nothing_returned(self.name, title)
                return verdict.not_attempted(self.name, title)
            if not self.fresh:
                outcome = dataclasses.replace(outcome, shared=())
            outcomes.append(outcome)
        return self._judge(title, attempt, outcomes, seconds)

    def inputs(self) -> Sequence[Case]:
        """The cases, made once; whoever calls gets the check's own, to read only."""
        key = ("inputs", *_defaults())
        if key not in self._known:
            self._known[key] = tuple(self.cases())
        cases: Sequence[Case] = self._known[key]
        return cases

    def outcome(self, function: Callable[..., Any], number: int) -> Outcome:
        """What the reference or a known mistake does on one input, called only once.

        Args:
            function: ``reference``, or ``function`` of one of the mistakes.
            number: of the input.

        Returns:
            outcome: an Outcome; the check's own, to read only.
        """
        key = (function, number, *_defaults())
        if key not in self._known:
            arguments = self.inputs()[number].arguments
            outcome = call(function, arguments, run=self.run)
            if outcome.hung:  # by a busy machine: that is nothing to remember
                return outcome
            self._known[key] = outcome
        known: Outcome = self._known[key]
        return known

    def _judge(
        self, title: str, attempt: Any, outcomes: list[Outcome], seconds: float
    ) -> verdict.Verdict:
        cases, failures, first = self.inputs(), [], 0
        for number, outcome in enumerate(outcomes):
            right = self.outcome(self.reference, number)
            failure = _failure(right, outcome, list(self.returns))
            if failure is not None:
                failures.append((cases[number], outcome, failure))
                first = first if failures[1:] else number
        if not failures:
            # One mistake can be made in several ways, each a Mistake of that name.
            known = len({mistake.name for mistake in self.mistakes})
            return verdict.right(self.name, title, cases, known, outcomes)
        rights = [self.outcome(self.reference, i) for i in range(len(cases))]
        found = self._recognised(outcomes)
        if found is not None:
            return self._wrong(title, failures, found)
        # Two results of an odd kind or place can't be compared with each other.
        odd = getattr(failures[0][2], "kind", "values") != "values"
        kept = [] if odd else self._kept(attempt, outcomes, first, seconds)
        repair = None if kept else self._repaired(attempt, outcomes, rights)
        if repair is not None:
            return self._wrong(title, failures, self._told(repair))
        alone = self._of_arguments(outcomes)
        if not alone and not self._besides(outcomes, rights, rights):
            found = self._combined(outcomes, rights)
            if found is not None:
                return self._wrong(title, failures, found)
        common = signs.signs(cases, outcomes, rights, list(self.returns))
        told = tuple((kept + alone + common)[: signs.MOST_TOLD])
        return self._wrong(title, failures, told)

    def _wrong(
        self,
        title: str,
        failures: Sequence[Failed],
        found: Mistake | tuple[str, ...],
    ) -> verdict.Verdict:
        passed = len(self.inputs()) - len(failures)
        return verdict.wrong(self.name, title, self.returns, failures, passed, found)

    def _told(self, repair: repairing.Repair) -> Mistake | tuple[str, ...]:
        """What a verdict says of a repair."""
        changes = ", and ".join(repair.changes)
        if repair.mistake is None and len(repair.changes) == 1:
            return (f"Every result is right {changes}.",)
        if repair.mistake is None:
            return (f"Two changes make every result right: {changes}.",)
        known = self.mistakes[repair.mistake]
        why = (
            f"{known.why} There is a second mistake: {changes}, only this one is left."
        )
        return dataclasses.replace(known, why=why)

    def _repaired(
        self, attempt: Any, outcomes: list[Outcome], rights: Sequence[Outcome]
    ) -> repairing.Repair | None:
        """What the reader's code would have to say for all results to be right."""

        def known(number: int) -> list[Outcome]:
            return [self.outcome(one.function, number) for one in self.mistakes]

        def tried(changed: Any, number: int) -> Outcome:
            arguments = self.inputs()[number].arguments
            return quick_call(changed, arguments, run=self.run)

        trial = repairing.Trial(tried, rights, outcomes, known, alike)
        found: repairing.Repair | None = guarded(
            lambda: repairing.repair(attempt, trial), repairing.SECONDS
        )
        return found

    def _recognised(self, outcomes: list[Outcome]) -> Mistake | None:
        if all(outcome.error is not None for outcome in outcomes):
            return None  # any code that fails everywhere would look alike
        for mistake in self.mistakes:
            matches = (
                alike(self.outcome(mistake.function, number), outcome)
                for number, outcome in enumerate(outcomes)
            )
            if all(matches):
                return mistake
        return None

    def _kept(
        self, attempt: Any, outcomes: list[Outcome], number: int, seconds: float
    ) -> list[str]:
        """Whether a call leaves behind what changes a later call's result."""
        arguments = self.inputs()[number].arguments
        again = call(attempt, arguments, run=self.run, seconds=seconds)
        if again.hung or alike(outcomes[number], again):
            return []
        return ["A second call with the same input gives something else."]

    def _combined(
        self, outcomes: list[Outcome], rights: Sequence[Outcome]
    ) -> Mistake | None:
        """A known mistake and one thing besides that explain all results together."""
        numbers = range(len(outcomes))
        for mistake in self.mistakes:
            mistaken = [self.outcome(mistake.function, number) for number in numbers]
            besides = self._besides(outcomes, mistaken, rights)
            if besides is not None:
                why = f"{mistake.why} Yours are the results of that mistake, {besides}."
                return dataclasses.replace(mistake, why=why)
        return self._of_mistake_and_arguments(outcomes, rights)

    def _besides(
        self,
        outcomes: list[Outcome],
        others: Sequence[Outcome],
        rights: Sequence[Outcome],
    ) -> str | None:
        """One thing that makes these outcomes of the others, in words."""
        names = list(self.returns)
        return combining.besides(self.inputs(), outcomes, others, rights, names)

    def _of_mistake_and_arguments(
        self, outcomes: list[Outcome], rights: Sequence[Outcome]
    ) -> Mistake | None:
        """A known mistake made with changed arguments."""
        wrong = [
            number
            for number, outcome in enumerate(outcomes)
            if not alike(rights[number], outcome)
        ]
        for mistake in self.mistakes:
            for change in combining.scales(self.inputs()):
                if self._explained(
                    mistake.function, change, outcomes
                ) and self._each_counts(mistake, change, rights, wrong):
                    why = f"{mistake.why} Another thing besides: {change.words}"
                    return dataclasses.replace(mistake, why=why)
        return None

    def _of_arguments(self, outcomes: list[Outcome]) -> list[str]:
        """What may have happened to an argument, where that explains all results."""
        for change in combining.of_arguments(self.inputs()):
            if self._explained(self.reference, change, outcomes):
                return [change.words]
        return []

    def _explained(
        self,
        function: Callable[..., Any],
        change: combining.Change,
        outcomes: list[Outcome],
    ) -> bool:
        """Whether a function of changed arguments gives all these results."""
        if any(outcome.error is not None for outcome in outcomes):
            return False
        # The larger inputs tell more: what doesn't fit is found out soonest.
        return all(
            alike(self._changed(function, change, number), outcome)
            for number, outcome in reversed([*enumerate(outcomes)])
        )

    def _changed(
        self, function: Callable[..., Any], change: combining.Change, number: int
    ) -> Outcome:
        """What a function does on changed arguments."""
        case = self.inputs()[number]
        return call(function, change.function(case, case.arguments), run=self.run)

    def _each_counts(
        self,
        mistake: Mistake,
        change: combining.Change,
        rights: Sequence[Outcome],
        wrong: Sequence[int],
    ) -> bool:
        """Whether a mistake and a change are two things, of which none undoes any."""
        numbers = range(len(rights))
        by_mistake = {
            number
            for number in numbers
            if not alike(rights[number], self.outcome(mistake.function, number))
        }
        by_change = {
            number
            for number in numbers
            if not alike(rights[number], self._changed(self.reference, change, number))
        }
        return len(by_change) > 1 and by_mistake | by_change <= {*wrong}


def _defaults() -> tuple[torch.dtype, torch.device]:
    """What a reader may set for all new tensors, a check's inputs among them."""
    return torch.get_default_dtype(), torch.get_default_device()


def _failure(
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
    if isinstance(value, torch.Tensor):
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
