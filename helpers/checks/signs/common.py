"""The signs that all wrong results share, and the parts that they are of."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from helpers.checks.calling import Outcome
from helpers.checks.cases import Case
from helpers.checks.comparing import difference, name_parts
from helpers.checks.signs.inputs import where
from helpers.checks.signs.numbers import number_facts, plain, sequence_facts
from helpers.checks.signs.tensors import tensor_facts

MOST_TOLD = 3
# What one wrong result may show by chance, so that two are asked for.
COINCIDENCE = re.compile(
    r"^Right: | sum to 1, |have the same sum|was cut to a whole one|is too \w+ by "
)
COUNTED = re.compile(r"^The number is too \w+ by ")
# What is told, and what adds nothing to it.
IMPLIED = (
    (re.compile(r" sum to 1, where "), re.compile(r"Rows (don't )?sum |the same sum")),
    (
        re.compile(r"are right, but (two axes|there is an axis) "),
        re.compile(r"there is an axis |in another (order|shape)\.$"),
    ),
)


@dataclass(frozen=True)
class Sight:
    """An input with a wrong result: the case, one part of the result, the right one."""

    case: Case
    yours: Any
    right: Any


def signs(
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    rights: Sequence[Outcome],
    names: Sequence[str],
) -> list[str]:
    """Find what all the wrong results have in common.

    Args:
        cases: the inputs.
        outcomes: what the reader's function did on each.
        rights: what the reference did.
        names: of the parts of a result, in order.

    Returns:
        sentences: at most ``MOST_TOLD``, the most telling first; none where nothing is
            common to all wrong results.
    """
    failing: list[tuple[Case, Outcome, Outcome]] = []
    passing: list[tuple[Case, Outcome, Outcome]] = []
    for case, outcome, right in zip(cases, outcomes, rights, strict=True):
        wrong = outcome.error is not None or difference(right.value, outcome.value)
        (failing if wrong else passing).append((case, outcome, right))
    told: dict[str, None] = {}
    if len(failing) > 1 and _remembers(failing, cases, rights):
        told["It is the result for an earlier input: something is kept."] = None
    values = [
        (case, outcome.value, right.value)
        for case, outcome, right in failing
        if outcome.error is None
    ]
    if values:
        facts = _of_parts(values, names, raised=failing[0][1].error is not None)
        told |= dict.fromkeys(
            fact for fact in facts if len(values) > 1 or not COINCIDENCE.search(fact)
        )
        counted = [fact for fact in told if COUNTED.search(fact)]
        if len(counted) > 1:  # the failing inputs are too much alike to tell
            told = {fact: None for fact in told if fact not in counted}
        for telling, implied in IMPLIED:
            first = next(filter(telling.search, told), None)
            if first is not None:
                others = [fact for fact in told if not implied.search(fact)]
                told = {fact: None for fact in told if fact in (first, *others)}
    place = where([case for case, *_ in failing], [case for case, *_ in passing])
    if place is not None:
        told[place] = None
    return list(told)[:MOST_TOLD]


def _remembers(
    failing: Sequence[tuple[Case, Outcome, Outcome]],
    cases: Sequence[Case],
    rights: Sequence[Outcome],
) -> bool:
    """Whether each wrong result is the right one of an input that came before."""

    def earlier(case: Case, outcome: Outcome) -> bool:
        if outcome.error is not None:
            return False
        before = itertools.takewhile(
            lambda pair: pair[0] is not case, zip(cases, rights, strict=True)
        )
        return any(difference(one.value, outcome.value) is None for _, one in before)

    return all(earlier(case, outcome) for case, outcome, _ in failing) and any(
        _telling(outcome.value) or _shape(outcome.value) != _shape(right.value)
        for _, outcome, right in failing
    )


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.shape) if isinstance(value, Tensor) else ()


def _telling(value: Any) -> bool:
    """Whether a value is unlikely to come twice by chance."""
    if isinstance(value, Tensor):
        return value.dtype != torch.bool and len(value.detach().unique()) > 2
    if isinstance(value, (list, tuple)):
        return any(map(_telling, value)) or (plain(value) and len(value) > 2)
    if isinstance(value, (int, float)):
        return value not in (0, 1)
    return isinstance(value, str) and len(value) > 2


def _of_parts(
    values: Sequence[tuple[Case, Any, Any]], names: Sequence[str], raised: bool
) -> Iterator[str]:
    """Facts about a result of one or several parts; none of words after an error."""
    if len(names) > 1 and all(_exchanged(yours, right) for _, yours, right in values):
        yield f"The results came in another order than {', '.join(names)}."
        return
    named = [
        (case, name_parts(yours, names), name_parts(right, names))
        for case, yours, right in values
    ]
    if not all(isinstance(right, dict) for *_, right in named):
        yield from _common(Sight(*one) for one in values)
        return
    if not all(isinstance(yours, dict) for _, yours, _ in named):
        return
    # From the last to the first; some inputs ask for other parts than others.
    parts = [part for part in named[0][2] if all(part in right for *_, right in named)]
    wrong = [
        part
        for part in parts
        if any(difference(right[part], yours.get(part)) for _, yours, right in named)
    ]
    good = [part for part in parts if part not in wrong]
    properties = any(isinstance(right, dict) for *_, right in values)
    if properties and raised:
        return  # what went wrong first is the error
    if properties and len(wrong) > 1:  # what must hold of a result, and not the result
        yield f"Wrong: {'; '.join(wrong)}."
    if not properties and good and wrong and not _any_would_do(named, good):
        yield f"Right: {', '.join(good)}. Wrong: {', '.join(wrong)}."
    if properties:
        wrong = [part for part in wrong if isinstance(named[0][2][part], Tensor)]
    for part in wrong[:1]:
        sights = [
            Sight(case, yours.get(part), right[part])
            for case, yours, right in named
            if difference(right[part], yours.get(part)) is not None
        ]
        yield from (f"{part}: {fact}" for fact in _common(sights))


def _any_would_do(named: Sequence[tuple[Case, Any, Any]], good: Sequence[str]) -> bool:
    """Whether right parts may be right by chance, on all inputs with a wrong result.

    An average of equal values, or of one, is right with any weights.
    """
    return all(
        isinstance(right[part], Tensor)
        and right[part].dim() > 1
        and any(
            isinstance(values, Tensor)
            and values.dim() > 1
            and bool((values == values[..., :1, :]).all())
            for values in case.arguments.values()
        )
        for case, _, right in named
        for part in good
    )


def _exchanged(yours: Any, right: Any) -> bool:
    """Whether the parts are right, but in another order."""
    if not isinstance(yours, (list, tuple)) or len(yours) != len(right):
        return False
    return any(
        all(difference(a, b) is None for a, b in zip(right, order, strict=True))
        for order in itertools.permutations(yours)
    )


def _common(sights: Iterable[Sight]) -> list[str]:
    """The facts that hold in every sight, in the order in which they are looked for."""
    every = [list(dict.fromkeys(_facts(sight))) for sight in sights]
    return [fact for fact in every[0] if all(fact in other for other in every)]


def _facts(sight: Sight) -> Iterator[str]:
    yours, right = sight.yours, sight.right
    if isinstance(right, Tensor):
        strided = isinstance(yours, Tensor) and yours.layout == torch.strided
        if strided and yours.device.type != "meta":
            yield from tensor_facts(sight.case, yours.detach(), right.detach())
    elif isinstance(right, bool):
        return
    elif isinstance(right, (int, float)):
        if isinstance(yours, (int, float)) and not isinstance(yours, bool):
            try:
                yours = float(yours)
            except OverflowError:  # a whole number beyond all floats
                return
            yield from number_facts(sight.case, yours, float(right))
    elif plain(right) and plain(yours):
        yield from sequence_facts(yours, right)
    elif isinstance(right, (list, tuple)) and isinstance(yours, (list, tuple)):
        yield from _list_facts(sight, yours, right)


def _list_facts(
    sight: Sight, yours: Sequence[Any], right: Sequence[Any]
) -> Iterator[str]:
    """Facts that hold of every tensor of a list that is wrong."""
    if len(yours) != len(right):
        yield f"There are too {'few' if len(yours) < len(right) else 'many'} items."
        return
    pairs = zip(yours, right, strict=True)
    wrong = [
        Sight(sight.case, one, other)
        for one, other in pairs
        if difference(other, one) is not None
    ]
    yield from _common(wrong) if wrong else ()
