"""Numbers as the record has them: means with their intervals, to four places."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from helpers.recorded.spread import mean_and_interval


def rounded(numbers: Tensor) -> list[Any]:
    """Numbers of any rank to four places; to one, where they are large: norms."""
    places = 1e4 if numbers.abs().max() < 50 else 10.0
    return numbers.double().mul(places).round().div(places).tolist()


def interval(numbers: Sequence[float]) -> list[float]:
    """Mean, low and high (95 %), rounded; one number alone where there is only one."""
    if len(numbers) < 2:
        return [round(one, 4) for one in numbers]
    return [round(one, 4) for one in mean_and_interval(numbers)]


def over(groups: Sequence[int], numbers: Tensor) -> list[float]:
    """The interval over the means of groups, such as scenes; nan is left out."""
    means = []
    for group in sorted(set(groups)):
        own = numbers[torch.tensor([one == group for one in groups])]
        own = own[~own.isnan()]
        if len(own):
            means.append(own.mean().item())
    return interval(means)
