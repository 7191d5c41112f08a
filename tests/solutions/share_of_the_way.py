"""How far a meaning moves a word along an axis."""

import torch


def by_projection(river, money, shore, treasury):
    axis = treasury.mean(0) - shore.mean(0)
    return (money.mean(0) - river.mean(0)) @ axis / axis.pow(2).sum()


def by_unit_vector(river, money, shore, treasury):
    axis = treasury.mean(0) - shore.mean(0)
    unit = axis / axis.norm()
    return ((money @ unit).mean() - (river @ unit).mean()) / axis.norm()


def by_sums(river, money, shore, treasury):
    of = [one.sum(0) / len(one) for one in (river, money, shore, treasury)]
    axis = of[3] - of[2]
    return float(((of[1] - of[0]) * axis).sum() / (axis * axis).sum())


def by_numbers(river, money, shore, treasury):
    axis = (treasury.mean(0) - shore.mean(0)).tolist()
    moved = (money.mean(0) - river.mean(0)).tolist()
    along = sum(a * b for a, b in zip(axis, moved, strict=True))
    return along / sum(a * a for a in axis)


def cosine(river, money, shore, treasury):
    moved = money.mean(0) - river.mean(0)
    axis = treasury.mean(0) - shore.mean(0)
    return torch.cosine_similarity(moved, axis, dim=0)


def undivided(river, money, shore, treasury):
    axis = treasury.mean(0) - shore.mean(0)
    return (money.mean(0) - river.mean(0)) @ axis


def once(river, money, shore, treasury):
    axis = treasury.mean(0) - shore.mean(0)
    return (money.mean(0) - river.mean(0)) @ axis / axis.norm()


RIGHT = [by_projection, by_unit_vector, by_sums, by_numbers]
WRONG = [
    (cosine, "the cosine of the move and the axis"),
    (undivided, "the dot product, not divided"),
    (once, "divided by the axis' norm once"),
]
