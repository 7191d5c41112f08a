"""Answers to top p by hand c."""

import math

import torch
import torch.nn.functional as F


def right_sorted_cumsum(logits, p):
    """right: sort, exclusive cumsum below p keeps, first one always kept, scatter back, renormalise; float64 inside."""
    probs = logits.double().softmax(-1)
    s, order = probs.sort(dim=-1, descending=True)
    before = F.pad(s.cumsum(-1)[:, :-1], (1, 0))
    keep = before < p
    keep[:, 0] = True
    s = s * keep
    s = s / s.sum(-1, keepdim=True)
    return torch.zeros_like(s).scatter_(-1, order, s).to(logits.dtype)


def right_row_loop(logits, p):
    """right: Python loop over each row: takes the most probable characters one by one until the sum is at least p."""
    out = torch.zeros_like(logits)
    for b, row in enumerate(logits.tolist()):
        m = max(row)
        e = [math.exp(v - m) for v in row]
        z = math.fsum(e)
        q = [v / z for v in e]
        kept, mass = [], 0.0
        for i in sorted(range(len(q)), key=q.__getitem__, reverse=True):
            kept.append(i)
            mass += q[i]
            if mass >= p:
                break
        for i in kept:
            out[b, i] = q[i] / mass
    return out


def right_pairwise(logits, p):
    """right: without sorting: compares all pairs, sums the mass ahead of each character (of equal ones the lower index is ahead), keeps those with less than p ahead."""
    q = logits.double().softmax(-1)
    v = q.shape[-1]
    pos = torch.arange(v, device=q.device)
    tie = (q[:, None, :] == q[:, :, None]) & (pos[None, :] < pos[:, None])
    ahead = (q[:, None, :] > q[:, :, None]) | tie  # [b, i, j]: j comes before i
    mass = torch.einsum("bij,bj->bi", ahead.to(q.dtype), q)
    keep = (mass < p) | ~ahead.any(-1)
    q = q.masked_fill(~keep, 0.0)
    return (q / q.sum(-1, keepdim=True)).to(logits.dtype)


def wrong_without_crossing(logits, p):
    """wrong: leaves out the character that crosses p (keeps cumsum < p), except that it always keeps the first."""
    s, order = logits.softmax(-1).sort(-1, descending=True)
    keep = s.cumsum(-1) < p
    keep[:, 0] = True
    s = s * keep
    return torch.zeros_like(s).scatter_(-1, order, s / s.sum(-1, keepdim=True))


def wrong_forgot_renorm(logits, p):
    """wrong: cuts the tail rightly but doesn't renormalise, so the rows don't sum to 1."""
    s, order = logits.softmax(-1).sort(-1, descending=True)
    before = s.cumsum(-1) - s
    s = s.masked_fill(before >= p, 0.0)
    return torch.zeros_like(s).scatter_(-1, order, s)


def wrong_gather_back(logits, p):
    """wrong: puts the sorted probabilities back by gather(order) in place of scatter, i.e. applies the permutation again and not its inverse."""
    s, order = logits.softmax(-1).sort(-1, descending=True)
    before = s.cumsum(-1) - s
    s = s.masked_fill(before >= p, 0.0)
    s = s / s.sum(-1, keepdim=True)
    return s.gather(-1, order)


def wrong_ascending(logits, p):
    """wrong: sorts ascending, so it keeps the least probable characters until their sum reaches p."""
    s, order = logits.softmax(-1).sort(-1)
    before = s.cumsum(-1) - s
    s = s * (before < p)
    s = s / s.sum(-1, keepdim=True)
    return torch.zeros_like(s).scatter_(-1, order, s)


def wrong_ties_at_cut(logits, p):
    """wrong: takes the probability of the crossing character as a threshold and keeps all that are >= it, so equal ones beyond the cut stay in too."""
    q = logits.softmax(-1)
    s = q.sort(-1, descending=True).values
    n = ((s.cumsum(-1) - s) < p).sum(-1, keepdim=True).clamp(min=1)
    q = q.masked_fill(q < s.gather(-1, n - 1), 0)
    return q / q.sum(-1, keepdim=True)


def wrong_row_zero_count(logits, p):
    """wrong: counts how many characters row 0 needs to reach p and keeps that many in every row."""
    s, order = logits.softmax(-1).sort(-1, descending=True)
    n = max(1, int(((s[0].cumsum(0) - s[0]) < p).sum()))
    top = s[:, :n] / s[:, :n].sum(-1, keepdim=True)
    return torch.zeros_like(s).scatter_(-1, order[:, :n], top)


def wrong_exp_overflow(logits, p):
    """wrong: own softmax by exp without subtracting the maximum: NaN for logits in the thousands, above or below 0."""
    q = torch.exp(logits)
    q = q / q.sum(-1, keepdim=True)
    s, order = q.sort(-1, descending=True)
    s = s.where(s.cumsum(-1) - s < p, torch.zeros_like(s))
    return torch.zeros_like(q).scatter_(-1, order, s / s.sum(-1, keepdim=True))


def wrong_softmax_on_minus_thousand(logits, p):
    """wrong: writes -1000 in place of -inf into the cut logits before the second softmax, so they revive where the kept logits are near or below -1000."""
    z, order = logits.sort(-1, descending=True)
    s = z.softmax(-1)
    cut = (s.cumsum(-1) - s) >= p
    cut[:, 0] = False
    s = z.masked_fill(cut, -1e3).softmax(-1)
    return torch.zeros_like(s).scatter_(-1, order, s)


def wrong_one_more_and_column_norm(logits, p):
    """wrong: two mistakes: keeps one character more than the crossing one, and normalises down the columns (dim 0, over the batch) at the end."""
    s, order = logits.softmax(-1).sort(-1, descending=True)
    keep = (s.cumsum(-1) - s) < p
    keep = torch.cat([torch.ones_like(keep[:, :1]), keep[:, :-1]], dim=-1)
    q = torch.zeros_like(s).scatter_(-1, order, s * keep)
    return q / q.sum(0, keepdim=True).clamp(min=1e-30)


ANSWERS = [
    right_sorted_cumsum, right_row_loop, right_pairwise,
    wrong_without_crossing, wrong_forgot_renorm, wrong_gather_back,
    wrong_ascending, wrong_ties_at_cut, wrong_row_zero_count,
    wrong_exp_overflow, wrong_softmax_on_minus_thousand,
    wrong_one_more_and_column_norm,
]
