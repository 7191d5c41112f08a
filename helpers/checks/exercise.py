"""An exercise: call it with a solution, and it finds the mistake."""

import dataclasses
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from helpers import validation
from helpers.checks import verdict
from helpers.checks.calling import SECONDS, Outcome, call, plain_call, settled
from helpers.checks.cases import Case, Mistake
from helpers.checks.comparing import failure_of
from helpers.checks.diagnosis import Diagnosis
from helpers.checks.stubs import forgets_return, is_a_stub

DOCUMENTATION = """Check ``{stub}``.

Args:
{asks}

Returns:
    verdict: a Verdict.
"""


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
        constants: numbers of a right solution, such as an eps, which are tried in the
            reader's code in place of theirs.
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
    constants: tuple[float, ...] = ()
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

        In a notebook, the verdict on the book's own solution, which is called
        ``solved_…``, is folded: beside the reader's it would look like one on theirs.

        Args:
            attempt: the reader's function or class, not called.
            seconds: how much of the processor's time one call may take.

        Returns:
            verdict: a Verdict.

        Raises:
            ValueError: seconds that aren't a finite number above 0.
        """
        found = self.examine(attempt, seconds)
        solved = getattr(attempt, "__name__", "").lower().startswith("solved")
        if solved and verdict.in_notebook():
            found.show_folded()
        else:
            print(found.text)
        return found

    def examine(self, attempt: Any, seconds: float = SECONDS) -> verdict.Verdict:
        """Find the verdict without printing it; arguments as for the check itself."""
        validation.require_number("seconds", seconds)
        if attempt is None or attempt is ...:
            return verdict.not_attempted(self.name, self.name)
        if not callable(attempt):
            return verdict.no_function(self.name, self.stub, attempt)
        title = getattr(attempt, "__name__", self.name)
        try:
            with settled():
                return self._examined(title, attempt, seconds)
        except Exception as error:  # of the check's own making
            return verdict.not_judged(self.name, title, error)

    def _examined(self, title: str, attempt: Any, seconds: float) -> verdict.Verdict:
        outcomes: list[Outcome] = []
        for case in self.inputs():
            outcome = call(attempt, case.arguments, run=self.run, seconds=seconds)
            if outcome.hung:
                return verdict.not_finished(self.name, title, case, seconds)
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
            self._known[key] = call(function, arguments, run=self.run)
        known: Outcome = self._known[key]
        return known

    def _right(self, number: int) -> Outcome:
        """What must come out on one input.

        Raises:
            BaseException: the reference's own, which is no fault of the reader's; it is
                forgotten, so that the next call may succeed.
        """
        outcome = self.outcome(self.reference, number)
        if outcome.error is not None:
            del self._known[(self.reference, number, *_defaults())]
            raise outcome.error
        return outcome

    def _judge(
        self, title: str, attempt: Any, outcomes: list[Outcome], seconds: float
    ) -> verdict.Verdict:
        cases = self.inputs()
        rights = [self._right(number) for number in range(len(cases))]
        names = list(self.returns)
        failures = {
            number: failure
            for number, outcome in enumerate(outcomes)
            if (failure := failure_of(rights[number], outcome, names)) is not None
        }
        if not failures:
            return verdict.right(self.name, title, cases, outcomes)
        diagnosis = Diagnosis(self, attempt, outcomes, rights, failures)
        found = diagnosis.found(seconds)
        shown = [(cases[i], outcomes[i], one) for i, one in failures.items()]
        passed = len(cases) - len(failures)
        return verdict.wrong(self.name, title, self.returns, shown, passed, found)


def _defaults() -> tuple[torch.dtype, torch.device]:
    """What a reader may set for all new tensors, a check's inputs among them."""
    return torch.get_default_dtype(), torch.get_default_device()
