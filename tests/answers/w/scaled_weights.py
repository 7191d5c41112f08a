import math

import numpy as np
import torch

from helpers import attention


def weights_simple(queries, keys):
    """right: product with the transposed keys, division by the root of D, the book's softmax."""
    scores = queries @ keys.transpose(-2, -1)
    return attention.softmax(scores / math.sqrt(queries.shape[-1]))


def weights_own_softmax(q, k):
    """right: einsum with an ellipsis and a softmax of its own, shifted by each row's maximum."""
    D = q.size(-1)
    s = torch.einsum("...td,...sd->...ts", q, k).div(D ** 0.5)
    s = s - s.amax(-1, keepdim=True)
    e = s.exp()
    return e / e.sum(-1, keepdim=True)


def weights_whole_root(queries, keys):
    """wrong: takes the whole-number root of D (isqrt), right only for widths such as 4, 16, 64."""
    D = keys.shape[-1]
    scores = queries @ keys.mT
    return attention.softmax(scores / math.isqrt(D))


def weights_shape_1(queries, keys):
    """wrong: takes D from axis 1, which is the width for two axes, but T or another axis when a batch comes first."""
    d = queries.shape[1]
    scores = torch.matmul(queries, keys.transpose(-1, -2))
    scores = scores / np.sqrt(d)
    return torch.softmax(scores, dim=-1)


def weights_batch_only(queries, keys):
    """wrong: transposes axes 1 and 2, which works for exactly three axes and fails for two or four."""
    scores = queries @ keys.transpose(1, 2)
    scores = scores / math.sqrt(queries.shape[-1])
    return attention.softmax(scores)


def weights_clamped(queries, keys):
    """wrong: limits the scaled scores to [-50, 50] against overflow, so scores beyond it become ties."""
    D = queries.shape[-1]
    scores = (queries @ keys.transpose(-2, -1)) / math.sqrt(D)
    scores = torch.clamp(scores, -50.0, 50.0)   # exp overflows otherwise
    e = torch.exp(scores)
    return e / e.sum(dim=-1, keepdim=True)


def weights_shift_unscaled(queries, keys):
    """wrong: takes exponentials of the unshifted scores and divides by the largest one only afterwards, so they overflow to NaN for scores in the thousands."""
    D = queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1) / D ** 0.5
    exps = scores.exp()
    biggest = scores.max(dim=-1, keepdim=True).values.exp()
    exps = exps / biggest
    return exps / exps.sum(dim=-1, keepdim=True)


def weights_both_divided(queries, keys):
    """wrong: divides queries and keys each by the root of D, so the scores are divided by D altogether (shows for D > 1)."""
    root = math.sqrt(queries.shape[-1])
    queries = queries / root
    keys = keys / root
    return attention.softmax(queries @ keys.transpose(-2, -1))


ANSWERS = [
    weights_simple,
    weights_own_softmax,
    weights_whole_root,
    weights_shape_1,
    weights_batch_only,
    weights_clamped,
    weights_shift_unscaled,
    weights_both_divided,
]
