"""Exercise of the page "A cache in pages": a text's entries, in their order."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _stores():
    generator = torch.Generator().manual_seed(15)
    sizes = {
        "one full page": (3, 2, 1, [1], 2),
        "two pages, the last half full": (4, 2, 2, [2, 0], 3),
        "three pages, out of order": (5, 2, 1, [3, 0, 4], 6),
        "a page of one position": (4, 1, 3, [2, 3, 1], 3),
        "as many positions as features": (6, 3, 3, [4, 1, 5], 7),
        "a spare page, taken ahead": (6, 2, 2, [5, 2, 0], 3),
        "one position in a page": (3, 4, 2, [2], 1),
        "a shared page beside another": (8, 4, 5, [0, 6, 3], 10),
        "nothing was read yet": (2, 3, 2, [1], 0),
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


def _read(store, pages, length, *, order=list, cut=None, join=None):
    """Right where nothing is given; each option is one mistake."""
    found = store[order(pages)]  # (pages, page_size, D)
    rows = found.flatten(0, 1) if join is None else join(found)
    return rows[:length] if cut is None else cut(rows, length)


def _with(**options):
    return lambda store, pages, length: _read(store, pages, length, **options)


def _mixed(found):
    """The first positions of all pages, then the second ones."""
    return found.transpose(0, 1).flatten(0, 1)


def _by_features(found):
    return found.permute(2, 0, 1).reshape(-1, found.shape[-1])


def _nonzero(rows):
    return rows[(rows != 0).any(dim=1)]


def _whole_pages_of(length, size):
    return length // size


def _by_division(store, pages, length):
    full = _whole_pages_of(length, store.shape[1])
    return store[pages[:full]].flatten(0, 1)


def _rounded_up(store, pages, length):
    full = -(-length // store.shape[1])
    return store[pages[:full]].flatten(0, 1)


def _neighbours(store, pages, length):
    """As if the text's pages stood one after the other behind its first."""
    start = pages[0] * store.shape[1]
    return store.flatten(0, 1)[start : start + length]


EXERCISE = Exercise(
    name="read_pages",
    stub="my_read_pages(store, pages, length)",
    asks=(
        "a function of a store (all pages, page_size, D), of the list of one text's "
        "pages in its order, and of how many positions it has read, that returns the "
        "text's entries (length, D), the oldest first."
    ),
    returns={"entries": "(length, D)"},
    reference=_read,
    cases=_stores,
    mistakes=(
        Mistake(
            "all entries of its pages",
            _with(cut=lambda rows, length: rows),
            "The last page needn't be full: behind `length` positions stands what "
            "another text has left there.",
        ),
        Mistake(
            "whole pages, as many as are begun",
            _rounded_up,
            "The last page needn't be full: behind `length` positions stands what "
            "another text has left there. Cut the entries, and not only the pages.",
        ),
        Mistake(
            "full pages alone",
            _by_division,
            "length // page_size counts full pages. What stands in the last, unfilled "
            "one belongs to the text, too.",
        ),
        Mistake(
            "pages in the store's order",
            _with(order=sorted),
            "The list says in which order the text took its pages. Sorted, its "
            "positions are mixed up.",
        ),
        Mistake(
            "the newest page first",
            _with(order=lambda pages: pages[::-1]),
            "The oldest page comes first in the list, and in the result.",
        ),
        Mistake(
            "the first pages of the store",
            _with(order=lambda pages: list(range(len(pages)))),
            "The text's pages are those whose numbers stand in the list; the store's "
            "first ones may belong to others.",
        ),
        Mistake(
            "pages that follow the first one",
            _neighbours,
            "A text takes a page wherever one is free. Only the list says which comes "
            "next.",
        ),
        Mistake(
            "positions that take turns among the pages",
            _with(join=_mixed),
            "Your result has the first position of each page, then the second of each. "
            "A page's positions stand together: (pages, page_size, D) flattens in that "
            "order.",
        ),
        Mistake(
            "features laid out as positions",
            _with(join=_by_features),
            "Each entry is a row of D numbers that belong together. Flatten the two "
            "axes in front, and leave the last.",
        ),
        Mistake(
            "the last positions in place of the first",
            _with(cut=lambda rows, length: rows[len(rows) - length :]),
            "What is left over stands at the end of the last page, so cut there, and "
            "not at the beginning.",
        ),
        Mistake(
            "one entry too few",
            _with(cut=lambda rows, length: rows[: max(length - 1, 0)]),
            "rows[:length] has `length` rows already.",
        ),
        Mistake(
            "one entry too many",
            _with(cut=lambda rows, length: rows[: length + 1]),
            "rows[:length] ends with row length - 1, which is the last one read.",
        ),
        Mistake(
            "a cut of every page",
            lambda store, pages, length: store[pages, :length].flatten(0, 1),
            "`length` counts positions of the whole text. Put the pages together "
            "first, and cut then.",
        ),
        Mistake(
            "the newest entry first",
            lambda store, pages, length: _read(store, pages, length).flip(0),
            "The oldest entry comes first.",
        ),
        Mistake(
            "entries of zeros left out",
            lambda store, pages, length: _nonzero(_read(store, pages, length)),
            "A key or a value may well be zero. Only `length` says how many entries "
            "the text has.",
        ),
        Mistake(
            "entries still in pages",
            lambda store, pages, length: store[pages],
            "The result has no axis for pages: (length, D).",
        ),
    ),
)
