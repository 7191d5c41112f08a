"""Exercise of the page "A cache in pages": a text's entries, in their order."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def read(store, pages, length, *, order=list, cut=None, join=None):
    """Right where nothing is given; each option is one mistake."""
    found = store[order(pages)]  # (pages, page_size, D)
    rows = found.flatten(0, 1) if join is None else join(found)
    return rows[:length] if cut is None else cut(rows, length)


def _with(**options):
    return lambda store, pages, length: read(store, pages, length, **options)


def _mixed(found):
    """The first positions of all pages, then the second ones."""
    return found.transpose(0, 1).flatten(0, 1)


def _nonzero(rows):
    return rows[(rows != 0).any(dim=1)]


def _by_division(store, pages, length):
    full = length // store.shape[1]
    return store[pages[:full]].flatten(0, 1)


def _neighbours(store, pages, length):
    """As if the text's pages stood one after the other behind its first."""
    start = pages[0] * store.shape[1]
    return store.flatten(0, 1)[start : start + length]


def _backwards(pages):
    return pages[::-1]


def _last_rows(rows, length):
    return rows[-length:]


def _from_one_page(number):
    """Every position from the page in which a loop has ended."""

    def one(store, pages, length):
        size = store.shape[1]
        page = store[pages[number(length, size)]]
        return torch.stack([page[position % size] for position in range(length)])

    return one


def _last_begun(length, size):
    return math.ceil(length / size) - 1


def _last_listed(length, size):
    return -1


def _with_rest(rest, *, last=None):
    """Whole pages, and of one more as many positions as a rest says."""

    def one(store, pages, length):
        size = store.shape[1]
        number = len(pages) - 1 if last is None else last(length, size)
        full = store[pages[:number]].flatten(0, 1)
        return torch.cat([full, store[pages[number], : rest(length, size, number)]])

    return one


_LEFT_BY_ANOTHER = (
    "The last page needn't be full: behind `length` positions stands what another text "
    "has left there."
)
_OLDEST_FIRST = "The oldest page comes first in the list, and in the result."

WHICH_PAGES = (
    Mistake(
        "pages in the store's order",
        _with(order=sorted),
        "The list says in which order the text took its pages. Sorted, its positions "
        "are mixed up.",
    ),
    Mistake(
        "the last entries of pages in reverse order",
        _with(order=_backwards, cut=_last_rows),
        f"{_OLDEST_FIRST} Leave the list as it is, and cut at the end.",
    ),
    Mistake(
        "the first pages of the store",
        _with(order=lambda pages: list(range(len(pages)))),
        "The text's pages are those whose numbers stand in the list; the store's first "
        "ones may belong to others.",
    ),
    Mistake(
        "pages that follow the first one",
        _neighbours,
        "A text takes a page wherever one is free. Only the list says which comes "
        "next.",
    ),
    *several(
        "all positions from one page",
        [_from_one_page(number) for number in (_last_begun, _last_listed)],
        "A loop over the pages leaves its variable at the last one, and yours reads "
        "all positions there. Position t stands in pages[t // page_size].",
    ),
    Mistake(
        "positions that take turns among the pages",
        _with(join=_mixed),
        "Your result has the first position of each page, then the second of each. A "
        "page's positions stand together: (pages, page_size, D) flattens in that "
        "order.",
    ),
    Mistake(
        "the newest entry first",
        lambda store, pages, length: read(store, pages, length).flip(0),
        "The oldest entry comes first.",
    ),
)

WHERE_IT_ENDS = (
    Mistake(
        "all entries of its pages",
        _with(cut=lambda rows, length: rows),
        _LEFT_BY_ANOTHER,
    ),
    Mistake(
        "full pages alone",
        _by_division,
        "length // page_size counts full pages. What stands in the last, unfilled one "
        "belongs to the text, too.",
    ),
    *several(
        "a cut in the last page of the list",
        [
            _with_rest(lambda length, size, number: length % size or size),
            _with_rest(lambda length, size, number: length - number * size),
        ],
        "The text needn't end in the last page of its list: pages may have been taken "
        "ahead, and are still empty of its own. Put all of them together, and keep the "
        "first `length` entries.",
    ),
    *several(
        "a last page that is lost where it is full",
        [
            _with_rest(lambda length, size, number: length % size),
            _with_rest(
                lambda length, size, number: length % size,
                last=_last_begun,
            ),
        ],
        "length % page_size is 0 where the text fills its last page to the end. Then "
        "all of that page belongs to it, and not nothing.",
    ),
    Mistake(
        "the last positions in place of the first",
        _with(cut=_last_rows),
        "What is left over stands at the end of the last page, so cut there, and not "
        "at the beginning.",
    ),
    Mistake(
        "an empty result where no entry is left over",
        _with(cut=lambda rows, length: rows[: -(len(rows) - length)]),
        "Where the pages are full, there are 0 entries to take away, and rows[:-0] is "
        "rows[:0], which is empty. Say how many you keep: rows[:length].",
    ),
    Mistake(
        "one entry too few",
        _with(cut=lambda rows, length: rows[: length - 1]),
        "rows[:length] has `length` rows already.",
    ),
    Mistake(
        "a cut that counts pages",
        lambda store, pages, length: store[pages[:length]].flatten(0, 1),
        "`length` counts positions, and your cut keeps that many pages. Put the pages "
        "together first, and cut then.",
    ),
    Mistake(
        "entries of zeros left out",
        lambda store, pages, length: _nonzero(read(store, pages, length)),
        "A key or a value may well be zero. Only `length` says how many entries the "
        "text has.",
    ),
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
