"""Exercise of "What does it mean?": a mask for an attention knockout."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def mask(T, asks, hidden):
    """Right."""
    allowed = torch.ones(T, T, dtype=torch.bool).tril()
    allowed[asks, hidden] = False
    return allowed


def _columns(T, asks, hidden):
    allowed = torch.ones(T, T, dtype=torch.bool).tril()
    allowed[:, hidden] = False
    return allowed


def _later_ones(T, asks, hidden):
    allowed = torch.ones(T, T, dtype=torch.bool).tril()
    allowed[asks:, hidden] = False
    return allowed


def _swapped(T, asks, hidden):
    allowed = torch.ones(T, T, dtype=torch.bool).tril()
    allowed[hidden, asks] = False
    return allowed


def _last_row(T, asks, hidden):
    return mask(T, T - 1, hidden)


def _whole_row(T, asks, hidden):
    allowed = torch.ones(T, T, dtype=torch.bool).tril()
    allowed[asks] = False
    return allowed


def _without_causality(T, asks, hidden):
    allowed = torch.ones(T, T, dtype=torch.bool)
    allowed[asks, hidden] = False
    return allowed


def _only_hidden(T, asks, hidden):
    allowed = torch.ones(T, T, dtype=torch.bool).tril()
    allowed[asks] = False
    allowed[asks, hidden] = True
    return allowed


def _first_one(T, asks, hidden):
    return mask(T, asks, hidden[:1])


MISTAKES = (
    *several(
        "hidden from other positions, too",
        [_columns, _later_ones],
        "Only the position asks is forbidden to look there: one row changes.",
    ),
    Mistake(
        "rows and columns swapped",
        _swapped,
        "Row t is what position t may look at. So asks is the row, and hidden are "
        "columns.",
    ),
    Mistake(
        "the last row in place of asks",
        _last_row,
        "The position that asks may stand anywhere: its row is asks.",
    ),
    Mistake(
        "nothing left to look at",
        _whole_row,
        "The position asks still sees all that stands before it, but for hidden.",
    ),
    Mistake(
        "the future is open",
        _without_causality,
        "The mask stays causal: above the diagonal all is False.",
    ),
    Mistake(
        "only the hidden ones in sight",
        _only_hidden,
        "It is the other way round: hidden is what can't be seen.",
    ),
    Mistake(
        "True and False exchanged",
        lambda T, asks, hidden: ~mask(T, asks, hidden),
        "True = may attend, as everywhere in this book and in PyTorch.",
    ),
    Mistake(
        "no knockout",
        lambda T, asks, hidden: mask(T, asks, []),
        "This is the causal mask alone. Row t is what position t may look at, so row "
        "asks must lose the columns in hidden.",
    ),
    Mistake(
        "only the first of the hidden ones",
        _first_one,
        "All positions in the list are hidden.",
    ),
)


def _texts():
    texts = {
        "four words": (4, 3, [1]),
        "two hidden": (6, 4, [1, 3]),
        "a position in the middle": (7, 3, [0, 2]),
        "all but itself": (5, 4, [0, 1, 2, 3]),
        "nothing hidden": (4, 2, []),
        "in any order, itself and a later one": (7, 3, [5, 1, 3]),
    }
    return [
        Case(name, {"T": T, "asks": asks, "hidden": hidden})
        for name, (T, asks, hidden) in texts.items()
    ]


EXERCISE = Exercise(
    name="knockout_mask",
    stub="my_knockout_mask(T, asks, hidden)",
    asks=(
        "a function of T, of a position asks and of a list of positions, hidden. It "
        "returns a causal mask (T, T), True = may attend, in which asks may not look "
        "at the hidden ones."
    ),
    returns={"mask": "(T, T) boolean"},
    reference=mask,
    cases=_texts,
    mistakes=MISTAKES,
)
