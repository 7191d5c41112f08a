"""Mistakes about an excess that are made with its logarithms, or without."""

import math
import sys

import torch

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.excess_rows import (
    along,
    excess,
    kept,
    parts,
    underflowing,
    whole,
)

ZEROS = (
    "ln 0 is minus infinity, and 0 times that is nan; Python's math.log stops with an "
    "error. What can't come costs nothing: leave it out of the sum."
)
UNDERFLOW = (
    "exp makes 0 of a logarithm such as -1000, and what was lost there can't be found "
    "again. ln(p/q) is ln p - ln q, and log_q holds ln q already."
)
CEILING = (
    "The result is finite, but it has a ceiling, where the right one goes on. No small "
    "number is needed: ln(p/q) is ln p - ln q, and log_q holds ln q already."
)
LEAST = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-20, 1e-30)
FLOORS = (  # of log_q
    *map(math.log, LEAST),
    *(math.log(torch.finfo(torch.float32).eps), math.log(sys.float_info.epsilon)),
    *(math.log(torch.finfo(torch.float32).tiny), -100.0, -50.0, -20.0),
)
BASE = (
    "log2 counts in bits, log10 in decimal places, the natural logarithm in nats. Both "
    "logarithms of the difference must be natural ones, as log_q is."
)
ONE_LOGARITHM = "ln(p/q) = ln p - ln q, where log_q is ln q. "
RATIO = (
    "A loss is a difference of two logarithms, ln(p/q) = ln p - ln q. A difference of "
    "probabilities is no loss in nats."
)
SOFTMAX = (
    "Softmax takes logits or logarithms of probabilities. exp(log_q) holds "
    "probabilities already, and softmax would make them nearly equal."
)


def _one_by_one(part):
    """The sum in plain numbers, where Python stops at what makes nan in a tensor."""

    def nats(log_q, p):
        return sum(map(part, log_q.tolist(), p.tolist()))

    return nats


def _where_possible(part):
    return _one_by_one(lambda log_q, p: part(log_q, p) if p else 0.0)


def _difference(log_q, p):
    return p * (math.log(p) - log_q)


def _difference_of_q(log_q, p):
    return p * (math.log(p) - math.log(math.exp(log_q)))


def _quotient(log_q, p):
    return p * math.log(p / math.exp(log_q))


def _clamped(formula, floor):
    return lambda log_q, p: formula(log_q.clamp(min=floor), p)


def _sum(log_q, p):
    return parts(log_q, p).sum()


def _without_underflow(log_q, p):
    log_q, p = kept(log_q, p)
    there = log_q.exp() > 0
    return _sum(log_q[there], p[there])


def _one_for_zero(log_q, p):
    p = torch.where(p > 0, p, torch.ones_like(p))
    return _sum(log_q, p)


MISTAKES = (
    *(
        Mistake("a logarithm of 0 where a character can't come", function, ZEROS)
        for function in (
            _sum,
            lambda log_q, p: _sum(log_q.exp().log(), p),
            *(_clamped(_sum, floor) for floor in FLOORS),
            *map(_one_by_one, (_difference, _difference_of_q, _quotient)),
        )
    ),
    Mistake(
        "a p of 0 that has become 1",
        _one_for_zero,
        "With 1 in the place of 0 the logarithm is safe, but p weighs the sum, too: "
        "there the 0 must stay, or leave these characters out.",
    ),
    *(
        Mistake("a probability that has become 0", function, UNDERFLOW)
        for function in (
            lambda log_q, p: excess(log_q.exp().log(), p),
            lambda log_q, p: parts(log_q.exp().log(), p).nan_to_num().sum(),
            *map(_where_possible, (_difference_of_q, _quotient)),
        )
    ),
    Mistake(
        "characters left out because their q has become 0",
        _without_underflow,
        "These characters may come, and cost the most of all. " + UNDERFLOW,
    ),
    *(
        Mistake(
            "a probability that a small number keeps from 0",
            _clamped(excess, floor),
            CEILING,
        )
        for floor in FLOORS
    ),
    *along(
        "an excess in bits",
        lambda log_q, p: _sum(log_q, p) / math.log(2),
        BASE,
    ),
    *along(
        "logarithms to the base of 10",
        lambda log_q, p: _sum(log_q, p) / math.log(10),
        BASE,
    ),
    *along(
        "one logarithm in bits and one in nats",
        lambda log_q, p: (p * (p.log2() - log_q)).sum(),
        BASE,
        (kept, whole),
    ),
    Mistake(
        "the logarithm of a number below 0",
        lambda log_q, p: (p * (p.log() - log_q.log())).sum(),
        "log_q holds logarithms, none of them above 0, and the logarithm of such a "
        "number is nan. ln(p/q) is ln p - log_q.",
    ),
    *along(
        "q in the place of ln q",
        lambda log_q, p: (p * (p.log() - log_q.exp())).sum(),
        ONE_LOGARITHM + "You take off q itself.",
        (kept, whole),
    ),
    *along(
        "p in the place of ln p",
        lambda log_q, p: (p * (p - log_q)).sum(),
        ONE_LOGARITHM + "You begin with p itself.",
        (kept, underflowing(kept)),
    ),
    *along(
        "a sum of the two logarithms",
        lambda log_q, p: (p * (p.log() + log_q)).sum(),
        "The logarithm of a quotient is a difference: ln(p/q) = ln p - ln q.",
    ),
    *along(
        "a quotient of the two logarithms",
        lambda log_q, p: (p * p.log() / log_q).sum(),
        "The logarithm of a quotient is a difference: ln(p/q) = ln p - ln q.",
        (kept, whole),
    ),
    *along(
        "the logarithm of a mean",
        lambda log_q, p: -(p * log_q.exp()).sum().log(),
        "Each character costs its own logarithm: take ln(p/q) of each first, then the "
        "mean with the weights p.",
        (whole,),
    ),
    *along(
        "the logarithm of a mean",
        lambda log_q, p: (p * p / log_q.exp()).sum().log(),
        "Each character costs its own logarithm: take ln(p/q) of each first, then the "
        "mean with the weights p.",
        (whole,),
    ),
    *along(
        "the logarithm of a quotient of two means",
        lambda log_q, p: (p * p).sum().log() - (p * log_q.exp()).sum().log(),
        "Each character costs its own logarithm: take ln(p/q) of each first, then the "
        "mean with the weights p.",
        (whole,),
    ),
    *(
        Mistake(f"{name} of p and q", function, RATIO)
        for name, function in {
            "the distance": lambda log_q, p: (p - log_q.exp()).abs().sum(),
            "half the distance": lambda log_q, p: (p - log_q.exp()).abs().sum() / 2,
            "a squared difference": lambda log_q, p: (p - log_q.exp()).square().sum(),
            "a weighed difference": lambda log_q, p: (p * (p - log_q.exp())).sum(),
        }.items()
    ),
    *along(
        "an excess put through exp",
        lambda log_q, p: _sum(log_q, p).exp(),
        "That is a factor, by how much the perplexity is too high. In nats it is the "
        "sum itself.",
        (kept, whole),
    ),
    *along(
        "probabilities put through softmax",
        lambda log_q, p: _sum(log_q.exp().log_softmax(-1), p),
        SOFTMAX,
        (whole,),
    ),
    Mistake(
        "probabilities put through softmax",
        lambda log_q, p: excess(log_q.exp().log_softmax(-1), p),
        SOFTMAX,
    ),
    Mistake(
        "true chances put through softmax",
        lambda log_q, p: excess(log_q, p.softmax(-1)),
        "p holds probabilities already. Softmax would give a chance to characters that "
        "can't come.",
    ),
)
