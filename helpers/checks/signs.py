"""What a wrong result shows, where no known mistake fits: facts, and no guesses.

Each wrong result yields sentences that are true of it, such as "The columns sum to 1 in
place of the rows". Those that hold on every input with a wrong result are told.
"""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from helpers.checks.calling import Outcome
from helpers.checks.cases import Case
from helpers.checks.comparing import agree, difference, name_parts
from helpers.checks.sizes import AXES, sizes_of

MOST_TOLD = 3
LARGE = 50.0  # exp of a few of these leaves float32
FEW = 0.1  # zeros, as a share, that may be numbers like others
NEAR = 0.03  # how far a rounded or padded number may be off, as a share
MOST_TIMES = 20  # an argument that a count is off by
ENOUGH = 6  # inputs, for a feature that few of them may share by chance
# What one wrong result may show by chance, so that two are asked for.
COINCIDENCE = re.compile(
    r"^Right: | sum to 1, |have the same sum|was cut to a whole one|is too \w+ by "
)
COUNTED = re.compile(r"^The number is too \w+ by ")
BY_CHANCE = re.compile(r"numbers|length|square|axis of length 1|isn't 0 or 1|a 0|no 0")


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
    where = _where([case for case, *_ in failing], [case for case, *_ in passing])
    if where is not None:
        told[where] = None
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
        return any(map(_telling, value)) or (_plain(value) and len(value) > 2)
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
        yield f"Wrong: {', '.join(wrong)}."
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
            yield from _tensor_facts(sight, yours.detach(), right.detach())
    elif isinstance(right, bool):
        return
    elif isinstance(right, (int, float)):
        if isinstance(yours, (int, float)) and not isinstance(yours, bool):
            yield from _number_facts(sight, float(yours), float(right))
    elif _plain(right) and _plain(yours):
        yield from _sequence_facts(yours, right)
    elif isinstance(right, (list, tuple)) and isinstance(yours, (list, tuple)):
        yield from _list_facts(sight, yours, right)


def _plain(value: Any) -> bool:
    """Whether a value is a text, or a list of texts and numbers."""
    if isinstance(value, (list, tuple)):
        return all(isinstance(one, (str, int, float)) for one in value)
    return isinstance(value, str)


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


# --- numbers --------------------------------------------------------------------------


def _number_facts(sight: Sight, yours: float, right: float) -> Iterator[str]:
    if yours == right or not math.isfinite(right):
        return
    if math.isnan(yours):
        yield "NaN comes out, not a number."
    elif math.isinf(yours):
        yield "The number is infinite."
    elif yours == -right:
        yield "The number has the wrong sign."
    elif yours - right in (1, -1):
        yield f"The number is one too {'large' if yours > right else 'small'}."
    if not math.isfinite(yours) or yours == -right or abs(yours - right) == 1:
        return
    if float(yours).is_integer() and float(right).is_integer():
        yield from _counted(sight.case, yours - right)
    if 0 != yours == int(right) != right:
        yield "The number was cut to a whole one."
    elif yours == 0:
        yield "The number is 0."
    elif right != 0:
        yield from _factors(sight.case, yours / right)
        if abs(yours - right) <= NEAR * abs(right):
            yield "The number is off by little."


def _counted(case: Case, off: float) -> Iterator[str]:
    """Which whole number of times an argument, or its square, a count is off by."""
    way = "large" if off > 0 else "small"
    for name, value in case.arguments.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            continue
        for words, size in ((name, value), (f"{name}²", value * value)):
            times = abs(off) / size
            if times.is_integer() and times <= MOST_TIMES:
                several = f"{times:.0f} times " if times > 1 else ""
                yield f"The number is too {way} by {several}{words}."


def _factors(case: Case, factor: float) -> Iterator[str]:
    """What a result was multiplied or divided by."""
    for what, number in sizes_of(case):
        if number <= 0:
            continue
        for words, size in ((what, number), (f"the root of {what}", number**0.5)):
            if size == 1:
                continue
            for way, expected in (("large", size), ("small", 1 / size)):
                if math.isclose(factor, expected, rel_tol=1e-4):
                    yield f"Every number is too {way}, by a factor of {words}."
    if not 1e-6 < abs(factor) < 1e6 or abs(factor - 1) < 0.01:
        return
    way, times = ("large", factor) if abs(factor) > 1 else ("small", 1 / factor)
    yield f"Every number is too {way}, by a factor of {times:.3g}."


# --- texts and lists ------------------------------------------------------------------


def _sequence_facts(yours: Sequence[Any], right: Sequence[Any]) -> Iterator[str]:
    if type(yours) is not type(right) and {type(yours), type(right)} != {list, tuple}:
        return
    thing = "character" if isinstance(right, str) else "item"
    if yours == right[::-1]:
        yield "It comes in reverse order."
    elif len(yours) < len(right):
        missing = len(right) - len(yours)
        if yours == right[missing:]:
            yield (
                f"The first {thing} is missing."
                if missing == 1
                else (f"{thing.title()}s are missing at the beginning.")
            )
        if yours == right[: len(yours)]:
            yield (
                f"The last {thing} is missing."
                if missing == 1
                else (f"{thing.title()}s are missing at the end.")
            )
        yield f"There are too few {thing}s."
    elif len(yours) > len(right):
        if yours[: len(right)] == right:
            yield f"There are {thing}s too many at the end."
        if yours[-len(right) :] == right:
            yield f"There are {thing}s too many at the beginning."
        yield f"There are too many {thing}s."
    elif isinstance(right, str) and isinstance(yours, str):
        if yours == right.lower():
            yield "Every letter became a small one."
        if yours == right.upper():
            yield "Every letter became a capital."
    elif all(isinstance(one, int) for one in [*yours, *right]):
        apart = {one - other for one, other in zip(yours, right, strict=True)}
        if len(apart) == 1:
            (by,) = apart
            yield f"Every number is {abs(by)} too {'large' if by > 0 else 'small'}."
        if sorted(yours) == sorted(right):
            yield "The right numbers came in another order."


# --- tensors --------------------------------------------------------------------------


def _tensor_facts(sight: Sight, yours: Tensor, right: Tensor) -> Iterator[str]:
    for name, value in sight.case.arguments.items():
        if isinstance(value, Tensor) and _equal(yours, value):
            yield f"It is the argument {name}, unchanged."
    if yours.shape != right.shape:
        yield from _shape_facts(yours, right)
        return
    if right.dtype == torch.bool:
        if yours.dtype == torch.bool:
            yield from _mask_facts(yours, right)
        return
    if yours.is_complex():
        return
    yours, right = yours.cpu().double(), right.cpu().double()
    if not yours.isfinite().all() and right.isfinite().all():
        yield from _infinite_facts(yours, right)
        return
    yield from _same_numbers(yours, right)
    yield from _functions_of(sight.case, yours, right)
    rows = _in_rows(yours, right)
    if rows:
        yield from _other_sums(yours, right)
    yield from _zeros(yours, right)
    if rows:
        yield from _row_sums(yours)
    yield from _wrong_places(_wrong(yours, right))
    off = (yours - right).abs()
    if bool((off <= NEAR * right.abs() + 1e-3).all()):
        yield (
            "Every number is off by little: something small was added, or numbers were "
            "rounded on the way."
        )


def _shape_facts(yours: Tensor, right: Tensor) -> Iterator[str]:
    if yours.dim() == right.dim():
        for order in itertools.permutations(range(right.dim())):
            moved = yours.permute(order)
            if _equal(moved, right):
                moved_axes = [axis for axis, old in enumerate(order) if axis != old]
                if len(moved_axes) == 2:
                    yield from _exchange(moved_axes[0], moved_axes[1], right.dim())
                yield "The numbers are right, but their axes stand in another order."
    if yours.numel() == right.numel() and _equal(yours.reshape(right.shape), right):
        yield "The numbers are right, in another shape."
    if yours.numel() and right.numel():
        try:
            spread = torch.broadcast_to(yours, right.shape)
        except RuntimeError:
            return
        if _equal(spread, right):
            yield "The numbers are right, but were not repeated to the full shape."


def _mask_facts(yours: Tensor, right: Tensor) -> Iterator[str]:
    if torch.equal(yours, ~right):
        yield "True and False are exchanged everywhere."
    if yours.dim() > 1 and _equal(yours.transpose(-1, -2), right):
        yield "Rows and columns are exchanged."
    more, less = bool((yours & ~right).any()), bool((right & ~yours).any())
    if more and not less:
        yield "Some places are True that must be False, and none the other way round."
    if less and not more:
        yield "Some places are False that must be True, and none the other way round."
    yield from _wrong_places(yours != right)


def _infinite_facts(yours: Tensor, right: Tensor) -> Iterator[str]:
    what = "NaN" if bool(yours.isnan().any()) else "infinity"
    bad = ~yours.isfinite()
    if bool(bad.all()):
        yield f"Every number is {what}."
    elif not _wrong(yours.where(~bad, 0), right.where(~bad, 0)).any():
        yield f"Some numbers are {what}; all others are right."
    else:
        yield f"{what[0].upper()}{what[1:]} comes out where a number must."


def _same_numbers(yours: Tensor, right: Tensor) -> Iterator[str]:
    """The right numbers, at other places."""
    for one, other in itertools.combinations(range(right.dim()), 2):
        if right.shape[one] == right.shape[other] and _equal(
            yours.transpose(one, other), right
        ):
            yield from _exchange(one, other, right.dim())
        elif _equal(yours, right.transpose(one, other).reshape(right.shape)):
            yield (
                f"The numbers stand as if {_axis(one, right.dim())} and "
                f"{_axis(other, right.dim())} had been exchanged without moving the "
                "numbers: reshape and view leave them in their order."
            )
    for axis in range(right.dim()):
        if right.shape[axis] < 3:
            continue  # two places can agree by chance
        where = _axis(axis, right.dim())
        if _equal(yours.flip(axis), right):
            yield f"The numbers come in reverse order along {where}."
        for step in range(2, right.shape[axis]):
            if right.shape[axis] % step == 0:
                turns = right.unflatten(axis, (-1, step)).transpose(axis, axis + 1)
                if _equal(yours, turns.flatten(axis, axis + 1)):
                    yield (
                        f"The right numbers came, but along {where} every one of "
                        f"{step} in turn comes first."
                    )
        length = right.shape[axis] - 1
        for way, ours, theirs in (("late", 1, 0), ("early", 0, 1)):
            if _equal(
                yours.narrow(axis, ours, length), right.narrow(axis, theirs, length)
            ):
                yield f"Each number comes one place too {way} along {where}."
    flat, wanted = yours.flatten().sort().values, right.flatten().sort().values
    if right.numel() > 2 and _equal(flat, wanted):
        yield "The right numbers came out, at wrong places."


def _axis(axis: int, dim: int) -> str:
    return AXES.get(axis - dim, "the first axis")


def _exchange(one: int, other: int, dim: int) -> Iterator[str]:
    """What to say of two axes that stand at each other's place."""
    if {one, other} == {dim - 1, dim - 2}:
        yield "Rows and columns are exchanged."
    else:
        places = f"{_axis(one, dim)} and {_axis(other, dim)}"
        yield f"The numbers are right, but two axes are exchanged: {places}."


def _functions_of(case: Case, yours: Tensor, right: Tensor) -> Iterator[str]:
    """One function of every right number."""
    if not yours.any() and right.any():
        yield "Every number is 0."
        return
    if _equal(yours, -right):
        yield "Every number has the wrong sign."
        return
    there = right.abs() > 1e-6
    if bool(there.any()) and _equal(
        yours.where(there, 0), right * _ratio(yours, right)
    ):
        yield from _factors(case, _ratio(yours, right))
    offset = (yours - right).flatten()
    if right.numel() > 1 and bool((offset - offset[0]).abs().max() < 1e-5):
        yield "The same number is added to every right one."
    functions = {
        "the logarithm of": torch.log,
        "the exponential of": torch.exp,
        "the square of": torch.square,
        "the square root of": torch.sqrt,
        "1 minus": lambda x: 1 - x,
        "1 divided by": lambda x: 1 / x,
    }
    for words, function in functions.items():
        expected = function(right)
        if bool(expected.isfinite().all()) and _equal(yours, expected):
            yield f"Each number is {words} the right one."
    if right.dim() and right.shape[-1] > 1 and _equal(yours, right.softmax(-1)):
        yield "It is the softmax of the right numbers: softmax was taken twice."
    if (
        right.dim()
        and right.shape[-1] > 1
        and bool((yours - yours[..., :1]).abs().max() < 1e-6)
    ):
        yield "All numbers along the last axis are equal."


def _ratio(yours: Tensor, right: Tensor) -> float:
    """Yours over right, at the largest right number."""
    place = right.abs().flatten().argmax()
    return float(yours.flatten()[place] / right.flatten()[place])


def _in_rows(yours: Tensor, right: Tensor) -> bool:
    """Whether rows should sum to 1, and don't."""
    if not right.dim() or right.numel() < 2 or bool((right < 0).any()):
        return False
    return _ones(right.sum(-1)) and not _ones(yours.sum(-1))


def _other_sums(yours: Tensor, right: Tensor) -> Iterator[str]:
    """What sums to 1 in place of the rows."""
    others = [
        axis for axis in range(right.dim() - 1) if _ones(yours.sum(axis).flatten())
    ]
    for axis in others:
        what = "columns" if axis == right.dim() - 2 else "numbers along another axis"
        yield f"The {what} sum to 1, where the rows should."
    if _ones(yours.sum()) and bool((yours.sum(-1) > 1e-6).all()):
        yield "All numbers together sum to 1, where each row should."


def _row_sums(yours: Tensor) -> Iterator[str]:
    sums = yours.sum(-1)
    if bool((sums - sums.flatten()[0]).abs().max() < 1e-5):
        yield "All rows have the same sum, but it isn't 1."
    if bool((sums > 0.99999).all()):
        yield "Rows sum to more than 1."
    elif bool((sums < 1.00001).all()):
        yield "Rows sum to less than 1."
    else:
        yield "Rows don't sum to 1."


def _zeros(yours: Tensor, right: Tensor) -> Iterator[str]:
    """What must be 0, and isn't; what must not, and is."""
    hidden, shown = right == 0, right.abs() > 1e-4
    if hidden.sum() > max(1, FEW * right.numel()) and bool(shown.any()):
        left = yours[hidden].abs()
        if bool((left > 0).any()):
            if float(left.max()) < 0.01:
                yield "A little is left where 0 must stand."
            yield "There are numbers other than 0 where 0 must stand."
            if not _wrong(yours.where(shown, 0), right.where(shown, 0)).any():
                yield "All others are right."
    if bool(((yours == 0) & shown).any()):
        yield "There is a 0 where another number must stand."


def _wrong_places(wrong: Tensor) -> Iterator[str]:
    """In which rows, columns or batches the wrong numbers stand."""
    if wrong.dim() == 0 or bool(wrong.all()):
        return
    if wrong.dim() > 1 and wrong.shape[-1] == wrong.shape[-2] and wrong.shape[-1] > 1:
        diagonal = torch.eye(wrong.shape[-1], dtype=torch.bool)
        if not bool((wrong & ~diagonal).any()):
            yield "Only the diagonal is wrong."
        if not bool((wrong & diagonal).any()):
            yield "The diagonal is right."
        if not bool(wrong.triu(1).any()):
            yield "Nothing above the diagonal is wrong."
        if not bool(wrong.tril(-1).any()):
            yield "Nothing below the diagonal is wrong."
    for axis in range(wrong.dim()):
        length = wrong.shape[axis]
        if length < 2:
            continue
        others = [other for other in range(wrong.dim()) if other != axis]
        found = wrong.any(dim=others) if others else wrong
        places = found.nonzero().flatten().tolist()
        what = _place_word(axis, wrong.dim())
        if places == [0]:
            yield f"Only the first {what} is wrong."
        elif places == [length - 1]:
            yield f"Only the last {what} is wrong."
        elif places == list(range(1, length)):
            yield f"Only the first {what} is right."
        elif places == list(range(length - 1)):
            yield f"Only the last {what} is right."


def _place_word(axis: int, dim: int) -> str:
    if dim == 1:
        return "number"
    if axis == dim - 1:
        return "column"
    return "row" if axis == dim - 2 else "of the batch or of the heads"


def _ones(sums: Tensor) -> bool:
    return bool((sums - 1).abs().max() < 1e-4) if sums.numel() else False


def _wrong(yours: Tensor, right: Tensor) -> Tensor:
    return ~agree(yours, right)


def _equal(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape or one.is_complex() or other.is_complex():
        return False
    return not bool(_wrong(one.cpu().double(), other.cpu().double()).any())


# --- which inputs ---------------------------------------------------------------------


def _where(failing: Sequence[Case], passing: Sequence[Case]) -> str | None:
    """A sentence that holds of all inputs that fail and of none that pass."""
    if len(failing) < 2 or len(passing) < 2:
        return None
    common = dict.fromkeys(_features(failing[0]))
    for case in failing[1:]:
        common = {one: None for one in common if one in set(_features(case))}
    for case in passing:
        others = set(_features(case))
        common = {one: None for one in common if one not in others}
    built = [one for one in common if not BY_CHANCE.search(one)]
    if not built and (len(common) > 1 or len(failing) + len(passing) < ENOUGH):
        return None
    first = next(iter(built or common), None)
    return None if first is None else f"It goes wrong where {first}, and only there."


def _features(case: Case) -> Iterator[str]:
    """What is special about an input, in words that follow "where"."""
    tensors = {n: v for n, v in case.arguments.items() if isinstance(v, Tensor)}
    for name, value in tensors.items():
        yield f"{name} is empty" if not value.numel() else f"{name} isn't empty"
        if value.is_floating_point() and bool((value.detach().abs() > LARGE).any()):
            yield f"{name} has large numbers"
    sequences = {n: v for n, v in tensors.items() if not n.startswith("W_")}
    for (one, a), (other, b) in itertools.combinations(sequences.items(), 2):
        if a.dim() > 1 and b.dim() > 1:
            same = a.shape[-2] == b.shape[-2]
            yield f"{one} and {other} have {'the same' if same else 'another'} length"
    for name, value in tensors.items():
        if value.dim() > 2:
            few = "one item" if value.shape[0] == 1 else "more than one item"
            yield f"the first axis of {name} has {few}"
        if value.dim() > 3:
            few = "one item" if value.shape[1] == 1 else "more than one item"
            yield f"the second axis of {name} has {few}"
        if not value.is_floating_point() and value.dtype != torch.bool:
            yield f"{name} has a 0" if bool((value == 0).any()) else f"{name} has no 0"
        if value.dim() > 1:
            square = value.shape[-1] == value.shape[-2]
            yield f"{name} is {'square' if square else 'not square'}"
        if value.dtype == torch.bool and value.dim() and not value.any(-1).all():
            yield f"{name} has a row without a single True"
        if 1 in value.shape:
            yield f"{name} has an axis of length 1"
        if value.is_floating_point() and value.dim():
            ordered = value.detach().sort(-1).values
            if bool((ordered.diff(dim=-1) == 0).any()):
                yield f"{name} has equal numbers in a row"
    for name, value in case.arguments.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield f"{name} is {value:g}" if value in (0, 1) else f"{name} isn't 0 or 1"
        if isinstance(value, (str, list, tuple)):
            yield f"{name} is {'empty' if not value else 'not empty'}"
