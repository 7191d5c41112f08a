"""A mask for an attention knockout."""

import torch


def by_index(T, asks, hidden):
    allowed = torch.tril(torch.ones(T, T)).bool()
    for one in hidden:
        allowed[asks, one] = False
    return allowed


def by_comparison(T, asks, hidden):
    places = torch.arange(T)
    gone = torch.isin(places, torch.tensor(hidden, dtype=torch.long))
    return (places <= places[:, None]) & ~((places[:, None] == asks) & gone)


def by_rows(T, asks, hidden):
    rows = []
    for t in range(T):
        row = [s <= t and not (t == asks and s in hidden) for s in range(T)]
        rows.append(row)
    return torch.tensor(rows)


def by_product(T, asks, hidden):
    gone = torch.zeros(T, T, dtype=torch.bool)
    gone[asks, hidden] = True
    return torch.ones(T, T, dtype=torch.bool).tril() & ~gone


def for_all(T, asks, hidden):
    allowed = torch.ones(T, T).tril().bool()
    allowed[:, hidden] = False
    return allowed


def turned(T, asks, hidden):
    allowed = torch.ones(T, T).tril().bool()
    allowed[hidden, asks] = False
    return allowed


def inverted(T, asks, hidden):
    return ~by_index(T, asks, hidden)


RIGHT = [by_index, by_comparison, by_rows, by_product]
WRONG = [
    (for_all, "hidden from other positions, too"),
    (turned, "rows and columns swapped"),
    (inverted, "True and False exchanged"),
]
