import math
import torch
import torch.nn.functional as F


def right_1(scores):
    """right: exp of x minus logsumexp"""
    log_total = torch.logsumexp(scores, -1).unsqueeze(-1)
    return torch.exp(scores - log_total)


def right_2(scores):
    """right: flattens to rows and loops over them"""
    rows = scores.reshape(-1, scores.shape[-1])
    out = []
    for row in rows:
        e = torch.exp(row - max(row))
        out.append(e / sum(e))
    return torch.stack(out).reshape(scores.shape)


def wrong_1(scores):
    """wrong: subtracts the largest of the whole table, only the sum is per row"""
    exponentials = (scores - scores.max()).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def wrong_2(scores):
    """wrong: max per row, but one sum over the whole table"""
    biggest = scores.max(dim=-1, keepdim=True).values
    e = torch.exp(scores - biggest)
    return e / e.sum()


def wrong_3(scores):
    """wrong: hard-codes dim 1, so wrong for a single row and for many tables"""
    m = scores.max(dim=1, keepdim=True)[0]
    e = torch.exp(scores - m)
    return e / e.sum(dim=1, keepdim=True)


def wrong_4(scores):
    """wrong: subtracts in place and so changes the caller's scores"""
    scores -= scores.amax(-1, keepdim=True)
    e = scores.exp()
    return e / e.sum(-1, keepdim=True)


def wrong_5(scores):
    """wrong: leaves out the subtraction of the maximum (overflow)"""
    exponentials = torch.exp(scores)
    total = exponentials.sum(-1, keepdim=True)
    return exponentials / total


def wrong_6(scores):
    """wrong: divides by the sum of the scores minus max, not of the exponentials (exp forgotten in the denominator)"""
    shifted = scores - scores.amax(dim=-1, keepdim=True)
    return shifted.exp() / shifted.sum(dim=-1, keepdim=True)


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
