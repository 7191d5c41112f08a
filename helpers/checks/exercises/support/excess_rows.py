"""The excess, and mistakes about it that come with several ways to its rows."""

import torch

from helpers.checks.cases import Mistake


def excess(log_q, p):
    """What is lost on average, in nats: the sum of p ln(p/q) where p isn't 0.

    Args:
        log_q: (vocab_size,), natural logarithms of the model's probabilities.
        p: (vocab_size,), the true ones.

    Returns:
        nats: a tensor of one number.
    """
    return (torch.xlogy(p, p) - p * log_q).sum()


def parts(log_q, p):
    """The characters' parts of the excess, nan where p is 0."""
    return p * (p.log() - log_q)


def kept(log_q, p):
    """The rows of the characters that may come."""
    may = p > 0
    return log_q[may], p[may]


def whole(log_q, p):
    """The rows as they are."""
    return log_q, p


def underflowing(rows):
    """The same rows, with log_q taken from q, which may have become 0."""

    def rows_of_q(log_q, p):
        log_q, p = rows(log_q, p)
        return log_q.exp().log(), p

    return rows_of_q


OF_THOSE = (kept, underflowing(kept))
OF_ALL = (whole, underflowing(whole))
ANY = (*OF_THOSE, *OF_ALL)


def along(name, formula, why, ways=ANY):
    """A mistake that comes with several ways to the rows.

    Args:
        name: as of a ``Mistake``.
        formula: a function of log_q and p.
        why: as of a ``Mistake``.
        ways: functions from log_q and p to those rows of them that the formula gets.

    Returns:
        mistakes: a tuple, one for each way.
    """

    def of(rows):
        return lambda log_q, p: formula(*rows(log_q, p))

    return tuple(Mistake(name, of(rows), why) for rows in ways)
