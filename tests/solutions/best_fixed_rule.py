"""How often a fixed place or a fixed distance is right."""

from collections import Counter

import torch


def by_counters(targets, asks):
    shares = []
    for numbers in (targets, asks - targets):
        shares.append(max(Counter(numbers.tolist()).values()) / len(numbers))
    return max(shares)


def by_every_rule(targets, asks):
    best = torch.tensor(0.0)
    for place in range(int(asks.max()) + 1):
        best = torch.maximum(best, (targets == place).float().mean())
        best = torch.maximum(best, (asks - targets == place).float().mean())
    return best


def by_bincount(targets, asks):
    most = torch.stack([targets.bincount().max(), (asks - targets).bincount().max()])
    return (most.max() / len(asks)).item()


def by_sorting(targets, asks):
    most = 0
    for numbers in (targets.tolist(), (asks - targets).tolist()):
        most = max(most, *(numbers.count(one) for one in sorted(set(numbers))))
    return most / len(targets)


def of_positions(targets, asks):
    return targets.bincount().max().item() / len(targets)


def of_distances(targets, asks):
    return (asks - targets).bincount().max().item() / len(targets)


def uncounted(targets, asks):
    return max(targets.bincount().max(), (asks - targets).bincount().max()).item()


RIGHT = [by_counters, by_every_rule, by_bincount, by_sorting]
WRONG = [
    (of_positions, "fixed positions alone"),
    (of_distances, "fixed distances alone"),
    (uncounted, "how many in place of a share"),
]
