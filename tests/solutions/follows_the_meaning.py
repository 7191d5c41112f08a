"""In how many pairs a head follows what is meant."""

import torch


def by_comparing(first, second):
    right = (first[:, 0] > first[:, 1]) & (second[:, 0] < second[:, 1])
    return right.float().mean()


def by_loop(first, second):
    count = 0
    for (a, b), (c, d) in zip(first.tolist(), second.tolist(), strict=True):
        if a > b and d > c:
            count += 1
    return count / len(first)


def by_argmax(first, second):
    right = (first.argmax(dim=1) == 0) & (second.argmax(dim=1) == 1)
    return right.sum().item() / len(right)


def by_the_smaller_lead(first, second):
    leads = torch.stack([first[:, 0] - first[:, 1], second[:, 1] - second[:, 0]])
    return (leads.min(dim=0).values > 0).double().mean().item()


def by_sentence(first, second):
    right = torch.cat([first[:, 0] > first[:, 1], second[:, 1] > second[:, 0]])
    return right.float().mean()


def by_change(first, second):
    return (first.argmax(dim=1) != second.argmax(dim=1)).float().mean()


def without_the_swap(first, second):
    return (first[:, 0] > first[:, 1]).float().mean()


RIGHT = [by_comparing, by_loop, by_argmax, by_the_smaller_lead]
WRONG = [
    (by_sentence, "each sentence counted by itself"),
    (by_change, "any change of preference"),
    (without_the_swap, "without the swap"),
]
