"""Exercise of chapter 11: what a model loses to the grammar at one position."""

import math
import sys

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_number


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


MISTAKES_EXCESS_LOGARITHMS = (
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


WEIGHTS = (
    "In the long run the grammar decides what comes, and how often: weigh each "
    "character's ln(p/q) by p, then add them up."
)
MEAN = (
    "p has weighed the characters already, so that the sum is a mean. Dividing by a "
    "number of characters once more makes it too small."
)
ENTROPY = (
    "Take off what the best guess loses, the grammar's entropy: minus the sum of p "
    "ln p."
)
OTHERS = (
    "Others may come, too: it is the mean over all of them that is asked for, each "
    "weighed by p."
)
SIGNS = (
    "Where q is above p, the model gains. These gains must be taken off, or an error "
    "is counted twice: once where q is too low, once where it is too high."
)


MISTAKES_EXCESS_SUMS = (
    *along(
        "a divergence the wrong way round",
        lambda log_q, p: (log_q.exp() * (log_q - p.log())).sum(),
        "You weigh with the model's q, and ask what the grammar would lose to it. "
        "What comes is decided by the grammar: the weights are p, and the fraction is "
        "p/q.",
    ),
    *along(
        "the model's loss, with the entropy left in",
        lambda log_q, p: -(p * log_q).sum(),
        "That is the cross-entropy, which is above 0 even where the model agrees with "
        "the grammar. " + ENTROPY,
        OF_THOSE,
    ),
    *along(
        "the mean over the characters that may come",
        lambda log_q, p: parts(log_q, p).mean(),
        MEAN,
        OF_THOSE,
    ),
    *along(
        "the mean over the whole alphabet",
        lambda log_q, p: excess(log_q, p) / len(p),
        MEAN + ' So do the reductions "mean" and "batchmean" of kl_div.',
        OF_ALL,
    ),
    *along(
        "the mean over the whole alphabet",
        lambda log_q, p: parts(log_q, p).mean(),
        MEAN + " Besides, 0 times ln 0 is nan: leave out what can't come.",
        OF_ALL,
    ),
    *along(
        "a sum without signs",
        lambda log_q, p: parts(log_q, p).abs().sum(),
        SIGNS,
    ),
    *along(
        "a sum without its negative parts",
        lambda log_q, p: parts(log_q, p).clamp(min=0).sum(),
        SIGNS,
    ),
    *along(
        "q divided among the characters that may come",
        lambda log_q, p: parts(log_q.log_softmax(-1), p).sum(),
        "What the model gives to characters that can't come is lost, and that loss "
        "counts. Leave q as it is.",
        OF_THOSE,
    ),
)


def _positions():
    generator = torch.Generator().manual_seed(11)

    def case(name, p, q=None, *, log_q=None):
        log_q = torch.tensor(q).log() if log_q is None else torch.as_tensor(log_q)
        return Case(name, {"log_q": log_q, "p": torch.as_tensor(p)})

    def draw(*chances, size=0):
        """Random guesses, and these chances at random ones of as many places."""
        size = max(size, len(chances))
        p = torch.zeros(size)
        p[torch.randperm(size, generator=generator)[: len(chances)]] = torch.tensor(
            chances
        )
        return p, torch.randn(size, generator=generator).log_softmax(-1)

    some, guesses = draw(0.05, 0.1, 0.15, 0.3, 0.4, size=30)
    every, others = draw(0.04, 0.06, 0.1, 0.15, 0.25, 0.4)
    return [
        case("two characters may come", [0.75, 0.25], [0.5, 0.5]),
        case("the model agrees", [0.5, 0.3, 0.2], [0.5, 0.3, 0.2]),
        case("one of three can't come", [0.3, 0.7, 0.0], [0.1, 0.4, 0.5]),
        case("only one can come", [0.0, 1.0, 0.0, 0.0], [0.1, 0.4, 0.3, 0.2]),
        case("the model errs about the likeliest", [0.6, 0.4], [0.2, 0.8]),
        case("5 of 30 characters may come", some, log_q=guesses),
        case("all of 6 may come", every, log_q=others),
        case("a chance next to none", [0.25, 0.75], log_q=[-1000.0, 0.0]),
    ]


EXERCISE = Exercise(
    name="excess_nats",
    stub="my_excess_nats(log_q, p)",
    asks=(
        "a function of the natural logarithms of a model's probabilities, "
        "(vocab_size,), and of the true probabilities, (vocab_size,), some of which "
        "are 0. It returns a number: the nats that the model loses on average, the "
        "sum of p ln(p/q) over the characters that may come. It must stay right where "
        "log_q is minus a thousand."
    ),
    returns={"nats": "a number"},
    reference=excess,
    cases=_positions,
    run=call_for_number,
    mistakes=(*MISTAKES_EXCESS_LOGARITHMS, *MISTAKES_EXCESS_SUMS),
)
