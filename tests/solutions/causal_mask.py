"""The causal mask."""

import torch


def causal_by_loops(T):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(t + 1):
            mask[t, s] = True
    return mask


def causal_by_tril(T):
    return torch.tril(torch.ones(T, T)).bool()


def causal_by_comparison(T):
    places = torch.arange(T)
    return places.unsqueeze(1) >= places


def causal_from_lists(T):
    return torch.tensor([[s <= t for s in range(T)] for t in range(T)])


def causal_by_negation(T):
    return ~torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)


def causal_for_pytorch_mha(T):
    return torch.triu(torch.ones(T, T), diagonal=1) == 1


def causal_columns_first(T):
    places = torch.arange(T)
    return places[None, :] >= places[:, None]


def causal_strict(T):
    places = torch.arange(T)
    return places[:, None] > places[None, :]


def causal_off_by_one(T):
    places = torch.arange(T)
    return places[:, None] + 1 >= places[None, :]


def causal_integers(T):
    return torch.tril(torch.ones(T, T, dtype=torch.long))


def causal_as_float(T):
    return torch.tril(torch.ones(T, T))


RIGHT = [
    causal_by_loops,
    causal_by_tril,
    causal_by_comparison,
    causal_from_lists,
    causal_by_negation,
]
WRONG = [
    (causal_for_pytorch_mha, "a mask with its meaning inverted"),
    (causal_columns_first, "the upper triangle in place of the lower one"),
    (causal_strict, "a mask that hides each token from itself"),
    (causal_off_by_one, "a mask that opens one key of the future"),
    (causal_as_float, "a mask of numbers"),
    (causal_integers, None),
]
