"""Exercise of chapter 11: one head's context, replaced by its mean."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support import head_means
from helpers.checks.exercises.support.head_means import (
    mean,
    put_where_real,
    replacing,
)


def _runs():
    generator = torch.Generator().manual_seed(12)

    def case(name, contexts, head, lengths, *, flip=False):
        contexts = torch.as_tensor(contexts, dtype=torch.get_default_dtype())
        real = torch.arange(contexts.shape[2]) < torch.tensor(lengths)[:, None]
        real = real.flip(-1) if flip else real
        return Case(name, {"contexts": contexts, "head": head, "real": real})

    def draw(*shape):
        return torch.randn(shape, generator=generator).round(decimals=1)

    # Heads and positions differ in number: contexts[real] must not choose heads.
    one = [[[[1.0], [2.0], [6.0]], [[10.0], [20.0], [60.0]]]]
    padded = [[[[3.0], [8.0]]], [[[1.0], [6.0]]]]
    return [
        case("one text, no padding", one, 1, [3]),
        case("one head, the second text padded", padded, 0, [2, 1]),
        case("padding in front", draw(2, 3, 4, 2), 1, [1, 4], flip=True),
        case("three texts, the first of two heads", draw(3, 2, 5, 3), 0, [2, 5, 4]),
        case("the last of four heads", draw(2, 4, 3, 2), 3, [3, 2]),
        case("no padding", draw(2, 3, 5, 2), 2, [5, 5]),
    ]


# --- where it is put ------------------------------------------------------------------


EVERYWHERE = (
    "The mean is right. It is to stand at every position, at those of padding, too, so "
    "that one run gives this head one vector."
)


EXERCISE = Exercise(
    name="replace_head_by_mean",
    stub="my_replace_head_by_mean(contexts, head, real)",
    asks=(
        "a function of the contexts that the heads of a layer found, (B, H, T, D), of "
        "a head's number from 0, and of real, (B, T) boolean, True where there is a "
        "character and no padding. It returns a new tensor (B, H, T, D): the same "
        "contexts, but that head's are their mean over all real positions of all "
        "texts, everywhere."
    ),
    returns={"contexts": "(B, H, T, D)"},
    reference=replacing(mean),
    cases=_runs,
    mistakes=(
        *head_means.MISTAKES,
        Mistake("padding left as it was", replacing(mean, put_where_real), EVERYWHERE),
    ),
)
