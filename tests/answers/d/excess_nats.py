"""Answers to excess_nats by hand d."""

import math

import torch
import torch.nn.functional as F


def right_where(log_q, p):
    """right: p times (ln p - log_q), where the bracket is set to 0 at characters that can't come, summed."""
    return (p * torch.where(p > 0, p.log() - log_q, 0.0)).sum()


def right_kl_div(log_q, p):
    """right: F.kl_div with reduction sum, after log_q is set to 0 where p is 0 (so that a log_q of -inf there does no harm)."""
    return F.kl_div(log_q.masked_fill(p == 0, 0.0), p, reduction="sum")


def right_fsum(log_q, p):
    """right: exact sum (math.fsum) over Python floats with p > 0, returned as a float."""
    return math.fsum(a * (math.log(a) - b) for a, b in zip(p.tolist(), log_q.tolist()) if a > 0)


def reverse_kl(log_q, p):
    """wrong: the reverse divergence, sum of q ln(q / p) over the characters that may come."""
    m = p > 0
    return (log_q[m].exp() * (log_q[m] - p[m].log())).sum()


def cross_entropy(log_q, p):
    """wrong: the cross-entropy, -sum p log_q; the entropy of p is not subtracted."""
    m = p > 0
    return -torch.einsum("v,v->", p[m], log_q[m])


def zero_times_minus_inf(log_q, p):
    """wrong: p * (ln p - log_q) over all characters, which is 0 * -inf = nan where p is 0; right where every character may come."""
    return torch.dot(p, p.log() - log_q)


def batchmean(log_q, p):
    """wrong: F.kl_div with reduction batchmean, which divides the sum by the first axis, here vocab_size."""
    return F.kl_div(log_q.masked_fill(p == 0, 0.0), p, reduction="batchmean")


def through_q(log_q, p):
    """wrong: goes through q = exp(log_q), which underflows to 0 for a log_q of -1000, so that the answer is inf."""
    m = p > 0
    return (p[m] * (p[m] / log_q[m].exp()).log()).sum()


def q_made_to_sum_to_one(log_q, p):
    """wrong: normalises log_q again over the characters that may come (log_softmax), so what the model gave to impossible characters is forgiven; right where it gave them nothing."""
    m = p > 0
    return (p[m] * (p[m].log() - log_q[m].log_softmax(0))).sum()


def clamped_like_bce(log_q, p):
    """wrong: log_q is clamped to at least -100, so a log_q of -1000 counts as -100."""
    return (p * torch.where(p > 0, p.log() - log_q.clamp(min=-100), 0.0)).sum()


def skips_the_certain(log_q, p):
    """wrong: only characters with 0 < p < 1 count, so where one character is certain (p = 1) the answer is 0; right elsewhere."""
    m = (p > 0) & (p < 1)
    return (p[m] * (p[m].log() - log_q[m])).sum()


def negative_bits(log_q, p):
    """wrong: two mistakes, the sign is exchanged (ln(q / p) in place of ln(p / q)), and the result is divided by ln 2, bits in place of nats."""
    return sum(a * (b - math.log(a)) for a, b in zip(p.tolist(), log_q.tolist()) if a) / math.log(2)


ANSWERS = [
    right_where, right_kl_div, right_fsum,
    reverse_kl, cross_entropy, zero_times_minus_inf, batchmean,
    through_q, q_made_to_sum_to_one, clamped_like_bce, skips_the_certain,
    negative_bits,
]
