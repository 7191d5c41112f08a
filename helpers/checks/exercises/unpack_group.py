"""Exercise of chapter 17: the 32 weights in a group of Q4_1."""

from collections.abc import Callable

import torch
from torch import Tensor

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def unpacked(group: Tensor) -> Tensor:
    """Right."""
    step, smallest = _two_numbers(group)
    return smallest + step * torch.cat(_nibbles(group))


def _two_numbers(group: Tensor, dtype: torch.dtype = torch.float16) -> list[Tensor]:
    """The step and the smallest weight, in 32 bits."""
    return [*group[:4].clone().view(dtype).float()]


def _nibbles(group: Tensor) -> list[Tensor]:
    """Of each byte the last 4 bits, and the first 4: (16,) each."""
    return [(group[4:] & 15).float(), (group[4:] >> 4).float()]


def _ordered(order: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """With the halves of the bytes in another order."""

    def unpack(group: Tensor) -> Tensor:
        step, smallest = _two_numbers(group)
        return smallest + step * order(*_nibbles(group))

    return unpack


def _valued(
    value: Callable[[Tensor, Tensor, Tensor], Tensor],
) -> Callable[[Tensor], Tensor]:
    """With another formula for the step, the smallest weight, and the counts."""

    def unpack(group: Tensor) -> Tensor:
        step, smallest = _two_numbers(group)
        return value(step, smallest, torch.cat(_nibbles(group)))

    return unpack


def _of_type(dtype: torch.dtype) -> Callable[[Tensor], Tensor]:
    """With the two numbers read as another type of 16 bits."""

    def unpack(group: Tensor) -> Tensor:
        step, smallest = _two_numbers(group, dtype)
        return smallest + step * torch.cat(_nibbles(group))

    return unpack


def _bytes_turned(group: Tensor) -> Tensor:
    turned = group.clone()
    turned[:4] = group[[1, 0, 3, 2]]
    return unpacked(turned)


def _in_16_bits(group: Tensor) -> Tensor:
    step, smallest = group[:4].clone().view(torch.float16)
    return smallest + step * torch.cat(_nibbles(group)).half()


def _bytes_as_numbers(group: Tensor) -> Tensor:
    """Each of the two numbers taken for the value of its first byte."""
    step, smallest = group[0].float(), group[2].float()
    return smallest + step * torch.cat(_nibbles(group))


def _not_shifted(group: Tensor) -> Tensor:
    step, smallest = _two_numbers(group)
    return smallest + step * torch.cat([group[4:] & 15, group[4:] & 240]).float()


def _whole_byte(group: Tensor) -> Tensor:
    step, smallest = _two_numbers(group)
    return smallest + step * torch.cat([group[4:], group[4:] >> 4]).float()


MISTAKES = (
    Mistake(
        "the halves of each byte exchanged",
        _ordered(lambda low, high: torch.cat([high, low])),
        "The last 4 bits of a byte, byte & 15, belong to weights 0 to 15; the first "
        "4, byte >> 4, to weights 16 to 31.",
    ),
    Mistake(
        "neighbours in one byte",
        _ordered(lambda low, high: torch.stack([low, high], dim=1).flatten()),
        "A byte's two weights stand 16 apart, not side by side: byte 4 has weights 0 "
        "and 16. So all last halves come first, then all first halves.",
    ),
    Mistake(
        "neighbours in one byte, and its halves exchanged",
        _ordered(lambda low, high: torch.stack([high, low], dim=1).flatten()),
        "A byte's two weights stand 16 apart, not side by side, and its last 4 bits "
        "are the earlier one: byte 4 has weight 0 in byte & 15, and weight 16 in "
        "byte >> 4.",
    ),
    Mistake(
        "the smallest weight left out",
        _valued(lambda step, smallest, count: step * count),
        "A count of 0 stands for the smallest weight: add it to every weight.",
    ),
    Mistake(
        "the smallest weight taken away",
        _valued(lambda step, smallest, count: step * count - smallest),
        "The smallest weight is stored with its sign, and is added.",
    ),
    Mistake(
        "step and smallest exchanged",
        _valued(lambda step, smallest, count: step + smallest * count),
        "Bytes 0 and 1 are the step, bytes 2 and 3 the smallest weight.",
    ),
    Mistake(
        "the smallest weight counted in steps",
        _valued(lambda step, smallest, count: step * (smallest + count)),
        "The smallest weight is a weight already: the step multiplies the counts "
        "alone.",
    ),
    Mistake(
        "counts that begin at -8",
        _valued(lambda step, smallest, count: smallest + step * (count - 8)),
        "That is Q4_0, which stores no smallest weight. Here the counts go from 0 to "
        "15, up from the smallest.",
    ),
    Mistake(
        "a byte in place of a number of two bytes",
        _bytes_as_numbers,
        "Step and smallest weight are numbers of 16 bits: each takes two bytes, which "
        "are viewed as one number, and not turned into one.",
    ),
    *several(
        "16 bits read as another type",
        [_of_type(dtype) for dtype in (torch.bfloat16, torch.int16, torch.uint16)],
        "The two numbers are float16: view their four bytes as torch.float16. "
        "bfloat16 divides its 16 bits otherwise, and int16 has whole numbers.",
    ),
    Mistake(
        "two bytes in the wrong order",
        _bytes_turned,
        "Of a number's two bytes, the file has the lower one first (little-endian), "
        "as a view as torch.float16 reads them.",
    ),
    Mistake(
        "computed in 16 bits",
        _in_16_bits,
        "Turn step and smallest into 32 bits before you compute: .float(). In 16 bits "
        "the sum is rounded.",
    ),
    Mistake(
        "first halves that aren't shifted",
        _not_shifted,
        "byte & 240 has the first 4 bits where they stand, 16 times as large. "
        "byte >> 4 moves them down.",
    ),
    Mistake(
        "a whole byte in place of its last half",
        _whole_byte,
        "byte & 15 keeps the last 4 bits alone.",
    ),
)


def _case(name: str, step: float, smallest: float, low: Tensor, high: Tensor) -> Case:
    """20 bytes, and what a verdict shows of them."""
    numbers = torch.tensor([step, smallest]).half()
    packed = (low + 16 * high).to(torch.uint8)
    return Case(
        name,
        {"group": torch.cat([numbers.view(torch.uint8), packed])},
        {"step": step, "smallest": smallest, "bytes 4 to 19": packed},
    )


def _groups() -> list[Case]:
    generator = torch.Generator().manual_seed(17)
    up = torch.arange(16)
    drawn = torch.randint(16, (4, 2, 16), generator=generator)
    zeros = torch.zeros(16)
    groups = {
        "counts that rise, then fall": (0.5, -2.0, up, up.flip(0)),
        "as a layer has them": (0.1652, -1.4766, *drawn[0]),
        "all at the smallest": (0.25, -0.75, zeros, zeros),
        "all at the largest": (0.25, -0.75, zeros + 15, zeros + 15),
        "a smallest weight above 0": (0.0301, 0.7002, *drawn[1]),
        "a step of 0": (0.0, -0.3301, *drawn[2]),
        "tiny weights": (0.00153, -0.01201, *drawn[3]),
    }
    return [_case(name, *one) for name, one in groups.items()]


EXERCISE = Exercise(
    name="unpack_group",
    stub="my_unpack_group(group)",
    asks=(
        "a function of the 20 bytes of a Q4_1 group (20,), in uint8, that returns its "
        "32 weights (32,) in float32."
    ),
    returns={"weights": "(2 · 16,)"},
    reference=unpacked,
    cases=_groups,
    mistakes=MISTAKES,
)
