"""Exercise of chapter 17: a projection's rows, from one rotary layout to the other."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several
from helpers.models.positions import halves_from_pairs


def _back(weight, num_heads):
    """From halves to pairs."""
    halves = weight.unflatten(0, (num_heads, 2, -1))  # (H, 2, D / 2, C)
    return halves.transpose(1, 2).flatten(0, 2)


def _second_first(weight, num_heads):
    pairs = weight.unflatten(0, (num_heads, -1, 2)).flip(2)
    return pairs.transpose(1, 2).flatten(0, 2)


def _all_heads_as_one(weight, num_heads):
    return halves_from_pairs(weight, 1)


def _all_heads_as_one_back(weight, num_heads):
    return _back(weight, 1)


def _columns(weight, num_heads):
    return halves_from_pairs(weight.T, num_heads).T


def _heads_in_turn(weight, num_heads):
    return weight.unflatten(0, (-1, num_heads)).transpose(0, 1).flatten(0, 1)


def _heads_innermost(weight, num_heads):
    """As if the rows of all heads stood in turn."""
    pairs = weight.unflatten(0, (-1, 2, num_heads))
    return pairs.transpose(0, 1).flatten(0, 2)


MISTAKES = (
    Mistake(
        "the rows as they were",
        lambda weight, num_heads: weight.clone(),
        "The rows of each head must change places: features 0, 2, 4, … come first, "
        "then 1, 3, 5, …",
    ),
    Mistake(
        "the way back",
        _back,
        "Yours takes halves for granted and makes pairs of them. The file has pairs: "
        "in unflatten, the 2 belongs behind the pairs' axis, (H, D / 2, 2, C).",
    ),
    *several(
        "all heads taken for one",
        [_all_heads_as_one, _all_heads_as_one_back],
        "Every head has pairs and halves of its own. Split the rows into heads first, "
        "and reorder within each.",
    ),
    Mistake(
        "the second features first",
        _second_first,
        "Of each pair the first feature, 2i, goes to i, and the second, 2i + 1, to "
        "i + D / 2.",
    ),
    Mistake(
        "columns in place of rows",
        _columns,
        "An nn.Linear's weight is (d_out, d_in): the features of queries are its rows. "
        "The columns belong to what comes in.",
    ),
    *several(
        "heads that take turns",
        [_heads_in_turn, _heads_innermost],
        "Rows of one head stand together, D of them: the head's axis comes first in "
        "unflatten, (H, D / 2, 2, C).",
    ),
)


def _weights():
    generator = torch.Generator().manual_seed(17)
    sizes = {
        "one head of six features": (1, 6, 6),
        "two heads": (2, 6, 12),
        "three heads of eight": (3, 8, 24),
        "as many heads as features": (6, 6, 36),
        "heads of two, where nothing moves": (4, 2, 8),
        "four heads of ten": (4, 10, 40),
    }
    return [
        Case(
            name,
            {
                "weight": torch.randn(H * D, C, generator=generator).round(decimals=1),
                "num_heads": H,
            },
        )
        for name, (H, D, C) in sizes.items()
    ]


EXERCISE = Exercise(
    name="rotary_halves",
    stub="my_rotary_halves(weight, num_heads)",
    asks=(
        "a function of a projection's weight (H D, C) whose heads pair feature 2i with "
        "2i + 1, and of the number of heads, that returns the weight with rows in "
        "another order, so that i pairs with i + D / 2."
    ),
    returns={"weight": "(H D, C)"},
    reference=halves_from_pairs,
    cases=_weights,
    mistakes=MISTAKES,
)
