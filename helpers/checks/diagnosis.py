"""What is wrong with a solution: a known mistake, a change that mends it, or signs."""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from helpers.checks import repairing, signs
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
        cases, names = self.exercise.inputs(), list(self.exercise.returns)
        common = signs.signs(cases, self.outcomes, self.rights, names)
        return tuple((kept + common)[: signs.MOST_TOLD])

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

        trial = repairing.Trial(
            *(tried, self.rights, self.outcomes, alike, steps),
            constants=exercise.constants,
        )
        with sheltered():
            return repairing.repair(self.attempt, trial)

    def _told(self, first: str, *others: str) -> tuple[str, ...]:
        """What a verdict says of a change, or of two."""
        if others:
            return (f"Two changes make every result right: {first}; {others[0]}.",)
        return (f"Every result would be right {first}.",)
