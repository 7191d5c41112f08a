"""Answers to excess_nats by hand g."""

import math

import torch
import torch.nn.functional as F


def right_python_loop(log_q, p):
    """right: a loop over Python floats, summed with fsum, back as a tensor."""
    terms = [
        chance * (math.log(chance) - guess)
        for guess, chance in zip(log_q.tolist(), p.tolist())
        if chance > 0
    ]
    return torch.tensor(math.fsum(terms), dtype=log_q.dtype)


def right_library(log_q, p):
    """right: kl_div with reduction "sum" on the characters that may come."""
    may = p > 0
    return F.kl_div(log_q[may], p[may], reduction="sum")


def right_cross_entropy_minus_entropy(log_q, p):
    """right: the cross-entropy less the entropy, in float64; zeros by where and xlogy."""
    dtype = log_q.dtype
    p, log_q = p.double(), log_q.double()
    surprise = torch.where(p == 0, 0.0, -log_q)
    return (p @ surprise + torch.special.xlogy(p, p).sum()).to(dtype)


def wrong_through_q(log_q, p):
    """wrong: takes q = exp(log_q) and then the logarithm of p / q; q underflows to 0
    for a log_q of -1000, and the result is infinite."""
    q = log_q.exp()
    m = p > 0
    return (p[m] * torch.log(p[m] / q[m])).sum()


def wrong_zero_times_log_zero(log_q, p):
    """wrong: doesn't leave out the characters with p = 0, whose 0 ln 0 is NaN."""
    return (p * (p.log() - log_q)).sum()


def wrong_reverse(log_q, p):
    """wrong: weights with q instead of p and with the sign turned, the sum of
    q ln (q/p) over the characters that may come: the divergence the other way round."""
    m = p > 0
    return (log_q[m].exp() * (log_q[m] - p[m].log())).sum()


def wrong_cross_entropy(log_q, p):
    """wrong: the cross-entropy alone, - sum p ln q; the entropy of p isn't taken off."""
    m = p > 0
    return -(p[m] * log_q[m]).sum()


def wrong_mean(log_q, p):
    """wrong: kl_div's default reduction, the mean over the characters that may come,
    instead of the sum."""
    m = p > 0
    return F.kl_div(log_q[m], p[m], reduction="mean")


def wrong_small_constants(log_q, p):
    """wrong: adds 1e-8 to p and to q = exp(log_q) in the logarithms, which caps the
    loss where the model all but rules out a character; right elsewhere."""
    q = log_q.exp()
    return (p * ((p + 1e-8).log() - (q + 1e-8).log())).sum()


def wrong_renormalized(log_q, p):
    """wrong: normalizes q anew over the characters that may come (log_softmax), so that
    what the model gives to impossible characters costs nothing."""
    m = p > 0
    return (p[m] * (p[m].log() - F.log_softmax(log_q[m], dim=0))).sum()


def wrong_drops_underflow(log_q, p):
    """wrong: leaves out characters whose q = exp(log_q) is 0 as well as those whose p
    is 0, so that a log_q of -1000 costs nothing."""
    q = log_q.exp()
    m = (p > 0) & (q > 0)
    return (p[m] * (p[m] / q[m]).log()).sum()


def wrong_absolute_terms(log_q, p):
    """wrong: sums the absolute values of the terms p ln (p/q), so that characters that
    the model expects too much don't count against the others."""
    m = p > 0
    return (p[m] * (p[m].log() - log_q[m])).abs().sum()


def wrong_bits_and_sign(log_q, p):
    """wrong: two mistakes: the logarithm of q minus that of p, the wrong sign, and
    divided by ln 2, bits instead of nats."""
    m = p > 0
    return (p[m] * (log_q[m] - p[m].log())).sum() / math.log(2)


def wrong_unweighted_and_clamped(log_q, p):
    """wrong: two mistakes: a plain average of ln (p/q) over the characters that may
    come, not weighted with p, and log_q is clamped at -100."""
    m = p > 0
    return (p[m].log() - log_q[m].clamp(min=-100)).mean()


ANSWERS = [
    right_python_loop,
    right_library,
    right_cross_entropy_minus_entropy,
    wrong_through_q,
    wrong_zero_times_log_zero,
    wrong_reverse,
    wrong_cross_entropy,
    wrong_mean,
    wrong_small_constants,
    wrong_renormalized,
    wrong_drops_underflow,
    wrong_absolute_terms,
    wrong_bits_and_sign,
    wrong_unweighted_and_clamped,
]
