"""What is wrong with a solution: a known mistake, a change that mends it, or signs."""

import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from helpers.checks import combining, repairing, signs
from helpers.checks.calling import SECONDS, Outcome, call, quick_call, sheltered
from helpers.checks.cases import Mistake
from helpers.checks.comparing import Difference, alike

if TYPE_CHECKING:
    from helpers.checks.exercise import Exercise


@dataclass(frozen=True)
class Diagnosis:
    """A wrong solution, and what is known of it.

    Args:
        exercise: the Exercise.
        attempt: the reader's function or class.
        outcomes: what it did on each input.
        rights: what the reference did.
        failures: for the number of each input that fails, a Difference or the error.
    """

    exercise: "Exercise"
    attempt: Any
    outcomes: Sequence[Outcome]
    rights: Sequence[Outcome]
    failures: dict[int, Difference | BaseException]

    def found(self, seconds: float) -> Mistake | tuple[str, ...]:
        """The mistake, or sentences that are true of the code or its results.

        Args:
            seconds: how long a further call may take.
        """
        known = self._recognised()
        if known is not None:
            return known
        kept = self._kept(seconds)
        changes = () if kept else self._repair()
        if changes:
            return self._told(*changes)
        alone = self._of_arguments()
        known = None if alone or self._besides(self.rights) else self._combined()
        if known is not None:
            return known
        cases, names = self.exercise.inputs(), list(self.exercise.returns)
        common = signs.signs(cases, self.outcomes, self.rights, names)
        return tuple((kept + alone + common)[: signs.MOST_TOLD])

    def _recognised(self) -> Mistake | None:
        if all(outcome.error is not None for outcome in self.outcomes):
            return None  # any code that fails everywhere would look alike
        return next(
            (one for one in self.exercise.mistakes if self._is(self._of(one))), None
        )

    def _of(self, mistake: Mistake) -> Iterable[Outcome]:
        """What a known mistake does on each input."""
        return (
            self.exercise.outcome(mistake.function, number)
            for number in range(len(self.outcomes))
        )

    def _is(self, others: Iterable[Outcome]) -> bool:
        """Whether these are the reader's outcomes."""
        return all(map(alike, others, self.outcomes))

    def _kept(self, seconds: float) -> list[str]:
        """Whether a call leaves behind what changes a later call's result."""
        first = min(self.failures)
        # Two results of an odd kind or place can't be compared with each other.
        if getattr(self.failures[first], "kind", "values") != "values":
            return []
        arguments = self.exercise.inputs()[first].arguments
        again = call(self.attempt, arguments, run=self.exercise.run, seconds=seconds)
        if again.hung or alike(self.outcomes[first], again):
            return []
        return ["A second call with the same input gives something else."]

    # --- the code ---------------------------------------------------------------------

    def _repair(self) -> tuple[str, ...]:
        """What the reader's code would have to say for all results to be right."""
        exercise = self.exercise

        def tried(changed: Any, number: int) -> Outcome:
            arguments, seconds = exercise.inputs()[number].arguments, repairing.SECONDS
            return quick_call(changed, arguments, run=exercise.run, seconds=seconds)

        def counted(attempt: Any, *values: Any) -> int:
            work = functools.partial(exercise.run, attempt, *values)
            return repairing.steps(work, repairing.MOST_STEPS)

        def steps(number: int) -> int:
            arguments = exercise.inputs()[number].arguments
            done = quick_call(self.attempt, arguments, run=counted, seconds=SECONDS)
            return repairing.MOST_STEPS if done.hung else int(done.value)

        trial = repairing.Trial(tried, self.rights, self.outcomes, alike, steps)
        with sheltered():
            return repairing.repair(self.attempt, trial)

    def _told(self, first: str, *others: str) -> tuple[str, ...]:
        """What a verdict says of a change, or of two."""
        if others:
            return (f"Two changes make every result right: {first}; {others[0]}.",)
        return (f"Every result would be right {first}.",)

    # --- the results ------------------------------------------------------------------

    def _combined(self) -> Mistake | None:
        """A known mistake and one thing besides that explain all results together."""
        for mistake in self.exercise.mistakes:
            besides = self._besides([*self._of(mistake)])
            if besides is not None:
                return _with(mistake, f"Yours are the results of that, {besides}.")
        return self._of_mistake_and_arguments()

    def _besides(self, others: Sequence[Outcome]) -> str | None:
        """One thing that makes the reader's outcomes of these, in words."""
        cases, names = self.exercise.inputs(), list(self.exercise.returns)
        return combining.besides(cases, self.outcomes, others, self.rights, names)

    def _of_mistake_and_arguments(self) -> Mistake | None:
        """A known mistake made with changed arguments."""
        for mistake in self.exercise.mistakes:
            for change in combining.scales(self.exercise.inputs()):
                if self._explained(mistake.function, change) and self._each_counts(
                    mistake, change
                ):
                    return _with(mistake, f"That isn't all. {change.words}")
        return None

    def _of_arguments(self) -> list[str]:
        """What may have happened to an argument, where that explains all results."""
        for change in combining.of_arguments(self.exercise.inputs()):
            if self._explained(self.exercise.reference, change):
                return [change.words]
        return []

    def _explained(
        self, function: Callable[..., Any], change: combining.Change
    ) -> bool:
        """Whether a function of changed arguments gives all these results."""
        if any(outcome.error is not None for outcome in self.outcomes):
            return False
        # The larger inputs tell more: what doesn't fit is found out soonest.
        return all(
            alike(self._changed(function, change, number), outcome)
            for number, outcome in reversed([*enumerate(self.outcomes)])
        )

    def _changed(
        self, function: Callable[..., Any], change: combining.Change, number: int
    ) -> Outcome:
        """What a function does on changed arguments."""
        case = self.exercise.inputs()[number]
        changed = change.function(case, case.arguments)
        return call(function, changed, run=self.exercise.run)

    def _each_counts(self, mistake: Mistake, change: combining.Change) -> bool:
        """Whether a mistake and a change are two things, of which none undoes any."""
        by_mistake = {
            number
            for number, outcome in enumerate(self._of(mistake))
            if not alike(self.rights[number], outcome)
        }
        by_change = {
            number
            for number, right in enumerate(self.rights)
            if not alike(right, self._changed(self.exercise.reference, change, number))
        }
        return len(by_change) > 1 and by_mistake | by_change <= {*self.failures}


def _with(mistake: Mistake, sentence: str) -> Mistake:
    """A mistake that isn't the only one: what it says is right may not be."""
    told = re.split(r"(?<=[.!?:]) ", mistake.why)
    kept = [one for one in told if not re.search(r"\b(is|are) right\b", one)]
    return dataclasses.replace(mistake, why=" ".join([*kept, sentence]))
