"""Which inputs go wrong, and what is special about them."""

import itertools
import re
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from helpers.checks.cases import Case

LARGE = 50.0  # exp of a few of these leaves float32
ENOUGH = 6  # inputs, for a feature that few of them may share by chance
BY_CHANCE = re.compile(r"numbers|length|square|axis of length 1|isn't 0 or 1|a 0|no 0")
# With a number of 0 or 1 there is often nothing to do, and so nothing to do wrong: a
# single process sends 0 bytes, by whatever factor they are too many. Results that are
# right there alone are wrong wherever they could be, and that is no sign.
ORDINARY = "isn't 0 or 1"


def where(failing: Sequence[Case], passing: Sequence[Case]) -> str | None:
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
    if first is None or first.endswith(ORDINARY):
        return None
    return f"It goes wrong where {first}, and only there."


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
