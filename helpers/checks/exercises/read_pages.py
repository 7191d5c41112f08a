"""Exercise of the page "A cache in pages": a text's entries, in their order."""

import torch

from helpers.checks.cases import Case
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.page_mistakes import (
    WHERE_IT_ENDS,
    WHICH_PAGES,
    read,
)


def _stores():
    generator = torch.Generator().manual_seed(15)
    sizes = {
        "one full page": (3, 2, 1, [1], 2),
        "two pages, the last half full": (4, 2, 2, [2, 0], 3),
        "three pages, out of order": (5, 2, 1, [3, 0, 4], 6),
        "a page of one position": (4, 1, 3, [2, 3, 1], 3),
        "as many positions as features": (6, 3, 3, [4, 1, 5], 7),
        "two spare pages, taken ahead": (6, 2, 2, [5, 2, 0, 3], 3),
        "one position in a page": (3, 4, 2, [2], 1),
        "a shared page beside another": (8, 4, 5, [0, 6, 3], 10),
        "an entry of zeros": (4, 2, 2, [1, 2], 4),
    }
    stores = {
        name: torch.randn(count, size, D, generator=generator).round(decimals=1)
        for name, (count, size, D, _, _) in sizes.items()
    }
    stores["an entry of zeros"][2, 0] = 0
    return [
        Case(name, {"store": stores[name], "pages": pages, "length": length})
        for name, (_, _, _, pages, length) in sizes.items()
    ]


EXERCISE = Exercise(
    name="read_pages",
    stub="my_read_pages(store, pages, length)",
    asks=(
        "a function of a store (all pages, page_size, D), of the list of one text's "
        "pages in its order, and of how many positions it has read, that returns the "
        "text's entries (length, D), the oldest first."
    ),
    returns={"entries": "(length, D)"},
    reference=read,
    cases=_stores,
    mistakes=(*WHICH_PAGES, *WHERE_IT_ENDS),
)
