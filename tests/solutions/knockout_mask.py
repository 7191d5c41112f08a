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


RIGHT = [by_index, by_comparison]
WRONG = [
    (for_all, "hidden from other positions, too"),
    (turned, "no knockout"),
    (inverted, "True and False exchanged"),
]
