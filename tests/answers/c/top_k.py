"""Answers to top k by hand c."""

import math

import torch
import torch.nn.functional as F


def right_topk_scatter(logits, k, temperature):
    """right: subtracts the row's maximum, divides by the temperature in float64, torch.topk, softmax of the k values, scattered back to their places."""
    z = logits.double()
    z = (z - z.amax(dim=-1, keepdim=True)) / temperature
    vals, idx = z.topk(k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, idx, vals.softmax(-1).to(logits.dtype))


def right_rank_mask(logits, k, temperature):
    """right: ranks by a double stable argsort, -inf wherever the rank is k or more, softmax in float64, cast back."""
    z = logits.double()
    z = (z - z.max(-1, keepdim=True).values) / temperature
    rank = z.argsort(dim=-1, descending=True, stable=True).argsort(-1)
    return z.masked_fill(rank >= k, -math.inf).softmax(-1).to(logits.dtype)


def right_python_rows(logits, k, temperature):
    """right: plain Python, row by row; sorts the indices, of equal ones it keeps the last, exp of (logit - maximum) / temperature."""
    out = torch.zeros_like(logits)
    for b, row in enumerate(logits.tolist()):
        keep = sorted(range(len(row)), key=lambda i: (row[i], i), reverse=True)[:k]
        top = row[keep[0]]
        es = [math.exp((row[i] - top) / temperature) for i in keep]
        total = math.fsum(es)
        for i, e in zip(keep, es):
            out[b, i] = e / total
    return out


def wrong_threshold(logits, k, temperature):
    """wrong: keeps every logit that is >= the kth largest of its row, so more than k characters where there is a tie at the kth place."""
    z = logits / temperature
    kth = z.topk(k, -1).values[:, -1:]
    return z.masked_fill(z < kth, -torch.inf).softmax(-1)


def wrong_no_renorm(logits, k, temperature):
    """wrong: softmax over all characters first, then cuts to the top k, and never renormalises; rows sum to less than 1."""
    p = (logits / temperature).softmax(-1)
    v, i = p.topk(k, -1)
    return torch.zeros_like(p).scatter_(-1, i, v)


def wrong_times_temperature(logits, k, temperature):
    """wrong: multiplies the logits by the temperature in place of dividing."""
    v, i = (logits * temperature).topk(k, dim=-1)
    return torch.zeros_like(logits).scatter_(-1, i, F.softmax(v, dim=-1))


def wrong_packed_left(logits, k, temperature):
    """wrong: probabilities end up in sorted order in the first k columns, not at their characters' places."""
    v = (logits / temperature).topk(k, dim=-1).values.softmax(-1)
    return F.pad(v, (0, logits.shape[-1] - k))


def wrong_zero_is_dropped(logits, k, temperature):
    """wrong: scatters the kept logits into zeros and takes every 0 for dropped, so a kept logit of exactly 0 gets probability 0 (NaN where it is the only one kept)."""
    z = logits / temperature
    v, i = z.topk(k, -1)
    kept = torch.zeros_like(z).scatter_(-1, i, v)
    return torch.where(kept == 0, torch.full_like(z, -torch.inf), kept).softmax(-1)


def wrong_naive_exp(logits, k, temperature):
    """wrong: exp without subtracting the maximum: overflows to NaN for logits in the thousands, 0/0 for logits far below 0."""
    v, i = (logits / temperature).topk(k, -1)
    e = v.exp()
    return torch.zeros_like(logits).scatter_(-1, i, e / e.sum(-1, keepdim=True))


def wrong_small_fill(logits, k, temperature):
    """wrong: fills the dropped logits with -1000 in place of -inf, so they get weight where the kept scaled logits are near or below -1000."""
    z = logits / temperature
    drop = torch.ones_like(z, dtype=torch.bool).scatter_(-1, z.topk(k, -1).indices, False)
    return z.masked_fill(drop, -1e3).softmax(-1)


def wrong_first_rows_choice(logits, k, temperature):
    """wrong: picks the k characters of row 0 and keeps these same columns in every row; right for the first row only."""
    idx = logits[0].topk(k).indices
    mask = torch.full_like(logits, -torch.inf)
    mask[:, idx] = 0
    return (logits / temperature + mask).softmax(-1)


def wrong_smallest_and_no_temperature(logits, k, temperature):
    """wrong: two mistakes: keeps the k smallest logits (largest=False), and forgets the temperature."""
    v, i = logits.topk(k, dim=-1, largest=False)
    return torch.zeros_like(logits).scatter_(-1, i, v.softmax(dim=-1))


ANSWERS = [
    right_topk_scatter, right_rank_mask, right_python_rows,
    wrong_threshold, wrong_no_renorm, wrong_times_temperature, wrong_packed_left,
    wrong_zero_is_dropped, wrong_naive_exp, wrong_small_fill,
    wrong_first_rows_choice, wrong_smallest_and_no_temperature,
]
