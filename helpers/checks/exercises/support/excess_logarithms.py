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
)
