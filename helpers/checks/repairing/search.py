"""The change to a reader's code that makes its results right, found by trying.

A small change of the code is made, and the code is called again: where every result is
right then, that change says what the mistake was. Nothing is guessed.

Source: Singh, Gulwani and Solar-Lezama 2013, who turn the smallest correction of a
student's program into feedback.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from helpers.checks.calling import Outcome
from helpers.checks.repairing import source
from helpers.checks.repairing.edit import Edit
from helpers.checks.repairing.edits import added_edits, name_edits, plain_edits

# How long is searched is counted in steps, not in seconds: a slow machine searches as
# far as a fast one, which takes about a second for them.
STEPS = 4_000_000  # for each of the two ways, and for two changes at once
FOR_EACH = 5_000  # to make a change, beside the steps of the call
FEWEST = 20  # changes that are tried, however long a call takes
MOST_STEPS = STEPS // FEWEST  # of a call, beyond which nothing is counted
SECONDS = 2.0  # of the processor, for a changed call: one that takes so long never ends
MOST_ENDLESS = 2  # of those, before a search is given up
MOST_PROMISING = 8
LESS = 0.95  # of the first result's badness: a change that leaves less helps


@dataclass(frozen=True)
class Trial:
    """How to try a solution, and what is known of the right ones.

    Args:
        call: ``call(solution, number)`` returns its Outcome on an input.
        rights: what the reference does on each input.
        outcomes: what the reader's solution did.
        alike: ``alike(expected, outcome)``, whether two outcomes are the same.
        steps: ``steps(number)``, how much work the reader's solution is on an input.
        constants: numbers that a right solution may have.
    """

    call: Callable[[Any, int], Outcome]
    rights: Sequence[Outcome]
    outcomes: Sequence[Outcome]
    alike: Callable[[Outcome, Outcome], bool]
    steps: Callable[[int], int]
    constants: tuple[float, ...] = ()


def repair(attempt: Any, trial: Trial) -> tuple[str, ...]:
    """Find one change of a solution's code, or two, that make all its results right.

    Args:
        attempt: the reader's function or class.
        trial: how to try another.

    Returns:
        changes: words for each; none where no change makes them right.
    """
    code = source.read(attempt)
    return () if code is None else _Search(code, trial).run()


class _Search:
    def __init__(self, code: source.Source, trial: Trial) -> None:
        self._code, self._trial = code, trial
        numbers = range(len(trial.rights))
        wrong = [one for one in reversed(numbers) if not self._right(one)]
        # The first is the input that most changes are tried on, and no other.
        self._order = [*wrong, *(one for one in numbers if one not in wrong)]
        first = self._order[0]
        self._badness = badness(trial.rights[first], trial.outcomes[first])
        self._promising: list[tuple[float, int, Edit]] = []
        # A count can be mended at many places; only one place tells the mistake.
        self._counts = all(_is_count(one.value) for one in trial.rights)
        self._tries = max(FEWEST, STEPS // (FOR_EACH + trial.steps(first)))
        self._endless = 0

    def _right(self, number: int) -> bool:
        return self._trial.alike(
            self._trial.rights[number], self._trial.outcomes[number]
        )

    def run(self) -> tuple[str, ...]:
        definition = self._code.definition
        plain = plain_edits(definition, self._trial.constants)
        ways = itertools.chain(plain, name_edits(definition))
        if self._counts:
            return self._only(ways)
        for way, promising in ((ways, True), (added_edits(definition), False)):
            for edit in self._first_of(way):
                if self._repairs(edit, promising=promising):
                    return (edit.words(),)
        return self._twice()

    def _first_of(self, ways: Iterable[Edit], parts: int = 1) -> Iterator[Edit]:
        """As many changes as are tried, or that many parts of them."""
        for edit in itertools.islice(ways, max(1, self._tries // parts)):
            if self._endless >= MOST_ENDLESS:
                return
            yield edit

    def _only(self, ways: Iterable[Edit]) -> tuple[str, ...]:
        """A change of a count, where there is no other line that mends it as well."""
        found = [edit for edit in self._first_of(ways) if self._repairs(edit)]
        return (found[0].words(),) if len({edit.line for edit in found}) == 1 else ()

    def _twice(self) -> tuple[str, ...]:
        """A second change, on top of those that made the first result less wrong."""
        best = sorted(self._promising, key=lambda one: one[:2])[:MOST_PROMISING]
        for *_, first in best:
            words = first.words()
            with first.made():
                for second in self._first_of(self._second(first), len(best)):
                    if self._repairs(second):
                        return words, second.words()
        return ()

    def _second(self, first: Edit) -> Iterator[Edit]:
        """Changes to make as well: in the same line none that may only undo harm."""
        definition = self._code.definition
        yield from plain_edits(definition)
        for edit in name_edits(definition):
            if edit.line != first.line:
                yield edit

    def _repairs(self, edit: Edit, *, promising: bool = False) -> bool:
        """Whether a change makes all results right; notes it where it helps."""
        with edit.made():
            changed = self._code.build()
        if changed is None:
            return False
        for number in self._order:
            outcome = self._trial.call(changed, number)
            self._endless += outcome.hung
            right = self._trial.rights[number]
            if self._trial.alike(right, outcome):
                continue
            if promising and number == self._order[0]:
                left = badness(right, outcome)
                if left < LESS * self._badness:
                    self._promising.append((left, len(self._promising), edit))
            return False
        return True


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def badness(right: Outcome, outcome: Outcome) -> float:
    """How far a result is off, from 0 to 1; 1 where it can't be compared."""
    if outcome.error is not None or right.error is not None:
        return 1.0
    return _off(right.value, outcome.value)


def _off(right: Any, yours: Any) -> float:
    if isinstance(right, dict) and isinstance(yours, dict):
        parts = [_off(one, yours.get(name)) for name, one in right.items()]
        return sum(parts) / len(parts) if parts else 1.0
    if isinstance(right, (list, tuple)) and isinstance(yours, (list, tuple)):
        if len(right) != len(yours):
            return 1.0
        parts = [_off(one, other) for one, other in zip(right, yours, strict=True)]
        return sum(parts) / len(parts) if parts else 1.0
    if isinstance(right, Tensor):
        if not isinstance(yours, Tensor) or yours.shape != right.shape:
            return 1.0
        if yours.layout != torch.strided or yours.device.type == "meta":
            return 1.0
        if right.is_complex() or yours.is_complex():
            return 1.0
        one, other = right.detach().double(), yours.detach().double()
        apart = (one - other).abs() / (one.abs() + 1e-3)
        apart = torch.where((one == other), 0.0, apart.nan_to_num(1.0).clamp(max=1.0))
        return float(apart.mean()) if apart.numel() else 0.0
    if isinstance(right, (int, float)) and isinstance(yours, (int, float)):
        if abs(yours) > 1e9 * (abs(right) + 1):
            return 1.0
        apart = abs(right - yours) / (abs(right) + 1e-3)
        return min(apart, 1.0) if apart == apart else 1.0
    return float(type(right) is not type(yours) or right != yours)
