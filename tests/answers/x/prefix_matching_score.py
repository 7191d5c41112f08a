import math
import torch
import torch.nn.functional as F


def right_1(weights, n):
    """right: diagonal with an offset"""
    lower = weights[:, n + 1:, 2:n + 2]
    return torch.diagonal(lower, dim1=1, dim2=2).mean(1)


def right_2(weights, n):
    """right: python loops"""
    result = []
    for head in weights:
        s = 0.0
        for i in range(1, n + 1):
            s = s + head[n + i, i + 1]
        result.append(s / n)
    return torch.stack(result)


def wrong_1(weights, n):
    """wrong: the earlier occurrence itself, not the place after it"""
    rows = torch.arange(n + 1, 2 * n + 1)
    return weights[:, rows, rows - n].mean(dim=-1)


def wrong_2(weights, n):
    """wrong: rows from n to 2n - 1: forgot the first character"""
    rows = torch.arange(n, 2 * n)
    cols = rows - n + 1
    return weights[:, rows, cols].mean(-1)


def wrong_3(weights, n):
    """wrong: the place before the earlier occurrence"""
    rows = torch.arange(n + 1, 2 * n + 1)
    cols = rows - n - 1
    return weights[:, rows, cols].mean(dim=-1)


def wrong_4(weights, n):
    """wrong: leaves out the last position of the second copy"""
    rows = torch.arange(n + 1, 2 * n)
    return weights[:, rows, rows - n + 1].mean(dim=-1)


def wrong_5(weights, n):
    """wrong: slices give a block, not pairs: mean over all rows and columns"""
    block = weights[:, n + 1 : 2 * n + 1, 2 : n + 2]
    return block.mean(dim=(-2, -1))


def wrong_6(weights, n):
    """wrong: sum, not mean"""
    score = torch.zeros(weights.shape[0])
    for t in range(n + 1, 2 * n + 1):
        score += weights[:, t, t - n + 1]
    return score


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
