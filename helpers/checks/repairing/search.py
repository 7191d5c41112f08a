"""The change to a reader's code that makes its results right, found by trying.

A small change of the code is made, and the code is called again: where every result is
right then, that change says what the mistake was. Nothing is guessed.

Source: Singh, Gulwani and Solar-Lezama 2013, who turn the smallest correction of a
student's program into feedback.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from helpers.checks.calling import Outcome
from helpers.checks.repairing import source
from helpers.checks.repairing.edit import Edit
from helpers.checks.repairing.edits import added_edits, name_edits, plain_edits

SECONDS = 10.0  # for all of a search, by the clock, before it is stopped
FOR_ONE = 0.9  # of the processor; two changes at once have as many again
MOST_PROMISING = 8
LESS = 0.95  # of the first result's badness: a change that leaves less helps


@dataclass(frozen=True)
class Trial:
    """How to try a solution, and what is known of the right ones.

    Args:
        call: ``call(solution, number)`` returns its Outcome on an input.
        rights: what the reference does on each input.
        outcomes: what the reader's solution did.
        known: ``known(number)`` returns what each known mistake does on an input.
        alike: ``alike(expected, outcome)``, whether two outcomes are the same.
    """

    call: Callable[[Any, int], Outcome]
    rights: Sequence[Outcome]
    outcomes: Sequence[Outcome]
    known: Callable[[int], Sequence[Outcome]]
    alike: Callable[[Outcome, Outcome], bool]


@dataclass(frozen=True)
class Repair:
    """What a solution would have to say.

    Args:
        changes: words for each.
        mistake: the number of the known mistake that is left, or None where all is
            right then.
    """

    changes: tuple[str, ...]
    mistake: int | None = None


def repair(attempt: Any, trial: Trial) -> Repair | None:
    """Find one change of a solution's code, or two, that make all its results right.

    Args:
        attempt: the reader's function or class.
        trial: how to try another.

    Returns:
        found: a Repair: one change; one that leaves a known mistake; or two. None where
            there is none of these.
    """
    code = source.read(attempt)
    if code is None:
        return None
    return _Search(code, trial).run()


class _Search:
    def __init__(self, code: source.Source, trial: Trial) -> None:
        self._code, self._trial = code, trial
        numbers = range(len(trial.rights))
        wrong = [one for one in reversed(numbers) if not self._right(one)]
        # The first is the input that most changes are tried on, and no other.
        self._order = [*wrong, *(one for one in numbers if one not in wrong)]
        self._wrong = wrong
        first = self._order[0]
        self._badness = badness(trial.rights[first], trial.outcomes[first])
        self._promising: list[tuple[float, int, Edit]] = []
        self._left: Repair | None = None
        # Two tensors are alike by no chance; two texts or truth values may be.
        self._many = _has_numbers(trial.rights[first].value)
        # A count can be mended at many places; only one place tells the mistake.
        self._counts = all(_is_count(one.value) for one in trial.rights)

    def _right(self, number: int) -> bool:
        return self._trial.alike(
            self._trial.rights[number], self._trial.outcomes[number]
        )

    def run(self) -> Repair | None:
        definition = self._code.definition
        if self._counts:
            return self._only(plain_edits(definition))
        ways = itertools.chain(plain_edits(definition), name_edits(definition))
        for way, promising in ((ways, True), (added_edits(definition), False)):
            for edit in _for_seconds(way, FOR_ONE / 2):
                if self._repairs(edit, promising=promising):
                    return Repair((edit.words(),))
        return self._twice() or self._left

    def _only(self, ways: Iterable[Edit]) -> Repair | None:
        """A change of a count, where there is no other line that mends it as well."""
        found = [edit for edit in _for_seconds(ways) if self._repairs(edit)]
        if len({edit.line for edit in found}) != 1:
            return None
        return Repair((found[0].words(),))

    def _twice(self) -> Repair | None:
        """A second change, on top of those that made the first result less wrong."""
        best = sorted(self._promising, key=lambda one: one[:2])[:MOST_PROMISING]
        for *_, first in best:
            words = first.words()
            with first.made():
                for second in _for_seconds(self._second(first), FOR_ONE / len(best)):
                    if self._repairs(second):
                        return Repair((words, second.words()))
        return None

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
            right = self._trial.rights[number]
            if self._trial.alike(right, outcome):
                continue
            if promising and number == self._order[0]:
                left = badness(right, outcome)
                if left < LESS * self._badness:
                    self._promising.append((left, len(self._promising), edit))
                    # Most changes can lead to mistakes that nobody has made.
                    if self._many and edit.certain:
                        self._find_mistake(edit, changed, outcome)
            return False
        return True

    def _find_mistake(self, edit: Edit, changed: Any, outcome: Outcome) -> None:
        """Note a known mistake that is all that is left after a change."""
        if self._left is not None:
            return
        first, *others = self._order
        left = [
            mistake
            for mistake, known in enumerate(self._trial.known(first))
            if self._trial.alike(known, outcome)
        ]
        for number in others if left else ():
            outcome = self._trial.call(changed, number)
            known = self._trial.known(number)
            left = [one for one in left if self._trial.alike(known[one], outcome)]
            right = self._trial.alike(self._trial.rights[number], outcome)
            if number not in self._wrong and not right:
                return  # that mistake isn't in what the reader wrote
        if left:
            self._left = Repair((edit.words(),), left[0])


def _for_seconds(items: Iterable[Any], seconds: float = FOR_ONE) -> Iterator[Any]:
    """The first of the items, as many as there is time for."""
    until = time.process_time() + seconds
    for item in items:
        yield item
        if time.process_time() > until:
            return


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _has_numbers(value: Any) -> bool:
    if isinstance(value, (dict, list, tuple)):
        return any(
            map(_has_numbers, value.values() if isinstance(value, dict) else value)
        )
    return isinstance(value, Tensor) and value.is_floating_point() and value.numel() > 2


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
        if yours.device.type == "meta" or right.is_complex() or yours.is_complex():
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
