"""How far heads look to what followed the last time."""

import torch


def by_diagonal(weights, n):
    return weights.diagonal(offset=1 - n, dim1=-2, dim2=-1)[:, 2:].mean(dim=-1)


def by_indexing(weights, n):
    rows = torch.arange(n + 1, 2 * n + 1)
    return weights[:, rows, rows - n + 1].mean(dim=1)


def by_loops(weights, n):
    scores = []
    for head in weights:
        total = 0.0
        for i in range(n):
            total += head[n + 1 + i, 2 + i].item()
        scores.append(total / n)
    return torch.tensor(scores)


def by_a_block(weights, n):
    block = weights[:, n + 1 :, 2 : n + 2]
    return block.diagonal(dim1=1, dim2=2).mean(dim=-1)


def by_characters(weights, n):
    ids = torch.cat([torch.zeros(1), torch.arange(1, n + 1).repeat(2)])
    T = len(ids)
    mask = torch.zeros(T, T)
    for t in range(n + 1, T):
        for s in range(1, t + 1):
            mask[t, s] = ids[s - 1] == ids[t]
    return (weights * mask).sum(dim=(1, 2)) / n


def the_same_character(weights, n):
    return weights.diagonal(-n, 1, 2)[:, 1:].mean(-1)


def one_before(weights, n):
    rows = torch.arange(n + 1, 2 * n + 1)
    return weights[:, rows, rows - n - 1].mean(dim=-1)


def no_start(weights, n):
    rows = torch.arange(n, 2 * n)
    return weights[:, rows, rows - n + 1].mean(dim=-1)


def whole_diagonal(weights, n):
    return weights.diagonal(1 - n, 1, 2).mean(-1)


def how_often_largest(weights, n):
    rows = torch.arange(n + 1, 2 * n + 1)
    return (weights[:, n + 1 :].argmax(dim=-1) == rows - n + 1).float().mean(dim=-1)


def columns_for_rows(weights, n):
    rows = torch.arange(n + 1, 2 * n + 1)
    return weights[:, rows - n + 1, rows].mean(dim=-1)


def summed(weights, n):
    rows = torch.arange(n + 1, 2 * n + 1)
    return weights[:, rows, rows - n + 1].sum(dim=-1)


def one_number(weights, n):
    rows = torch.arange(n + 1, 2 * n + 1)
    return weights[:, rows, rows - n + 1].mean()


def without_the_last(weights, n):
    rows = torch.arange(n + 1, 2 * n)
    return weights[:, rows, rows - n + 1].mean(dim=-1)


RIGHT = [by_diagonal, by_indexing, by_loops, by_a_block, by_characters]
WRONG = [
    (the_same_character, "the weight on the earlier occurrence itself"),
    (one_before, "the weight right before the earlier occurrence"),
    (no_start, "a text without its first character"),
    (whole_diagonal, "the whole diagonal, first copy and all"),
    (how_often_largest, "how often the largest weight lies there"),
    (columns_for_rows, "rows and columns swapped"),
    (summed, "the sum in place of the mean"),
    (one_number, "one score for all heads"),
    (without_the_last, "the second copy without its last character"),
]
