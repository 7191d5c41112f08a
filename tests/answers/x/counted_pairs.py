import math
import torch
import torch.nn.functional as F


def right_1(pairs):
    """right: plain loops over rows"""
    V = pairs.shape[0]
    came = [float(pairs[:, j].sum()) for j in range(V)]
    kinds = sum(c > 0 for c in came)
    n = sum(came)
    if n + kinds == 0:
        single = [1 / V] * V
    else:
        single = [(c + kinds / V) / (n + kinds) for c in came]
    table = []
    for row in pairs.tolist():
        k = len([c for c in row if c > 0])
        if k == 0:
            table.append(list(single))
        else:
            table.append([(c + k * s) / (sum(row) + k) for c, s in zip(row, single)])
    return torch.tensor(table)


def right_2(pairs):
    """right: interpolation form lam * mle + (1 - lam) * shorter, with clamp"""
    pairs = pairs.float()
    V = pairs.shape[0]

    def step(counts, back):
        n = counts.sum(-1, keepdim=True)
        k = counts.count_nonzero(dim=-1).unsqueeze(-1)
        share = n / (n + k).clamp(min=1)
        return share * (counts / n.clamp(min=1)) + (1 - share) * back

    return step(pairs, step(pairs.sum(0), torch.full((V,), 1 / V)))


def wrong_1(pairs):
    """wrong: sums over the wrong axis for single characters (dim=1: how often followed)"""
    def mix(counts, shorter):
        seen = counts.sum(dim=-1, keepdim=True)
        kinds = (counts > 0).sum(dim=-1, keepdim=True)
        return torch.where(seen > 0, (counts + kinds * shorter) / (seen + kinds), shorter)

    single = mix(pairs.sum(dim=1), 1 / len(pairs))
    return mix(pairs, single)


def wrong_2(pairs):
    """wrong: forgets rows never followed: nan"""
    def mix(counts, shorter):
        seen = counts.sum(-1, keepdim=True)
        kinds = (counts > 0).sum(-1, keepdim=True)
        return (counts + kinds * shorter) / (seen + kinds)

    singles = mix(pairs.sum(0), torch.ones(len(pairs)) / len(pairs))
    return mix(pairs, singles)


def wrong_3(pairs):
    """wrong: rows never followed get an even guess, not the single-character chances"""
    V = len(pairs)
    came = pairs.sum(dim=0)
    kinds = (came > 0).sum()
    single = (came + kinds / V) / (came.sum() + kinds)
    seen = pairs.sum(dim=1, keepdim=True)
    kinds = (pairs > 0).sum(dim=1, keepdim=True)
    table = (pairs + kinds * single) / (seen + kinds)
    return torch.nan_to_num(table, nan=1 / V)


def wrong_4(pairs):
    """wrong: skips the even guess: single = relative frequencies"""
    single = pairs.sum(0) / pairs.sum()
    seen = pairs.sum(-1, keepdim=True)
    kinds = (pairs > 0).sum(-1, keepdim=True)
    mixed = (pairs + kinds * single) / (seen + kinds)
    return torch.where(seen > 0, mixed, single)


def wrong_5(pairs):
    """wrong: forgets 'kinds *' in the numerator: adds p_shorter once"""
    def mixed(counts, shorter):
        seen = counts.sum(dim=-1, keepdim=True)
        kinds = (counts > 0).sum(dim=-1, keepdim=True)
        chances = (counts + shorter) / (seen + kinds)
        return torch.where(seen > 0, chances, shorter)

    single = mixed(pairs.sum(dim=0), 1 / len(pairs))
    return mixed(pairs, single)


def wrong_6(pairs):
    """wrong: counts kinds per column (dim 0) in place of per row"""
    V = len(pairs)
    came = pairs.sum(dim=0)
    k = (came > 0).sum()
    single = (came + k * (1 / V)) / (came.sum() + k)
    seen = pairs.sum(dim=1, keepdim=True)
    kinds = (pairs > 0).sum(dim=0)[:, None]
    out = (pairs + kinds * single) / (seen + kinds)
    return torch.where(seen > 0, out, single)


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
