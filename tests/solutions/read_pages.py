"""A text's entries, from pages that lie anywhere."""

import torch


def by_index(store, pages, length):
    return store[pages].reshape(-1, store.shape[-1])[:length]


def by_concatenation(store, pages, length):
    return torch.cat([store[page] for page in pages])[:length]


def by_places(store, pages, length):
    places = torch.arange(length)
    size = store.shape[1]
    return store[torch.tensor(pages)[places // size], places % size]


def by_loops(store, pages, length):
    entries = torch.empty(length, store.shape[2])
    for i in range(length):
        page, place = divmod(i, store.shape[1])
        entries[i] = store[pages[page], place]
    return entries


def by_index_select(store, pages, length):
    found = store.index_select(0, torch.tensor(pages))
    return found.flatten(end_dim=1).narrow(0, 0, length)


def by_stacking(store, pages, length):
    """A stack of no rows is an error, but a text has one position at least."""
    rows = [row for page in pages for row in store[page]]
    return torch.stack(rows[:length])


def leftovers_kept(store, pages, length):
    return torch.cat([store[page] for page in pages])


def in_sorted_order(store, pages, length):
    return torch.cat([store[page] for page in sorted(pages)])[:length]


def first_pages(store, pages, length):
    return store[: len(pages)].flatten(0, 1)[:length]


def last_rows(store, pages, length):
    rows = torch.cat([store[page] for page in pages])
    return rows[len(rows) - length :]


def no_half_page(store, pages, length):
    size = store.shape[1]
    return store[pages].flatten(0, 1)[: length // size * size]


def in_turn(store, pages, length):
    return store[pages].transpose(0, 1).reshape(-1, store.shape[-1])[:length]


def one_short(store, pages, length):
    rows = torch.cat([store[page] for page in pages])
    return rows[: max(0, length - 1)]


RIGHT = [
    *(by_index, by_concatenation, by_places, by_loops, by_index_select),
    by_stacking,
]
WRONG = [
    (leftovers_kept, "all entries of its pages"),
    (in_sorted_order, "pages in the store's order"),
    (first_pages, "the first pages of the store"),
    (last_rows, "the last positions in place of the first"),
    (no_half_page, "full pages alone"),
    (in_turn, "positions that take turns among the pages"),
    (one_short, "one entry too few"),
]
