"""What a wrong tensor shows: a shape, a mask, numbers at other places, sums."""

import itertools
from collections.abc import Iterator

import torch
from torch import Tensor

from helpers.checks.cases import Case
from helpers.checks.comparing import agree
from helpers.checks.signs.numbers import NEAR, factors
from helpers.checks.sizes import AXES

FEW = 0.1  # zeros, as a share, that may be numbers like others


def tensor_facts(case: Case, yours: Tensor, right: Tensor) -> Iterator[str]:
    """What is true of a wrong tensor, such as that its columns sum to 1."""
    for name, value in case.arguments.items():
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
    if torch.equal(yours, right):
        return  # of another type, and nothing else
    if not yours.isfinite().all() and right.isfinite().all():
        yield from _infinite_facts(yours, right)
        return
    yield from _same_numbers(yours, right)
    yield from _functions_of(case, yours, right)
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
    for axis in range(yours.dim() - 1):
        if _equal(yours.flatten(axis, axis + 1), right):
            yield (
                "The numbers are right, but there is an axis too many: "
                f"flatten({axis}, {axis + 1}) makes one of two."
            )
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
        yield from factors(case, _ratio(yours, right))
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
