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


def _columns_as_one_head(weight, num_heads):
    return halves_from_pairs(weight.T, 1).T


def _width_of_columns(weight, num_heads):
    """Heads of C / H features, which those of keys may not have."""
    D = weight.shape[1] // num_heads
    return halves_from_pairs(weight, len(weight) // D)


def _neighbours_swapped(weight, num_heads):
    return weight.unflatten(0, (-1, 2)).flip(1).flatten(0, 1)


def _overwritten(weight, num_heads):
    """Row by row, in the weight itself."""
    heads = weight.unflatten(0, (num_heads, -1)).clone()
    half = heads.shape[1] // 2
    for i in range(half):
        heads[:, i] = heads[:, 2 * i]
        heads[:, i + half] = heads[:, 2 * i + 1]
    return heads.flatten(0, 1)


def _overwritten_by_halves(weight, num_heads):
    """Half by half, each copied onto rows that are still to be read."""
    weight = weight.clone()
    for head in weight.chunk(num_heads):
        half = len(head) // 2
        head[:half] = head[0::2]
        head[half:] = head[1::2]
    return weight


def _first_head(weight, num_heads):
    """Every head's rows, at the places of the first one's."""
    D = len(weight) // num_heads
    return torch.cat([halves_from_pairs(weight[:D], 1), weight[D:]])


def _first_head_alone(weight, num_heads):
    D = len(weight) // num_heads
    return torch.cat([halves_from_pairs(weight[:D], 1), 0 * weight[D:]])


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
    Mistake(
        "all heads taken for one",
        _all_heads_as_one,
        "Every head has pairs and halves of its own. Split the rows into heads first, "
        "and reorder within each: the head's axis stays outermost.",
    ),
    Mistake(
        "the way back, with all heads taken for one",
        _all_heads_as_one_back,
        "Yours takes halves for granted and makes pairs of them; the file has pairs. "
        "And every head has its own: the head's axis stays outermost, "
        "(H, D / 2, 2, C).",
    ),
    Mistake(
        "heads as wide as the columns have them",
        _width_of_columns,
        "D is the number of rows by the number of heads. C, the number of columns, is "
        "what comes in: keys may have fewer heads than C / D.",
    ),
    Mistake(
        "the second features first",
        _second_first,
        "Of each pair the first feature, 2i, goes to i, and the second, 2i + 1, to "
        "i + D / 2.",
    ),
    Mistake(
        "neighbours that change places",
        _neighbours_swapped,
        "The two of a pair must come D / 2 apart: features 0, 2, 4, … of a head first, "
        "then 1, 3, 5, …",
    ),
    *several(
        "rows overwritten before they are read",
        [_overwritten, _overwritten_by_halves],
        "Row 1 is gone once row 2 is written over it. Read from the weight, and write "
        "into a new one.",
    ),
    *several(
        "the first head alone",
        [_first_head, _first_head_alone],
        "Head h begins at row h D: add that to each row's number, of what is read and "
        "of what is written.",
    ),
    *several(
        "columns in place of rows",
        [_columns, _columns_as_one_head],
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
    """Each number once, and no 0: one that comes out was made by the reader."""
    generator = torch.Generator().manual_seed(17)
    sizes = {
        "one head of six features": (1, 6, 6),
        "two heads, and columns for four": (2, 6, 24),
        "three heads of eight, and columns for nine": (3, 8, 72),
        "as many heads as features": (6, 6, 36),
        "heads of two, where nothing moves": (4, 2, 8),
        "four heads of ten": (4, 10, 40),
    }
    cases = []
    for name, (H, D, C) in sizes.items():
        numbers = torch.randperm(H * D * C, generator=generator) + 1
        weight = (numbers / 10).view(H * D, C)
        cases.append(Case(name, {"weight": weight, "num_heads": H}))
    return cases


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
