"""Exercise of chapter 11: what a model loses to the grammar at one position."""

import torch

from helpers.checks.cases import Case
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support import excess_logarithms, excess_sums
from helpers.checks.exercises.support.calling_for_numbers import call_for_number
from helpers.checks.exercises.support.excess_rows import excess


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
    mistakes=(*excess_logarithms.MISTAKES, *excess_sums.MISTAKES),
)
