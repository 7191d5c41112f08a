"""Exercise of chapter 17: the mean of each row."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _tables():
    """The smallest input first: it is shown to the reader."""
    generator = torch.Generator().manual_seed(1)
    return [
        Case("two rows", {"x": torch.tensor([[1.0, 2.0, 6.0], [0.0, 3.0, 3.0]])}),
        Case("a square", {"x": torch.randn(4, 4, generator=generator)}),
        Case("a batch", {"x": torch.randn(2, 3, 5, generator=generator)}),
    ]


EXERCISE = Exercise(
    name="unpack_group",
    stub="my_unpack_group(x)",
    asks="a function of x (..., T, C) that returns the mean of each row, (..., T).",
    returns={"means": "(..., T)"},
    reference=lambda x: x.mean(dim=-1),
    cases=_tables,
    mistakes=(
        Mistake(
            "the mean of each column",
            lambda x: x.mean(dim=-2),
            "A row runs along the last axis, dim=-1. Yours averages over the rows.",
        ),
        Mistake(
            "the sum in place of the mean",
            lambda x: x.sum(dim=-1),
            "Divide by how many numbers a row has, C.",
        ),
        Mistake(
            "one mean for all rows",
            lambda x: x.mean(),
            "Each row has a mean of its own: say dim=-1.",
        ),
    ),
)
