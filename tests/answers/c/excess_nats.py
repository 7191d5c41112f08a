"""Answers to excess nats by hand c."""

import math

import torch
import torch.nn.functional as F


def right_masked(log_q, p):
    """right: boolean index where p > 0, then the sum of p (ln p - log_q), a tensor without axes."""
    m = p > 0
    return (p[m] * (p[m].log() - log_q[m])).sum()


def right_kl_div(log_q, p):
    """right: F.kl_div with reduction sum in float64, log_q replaced by 0 where p is 0, cast back."""
    safe = log_q.double().masked_fill(p == 0, 0.0)
    return F.kl_div(safe, p.double(), reduction="sum").to(log_q.dtype)


def right_python_sum(log_q, p):
    """right: plain Python, fsum over the characters with p above 0; returns a float."""
    return math.fsum(b * (math.log(b) - a) for a, b in zip(log_q.tolist(), p.tolist()) if b > 0)


def wrong_reverse(log_q, p):
    """wrong: the other direction: sums q ln(q/p) over the characters that may come, weighted by q and not by p."""
    m = p > 0
    q = log_q[m].exp()
    return (q * (log_q[m] - p[m].log())).sum()


def wrong_cross_entropy(log_q, p):
    """wrong: returns the whole loss, minus the sum of p log_q, and doesn't subtract the entropy of p; right only where p is certain."""
    m = p > 0
    return -(p[m] * log_q[m]).sum()


def wrong_bits(log_q, p):
    """wrong: in bits, divided by ln 2, not in nats."""
    m = p > 0
    return (p[m] * (p[m].log() - log_q[m])).sum() / math.log(2)


def wrong_no_mask(log_q, p):
    """wrong: doesn't leave out the characters with p = 0: 0 times -inf makes the sum NaN."""
    return (p * (p.log() - log_q)).sum()


def wrong_exp_of_log_q(log_q, p):
    """wrong: exponentiates log_q and then takes ln(p/q): q underflows to 0 at a log_q of -1000, the result is inf."""
    q = log_q.exp()
    t = p * torch.log(p / q)
    return t[p > 0].sum()


def wrong_epsilon(log_q, p):
    """wrong: adds 1e-9 to q before the logarithm, so a log_q of -1000 counts as about -20.7."""
    q = log_q.exp() + 1e-9
    return (torch.xlogy(p, p) - p * q.log()).sum()


def wrong_renormalises_q(log_q, p):
    """wrong: renormalises q over the characters that may come (log_softmax on the masked log_q), so what the model spends on impossible ones isn't counted; right where q gives them nothing."""
    m = p > 0
    lq = F.log_softmax(log_q[m], dim=0)
    return (p[m] * (p[m].log() - lq)).sum()


def wrong_negative_terms_dropped(log_q, p):
    """wrong: clamps each term at 0, drops the characters of which the model expects more than their true chance (p ln(p/q) < 0)."""
    m = p > 0
    terms = p[m] * (p[m].log() - log_q[m])
    return terms.clamp(min=0).sum()


def wrong_mean_and_rare_ones(log_q, p):
    """wrong: two mistakes: leaves out all characters with p of 0.01 or less and not only those with 0, and takes the mean over the kept characters in place of the sum."""
    m = p > 0.01
    return (p[m] * (p[m].log() - log_q[m])).mean()


ANSWERS = [
    right_masked, right_kl_div, right_python_sum,
    wrong_reverse, wrong_cross_entropy, wrong_bits, wrong_no_mask,
    wrong_exp_of_log_q, wrong_epsilon, wrong_renormalises_q,
    wrong_negative_terms_dropped, wrong_mean_and_rare_ones,
]
