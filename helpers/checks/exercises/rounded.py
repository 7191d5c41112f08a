"""Exercise of the page four_bits: groups of weights rounded to sixteen numbers."""

from collections.abc import Callable

import torch
from torch import Tensor

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several

Rounded = Callable[[Tensor, int], Tensor]
Made = Callable[[Tensor, bool], Tensor]  # of groups, and whether 0 / 0 is kept out


def by_groups(weight: Tensor, size: int) -> Tensor:
    """Right."""
    return _sixteen(weight.reshape(-1, size)).reshape(weight.shape)


def _step(groups: Tensor, safe: bool = True, parts: int = 15) -> Tensor:
    """Of each group (N, size), an even step: (N, 1); 1 for 0, where ``safe``."""
    smallest, largest = groups.aminmax(dim=1, keepdim=True)
    step = (largest - smallest) / parts
    return step.where(step > 0, 1.0) if safe else step


def _sixteen(groups: Tensor, safe: bool = True) -> Tensor:
    """Each row of (N, size) rounded to its own sixteen numbers."""
    smallest, step = groups.amin(dim=1, keepdim=True), _step(groups, safe)
    return smallest + step * ((groups - smallest) / step).round()


def _grouped(made: Made, safe: bool) -> Rounded:
    """The right groups, (N, size), each changed in a wrong way."""
    return lambda weight, size: made(weight.reshape(-1, size), safe).reshape(
        weight.shape
    )


def _formula(
    value: Callable[[Tensor, Tensor, Tensor], Tensor], parts: int = 15
) -> Made:
    """Another formula of groups, smallest weights and steps."""
    return lambda groups, safe: value(
        groups, groups.amin(dim=1, keepdim=True), _step(groups, safe, parts)
    )


def _with_either_step(name: str, mades: list[Made], why: str) -> list[Mistake]:
    """A mistake in a group's formula, with and without the care for a step of 0."""
    found = [_grouped(made, safe) for made in mades for safe in (True, False)]
    return several(name, found, why)


def _in_other_groups(
    name: str, groups: list[Callable[[Tensor, int, bool], Tensor]], why: str
) -> list[Mistake]:
    """A mistake in what a group is, with and without the care for a step of 0."""
    found = [
        lambda weight, size, one=one, safe=safe: one(weight, size, safe)
        for one in groups
        for safe in (True, False)
    ]
    return several(name, found, why)


def _as_zero(groups: Tensor, safe: bool) -> Tensor:
    return _sixteen(groups, safe=False).nan_to_num()


def _to_both_sides(parts: float, most: int) -> Made:
    """Steps from 0, as in symmetric formats."""

    def made(groups: Tensor, safe: bool) -> Tensor:
        step = groups.abs().amax(dim=1, keepdim=True) / parts
        step = step.where(step > 0, 1.0) if safe else step
        return (groups / step).round().clamp(-8, most) * step

    return made


def _in_16_bits(groups: Tensor, safe: bool) -> Tensor:
    smallest, step = groups.amin(dim=1, keepdim=True), _step(groups, safe)
    smallest, step = smallest.half().float(), step.half().float()
    return smallest + step * ((groups - smallest) / step).round().clamp(0, 15)


def _one_group(weight: Tensor, size: int, safe: bool) -> Tensor:
    return _sixteen(weight.reshape(1, -1), safe).reshape(weight.shape)


def _rows(weight: Tensor, size: int, safe: bool) -> Tensor:
    return _sixteen(weight, safe)


def _columns(weight: Tensor, size: int, safe: bool) -> Tensor:
    return _sixteen(weight.T, safe).T


def _down_the_columns(weight: Tensor, size: int, safe: bool) -> Tensor:
    """Groups of ``size`` weights below each other, where the rows suffice."""
    if weight.shape[0] % size:
        return _columns(weight, size, safe)
    return _sixteen(weight.T.reshape(-1, size), safe).reshape(weight.T.shape).T


def _far_apart(weight: Tensor, size: int, safe: bool) -> Tensor:
    """Every n-th weight in one group."""
    return _sixteen(weight.reshape(size, -1).T, safe).T.reshape(weight.shape)


def _size_as_number(weight: Tensor, size: int, safe: bool) -> Tensor:
    """As many groups as a group should have weights."""
    return _sixteen(weight.reshape(size, -1), safe).reshape(weight.shape)


MISTAKES = (
    *_in_other_groups(
        "sixteen numbers for the whole matrix",
        [_one_group],
        "Each group of `size` weights has a smallest, a largest and a step of its own: "
        "weight.reshape(-1, size), and amin and amax along dim=1.",
    ),
    *_in_other_groups(
        "sixteen numbers for each row",
        [_rows],
        "A row has several groups, of `size` weights each.",
    ),
    *_in_other_groups(
        "groups that run down the columns",
        [_columns, _down_the_columns],
        "The weights of a group stand beside each other in a row. Did you take the "
        "extremes along dim=0?",
    ),
    *_in_other_groups(
        "groups of weights that stand far apart",
        [_far_apart],
        "The weights of a group follow one another: weight.reshape(-1, size) has a "
        "group in each row, weight.reshape(size, -1) one in each column.",
    ),
    *_in_other_groups(
        "`size` groups in place of groups of `size`",
        [_size_as_number],
        "`size` says how many weights a group has: weight.reshape(-1, size).",
    ),
    Mistake(
        "NaN where all weights of a group are alike",
        _grouped(_sixteen, safe=False),
        "There the step is 0, and 0 / 0 is NaN. Where the step is 0, divide by another "
        "number: any will do, as the weights are all 0 above the smallest.",
    ),
    Mistake(
        "0 where all weights of a group are alike",
        _grouped(_as_zero, safe=False),
        "Such a group's weights are all its smallest, which need not be 0. Keep the "
        "division from making NaN, in place of replacing NaN at the end.",
    ),
    *_with_either_step(
        "sixteen steps, and so seventeen numbers",
        [_formula(lambda w, low, step: low + step * ((w - low) / step).round(), 16)],
        "Sixteen numbers have fifteen steps between them: divide by 15.",
    ),
    *_with_either_step(
        "sixteen steps, of which the last is never reached",
        [
            _formula(
                lambda w, low, step: (
                    low + step * ((w - low) / step).round().clamp(0, 15)
                ),
                16,
            )
        ],
        "The largest weight is the sixteenth number: there are fifteen steps between "
        "them, so divide by 15.",
    ),
    *_with_either_step(
        "rounded down",
        [
            _formula(lambda w, low, step: low + step * ((w - low) / step).floor()),
            _formula(lambda w, low, step: low + step * ((w - low) // step)),
        ],
        "The nearest of the sixteen is wanted, which is above as often as below: "
        ".round(), and neither .floor(), // nor .int().",
    ),
    *_with_either_step(
        "the counts in place of the weights",
        [_formula(lambda w, low, step: ((w - low) / step).round())],
        "That is what a file would keep. The weight is the smallest plus the count "
        "times the step.",
    ),
    *_with_either_step(
        "the smallest weight not added again",
        [_formula(lambda w, low, step: step * ((w - low) / step).round())],
        "You counted steps from the smallest weight, so it has to be added to them.",
    ),
    *_with_either_step(
        "steps counted from 0",
        [_formula(lambda w, low, step: step * (w / step).round())],
        "The sixteen numbers begin at the group's smallest weight, not at 0: take it "
        "away before you divide, and add it afterwards.",
    ),
    *_with_either_step(
        "steps to both sides of 0",
        [_to_both_sides(7, 7), _to_both_sides(8, 7), _to_both_sides(7.5, 8)],
        "That is a symmetric format, such as Q8_0. Here the steps go from the group's "
        "smallest weight to its largest.",
    ),
    *_with_either_step(
        "step and smallest weight in 16 bits",
        [_in_16_bits],
        "A file keeps them so. Here, compute all in 32 bits.",
    ),
)


def _matrices() -> list[Case]:
    generator = torch.Generator().manual_seed(4)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    easy, alike = [0.0, 1.2, 4.9, 15.0], [0.75] * 4
    spoiled = 0.05 * drawn(4, 24)
    spoiled[1, 5] = 7.9
    matrices = {
        "one group": (torch.tensor([easy]), 4),
        "all alike": (torch.tensor([alike]), 4),
        "a small group beside a large one": (
            torch.tensor([[*easy, -0.3, -0.216, 0.106, 0.15]]),
            4,
        ),
        "two rows of groups": (drawn(2, 12), 4),
        "a square": (drawn(6, 6), 3),
        "one group all alike": (torch.tensor([[*easy, *alike], [*alike, *easy]]), 4),
        "zeros": (torch.zeros(2, 6), 3),
        "above 0": (2 + drawn(2, 10).abs(), 5),
        "below 0": (-1 - drawn(3, 8).abs(), 4),
        "one large weight": (spoiled, 6),
        "groups of 32": (0.04 * drawn(3, 64), 32),
    }
    return [
        Case(name, {"weight": weight, "size": size})
        for name, (weight, size) in matrices.items()
    ]


EXERCISE = Exercise(
    name="rounded",
    stub="my_rounded(weight, size)",
    asks=(
        "a function of a matrix of weights (R, C) and of how many weights in a row are "
        "a group, which divides C; it returns each weight rounded to the nearest of "
        "its group's sixteen numbers, (R, C)."
    ),
    returns={"weights": "(R, C)"},
    reference=by_groups,
    cases=_matrices,
    mistakes=MISTAKES,
    constants=(1e-12,),
)
