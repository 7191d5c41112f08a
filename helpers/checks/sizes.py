"""The sizes of an input, in words: what a reader may multiply or divide by."""

from collections.abc import Iterator

from torch import Tensor

from helpers.checks.cases import Case

AXES = {
    -1: "the last axis",
    -2: "the last axis but one",
    -3: "the third axis from last",
}


def sizes_of(case: Case) -> Iterator[tuple[str, float]]:
    """Pairs of words and a number, one for each length and each number."""
    for name, value in case.arguments.items():
        if isinstance(value, Tensor):
            for axis in range(-1, -value.dim() - 1, -1):
                yield f"{name}.shape[{axis}]", value.shape[axis]
            if value.dim() != 1:
                yield f"how many numbers {name} has", value.numel()
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield name, value
            yield f"1 - {name}", 1 - value
        elif isinstance(value, (str, list, tuple)):
            yield f"len({name})", len(value)
