"""Two things at once: known results that were changed, or made of changed arguments.

A change counts only where it gives the reader's numbers on every input, and where it
takes nothing back: the result is wrong wherever either thing alone would be.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from helpers.checks.calling import Outcome
from helpers.checks.cases import Case
from helpers.checks.comparing import difference
from helpers.checks.sizes import sizes_of

SCALED = {"queries", "W_query", "scores"}  # what a factor reaches the scores by
DOES_NOT_APPLY = (
    *(ArithmeticError, AttributeError, LookupError),
    *(RuntimeError, TypeError, ValueError),
)


@dataclass(frozen=True)
class Change:
    """What may have happened to a result or to an argument.

    Args:
        words: for a result, what follows "the results of that mistake"; for an
            argument, a sentence.
        function: ``function(case, value)`` returns the changed value, or None where it
            doesn't apply. For an argument, value is the dict of all arguments.
        turns: whether every sign is turned.
    """

    words: str
    function: Callable[[Case, Any], Any]
    turns: bool = False


def besides(
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    mistaken: Sequence[Outcome],
    rights: Sequence[Outcome],
    names: Sequence[str],
) -> str | None:
    """Find what turns a known mistake's results into these, where one thing does.

    Args:
        cases: the inputs.
        outcomes: what the reader's function did on each.
        mistaken: what the known mistake does.
        rights: what the reference does.
        names: of the parts of a result, in order.

    Returns:
        words: such as "with every sign turned", or None. A factor counts only where it
            is a size or an argument.
    """
    kept = []
    for one in zip(cases, outcomes, mistaken, rights, strict=True):
        _, outcome, known, _ = one
        if outcome.error is None and known.error is None:
            kept.append(one)
        elif type(outcome.error) is not type(known.error):
            return None
    for change in _changes([case for case, *_ in kept], names):
        if _explains(change, kept):
            return change.words
    return None


Row = tuple[Case, Outcome, Outcome, Outcome]


def _explains(change: Change, rows: Sequence[Row]) -> bool:
    """Whether a change makes all the results, changes two, and takes nothing back."""
    moved = 0
    for case, outcome, known, right in rows:
        made = _made(change, case, known.value)
        if made is None or difference(made, outcome.value) is not None:
            return False
        moved += difference(known.value, outcome.value) is not None
        if difference(right.value, outcome.value) is not None:
            if change.turns and not _opposite(outcome.value, right.value):
                return False
            continue
        alone = _made(change, case, right.value)
        if (
            difference(right.value, known.value) is not None
            or difference(right.value, alone) is not None
        ):
            return False
    return moved > 1


def _made(change: Change, case: Case, value: Any) -> Any:
    try:
        return change.function(case, value)
    except DOES_NOT_APPLY:
        return None


def _opposite(yours: Any, right: Any) -> bool:
    """Whether most numbers have another sign than those at their place.

    Where they have no place in common, no sign of theirs can be a right one.
    """
    yours, right = torch.as_tensor(yours), torch.as_tensor(right)
    if yours.shape != right.shape:
        return True
    product = yours * right
    return int((product < 0).sum()) >= int((product > 0).sum())


def _changes(cases: Sequence[Case], names: Sequence[str]) -> Iterator[Change]:
    """What may have happened to a result."""
    if len(names) > 1:
        listed = ", ".join(names)
        for order in itertools.permutations(range(len(names))):
            if order != tuple(range(len(names))):
                yield Change(f"in another order than {listed}", _ordered(order))
        return
    yield Change("with every sign turned", lambda _, value: -_numbers(value), True)
    yield Change(
        "with rows and columns exchanged",
        lambda _, value: value.transpose(-1, -2),
    )
    yield Change(
        "with True and False exchanged",
        lambda _, value: ~value if value.dtype == torch.bool else None,
    )
    yield Change("after one more softmax", lambda _, value: value.softmax(-1))
    for words, sizes in _common_sizes(cases):
        for way, power in (("multiplied", 1), ("divided", -1)):
            function = _scaled(sizes, power)
            yield Change(f"{way} by {words}", function)


def _numbers(value: Any) -> Any:
    """A value that may be multiplied: a tensor of numbers, or a number."""
    if isinstance(value, (bool, str, list, tuple, dict)):
        raise TypeError
    if isinstance(value, Tensor) and value.dtype == torch.bool:
        raise TypeError
    return value


def _ordered(order: Sequence[int]) -> Callable[[Case, Any], Any]:
    return lambda _, value: tuple(value[place] for place in order)


def _scaled(sizes: dict[str, float], power: int) -> Callable[[Case, Any], Any]:
    return lambda case, value: _numbers(value) * sizes[case.name] ** power


def _common_sizes(cases: Sequence[Case]) -> Iterator[tuple[str, dict[str, float]]]:
    """Sizes that all inputs have, and their roots: the words, the number in each."""
    found = [dict(sizes_of(case)) for case in cases]
    for words in found[0] if found else ():
        sizes = [one.get(words) for one in found]
        if any(size is None or size <= 0 for size in sizes):
            continue
        named = {case.name: one[words] for case, one in zip(cases, found, strict=True)}
        if set(named.values()) == {1}:
            continue
        yield words, named
        yield f"the root of {words}", {case: x**0.5 for case, x in named.items()}


# --- arguments ------------------------------------------------------------------------


def of_arguments(cases: Sequence[Case]) -> Iterator[Change]:
    """What may have happened to an argument before it was used."""
    tensors = [
        name
        for name, value in cases[0].arguments.items()
        if all(isinstance(case.arguments[name], Tensor) for case in cases)
        and isinstance(value, Tensor)
        and value.is_floating_point()
    ]
    for name in tensors:
        yield Change(
            f"The first of the batch of {name} stands for all: the others aren't used.",
            _with(name, _first_for_all),
        )
        for axis, words in ((0, "along the first axis"), (-1, "along the last axis")):
            flip = functools.partial(torch.flip, dims=[axis])
            sentence = f"It is what comes of {name} in reverse order {words}."
            yield Change(sentence, _with(name, flip))
        yield Change(
            f"It is what comes of {name} with rows and columns exchanged.",
            _with(name, _exchanged),
        )
    yield from scales(cases)
    for name in SCALED & {*tensors}:
        yield from _other_divisors(cases, name)


def _first_for_all(value: Tensor) -> Tensor | None:
    return value[:1].expand_as(value) if value.dim() > 2 else None


def _exchanged(value: Tensor) -> Tensor | None:
    return value.transpose(-1, -2) if value.dim() > 1 else None


def scales(cases: Sequence[Case]) -> Iterator[Change]:
    """Scores that are too large or too small by a size or its root."""
    for name in SCALED & cases[0].arguments.keys():
        for words, sizes in _roots(cases).items():
            whole = words.removeprefix("the root of ")
            for size, root in ((words, 1), (whole, 2)):
                for way, sign in (("large", 1), ("small", -1)):
                    factors = {case: x ** (sign * root) for case, x in sizes.items()}
                    sentence = f"The scores are too {way}, by a factor of {size}."
                    yield Change(sentence, _with_factor(name, factors))


def _other_divisors(cases: Sequence[Case], name: str) -> Iterator[Change]:
    """An argument times what a wrong divisor or a wrong base of powers makes of it."""
    roots = _roots(cases)
    for words, sizes in roots.items():
        whole = {case: x / math.isqrt(round(x * x)) for case, x in sizes.items()}
        yield Change(
            f"The scores are divided by {words} without its decimals.",
            _with_factor(name, whole),
        )
    for (words, sizes), (others, over) in itertools.permutations(roots.items(), 2):
        ratio = {case: sizes[case] / over[case] for case in sizes}
        yield Change(
            f"The scores are those that a division by {others} gives in place of one "
            f"by {words}.",
            _with_factor(name, ratio),
        )
    yield Change(
        "The scores are too small, by a factor of ln 2: softmax is taken with powers "
        "of 2, not of e.",
        _with_factor(name, {case.name: math.log(2) for case in cases}),
    )


def _roots(cases: Sequence[Case]) -> dict[str, dict[str, float]]:
    """Roots of whole sizes, each once: the words, the number in each input."""
    roots: dict[str, dict[str, float]] = {}
    for words, sizes in _common_sizes(cases):
        whole = all(math.isclose(x * x, round(x * x)) for x in sizes.values())
        new = all(sizes != other for other in roots.values())
        if (
            words.startswith("the root of ")
            and whole
            and new
            and "how many" not in words
        ):
            roots[words] = sizes
    return roots


def _with(
    name: str, function: Callable[[Tensor], Tensor | None]
) -> Callable[[Case, Any], Any]:
    def changed(_: Case, arguments: dict[str, Any]) -> dict[str, Any] | None:
        value = function(arguments[name])
        if value is None or value.shape != arguments[name].shape:
            return arguments
        return {**arguments, name: value}

    return changed


def _with_factor(name: str, factors: dict[str, float]) -> Callable[[Case, Any], Any]:
    def changed(case: Case, arguments: dict[str, Any]) -> dict[str, Any]:
        return {**arguments, name: arguments[name] * factors[case.name]}

    return changed
