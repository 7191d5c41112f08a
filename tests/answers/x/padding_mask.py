import math
import torch
import torch.nn.functional as F


def right_1(lengths, S):
    """right: list comprehension"""
    rows = [[[s < n for s in range(S)]] for n in lengths.tolist()]
    return torch.tensor(rows, dtype=torch.bool)


def right_2(lengths, S):
    """right: view of lengths on the left of >"""
    B = lengths.size(0)
    positions = torch.arange(S).expand(B, 1, S)
    return lengths.view(B, 1, 1) > positions


def wrong_1(lengths, S):
    """wrong: shape (B, S): forgot the query axis"""
    return torch.arange(S) < lengths[:, None]


def wrong_2(lengths, S):
    """wrong: unsqueezed at the end: (B, S, 1)"""
    mask = torch.arange(S) < lengths[:, None]
    return mask.unsqueeze(-1)


def wrong_3(lengths, S):
    """wrong: <= instead of <"""
    return torch.arange(S)[None, None, :] <= lengths[:, None, None]


def wrong_4(lengths, S):
    """wrong: True at padding (inverted)"""
    return (torch.arange(S) >= lengths[:, None]).unsqueeze(1)


def wrong_5(lengths, S):
    """wrong: (1, B, S): None at the front"""
    m = torch.arange(S) < lengths[:, None]
    return m[None]


def wrong_6(lengths, S):
    """wrong: float mask 1.0/0.0 in place of bool"""
    mask = torch.zeros(len(lengths), 1, S)
    for b, n in enumerate(lengths):
        mask[b, 0, :n] = 1
    return mask


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
