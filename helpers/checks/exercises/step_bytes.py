"""Exercise of chapter 15: what a training step sends."""

import math

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_any_number
from helpers.checks.exercises.support.several_ways import several


def sent(
    numbers,
    bytes_each,
    processes,
    sharded,
    *,
    plain=2.0,
    split=3.0,
    share=lambda N: (N - 1) / N,
):
    """Right where nothing is given; each option is one mistake."""
    return (split if sharded else plain) * share(processes) * numbers * bytes_each


def _with(**options):
    return lambda *arguments: sent(*arguments, **options)


def _by(formula):
    """A formula of the number of rounds, the tensor's bytes P and N."""
    return lambda numbers, bytes_each, N, sharded: formula(
        3 if sharded else 2, numbers * bytes_each, N
    )


def _unless_alone(share):
    """A share that whoever wrote it has set to 0 for a single process."""
    return lambda N: share(N) if N > 1 else 0.0


def _of_its_own_part(numbers, bytes_each, N, sharded):
    return sent(numbers, bytes_each, N, sharded) / (N if sharded else 1)


def _in_a_list(numbers, bytes_each, N, sharded, *, an_all_reduce):
    once = (N - 1) / N * numbers * bytes_each
    return [once] * 3 if sharded else an_all_reduce(once)


HOW_MANY_ROUNDS = (
    Mistake(
        "a ring that is walked once",
        _with(plain=1.0),
        "Sharded, you are right. Without, an all-reduce goes round twice: once to "
        "add the pieces up, and once to hand the sums to everybody.",
    ),
    Mistake(
        "weights that are gathered once",
        _with(split=2.0),
        "Sharded weights are forgotten when a block has been computed, and "
        "gathered again on the way back: two gatherings, and the gradients' third.",
    ),
    Mistake(
        "gradients that are all-reduced, though sharded",
        _with(split=4.0),
        "Each process keeps the sums for its own part alone: that is a "
        "reduce-scatter, half of an all-reduce.",
    ),
    Mistake(
        "two rounds for each operation",
        _with(split=6.0),
        "Only an all-reduce goes round twice. Sharded, there is none: each of the two "
        "gatherings goes round once, and so does the reduce-scatter.",
    ),
    Mistake(
        "both ways added up",
        _with(split=5.0),
        "Sharded, the three rounds come in place of the all-reduce's two, and not on "
        "top of them.",
    ),
    Mistake(
        "the two ways exchanged",
        _with(plain=3.0, split=2.0),
        "Sharded is the one with three rounds.",
    ),
    *several(
        "each operation's bytes in a list",
        [
            lambda *arguments: _in_a_list(*arguments, an_all_reduce=lambda x: [2 * x]),
            lambda *arguments: _in_a_list(*arguments, an_all_reduce=lambda x: [x, x]),
        ],
        "The process sends all of them in a step: return their sum, which is one "
        "number.",
    ),
)

HOW_MUCH_A_ROUND = (
    *several(
        "a whole tensor for each round",
        [_with(share=lambda N: 1.0), _with(share=_unless_alone(lambda N: 1.0))],
        "A process never sends the last of the N pieces: it sends N - 1 of them in "
        "a round, and so none where it is alone.",
    ),
    Mistake(
        "a whole tensor for each other process",
        _with(share=lambda N: N - 1),
        "N - 1 whole tensors in a round are what all N processes send together, or "
        "what one process would send if it sent everything to everybody. In a ring, "
        "one process sends N - 1 pieces in a round, each an N-th of the tensor.",
    ),
    *several(
        "one piece for each round",
        [_with(share=lambda N: 1 / N), _with(share=_unless_alone(lambda N: 1 / N))],
        "An N-th is one piece. In a round, N - 1 of them are sent.",
    ),
    *several(
        "a half, whatever the number of processes",
        [_with(share=lambda N: 0.5), _with(share=_unless_alone(lambda N: 0.5))],
        "(N - 1) / N is a half for two processes only. The more there are, the closer "
        "it comes to 1.",
    ),
    *several(
        "the hops of a tree",
        [
            _with(share=lambda N: math.log2(N) / N),
            _with(share=lambda N: math.log2(N) / N, split=2.0),
        ],
        "log2 N hops are what a tree takes. In a ring, a round has N - 1 hops, and "
        "each of them sends one piece.",
    ),
    Mistake(
        "a share of N over N + 1",
        _with(share=lambda N: N / (N + 1)),
        "The process that sends is one of the N. So there are N pieces, of which it "
        "sends N - 1.",
    ),
    Mistake(
        "a share above 1",
        _with(share=_unless_alone(lambda N: N / (N - 1))),
        "The share is (N - 1) / N, and less than 1.",
    ),
    *several(
        "N - 1 without its brackets",
        [
            _by(lambda rounds, P, N: (rounds * N - 1 / N) * P),
            _by(lambda rounds, P, N: rounds * N - 1 / N * P),
            _by(lambda rounds, P, N: rounds * P * N - 1 / N),
            _by(lambda rounds, P, N: rounds * (N - 1 / N) * P),
        ],
        "Python divides before it subtracts, so in N - 1 / N only the 1 is divided. "
        "Write (N - 1) / N.",
    ),
    Mistake(
        "a process that sends though it is alone",
        _with(share=lambda N: max(N - 1, 1) / N),
        "With one process there is nobody to send to: N - 1 is 0 there, and so is the "
        "result.",
    ),
    Mistake(
        "a process's own part in place of the whole model",
        _of_its_own_part,
        "Sharded, you have divided by N once too often. The share (N - 1) / N is one "
        "of the whole model, and not of the part that one process keeps.",
    ),
)

HOW_THEY_ARE_COUNTED = (
    Mistake(
        "a count of numbers",
        lambda numbers, bytes_each, N, sharded: sent(numbers, 1, N, sharded),
        "You counted numbers. Each takes bytes_each bytes.",
    ),
    Mistake(
        "whole pieces, rounded up",
        lambda numbers, bytes_each, N, sharded: float(
            (3 if sharded else 2) * (N - 1) * math.ceil(numbers / N) * bytes_each
        ),
        "The task wants no rounding: a piece is an N-th of the tensor, whether N "
        "divides it or not.",
    ),
    Mistake(
        "a result rounded down",
        _by(lambda rounds, P, N: float(rounds * P * (N - 1) // N)),
        "The task wants no rounding: a fraction of a byte belongs to the result. // "
        "cuts it off, and / doesn't.",
    ),
    Mistake(
        "a share of whole numbers, which is 0",
        _with(share=lambda N: (N - 1) // N),
        "(N - 1) // N is 0 for every N. Divide with /.",
    ),
)


NAMES = ("numbers", "bytes_each", "processes", "sharded")


def _training_runs():
    sizes = {
        "two processes": (1000, 4, 2, False),
        "two processes, sharded": (1000, 4, 2, True),
        "one process": (500, 4, 1, False),
        "one process, sharded": (500, 4, 1, True),
        "four processes": (1200, 2, 4, False),
        "four processes, sharded": (1200, 2, 4, True),
        "a number that three don't divide": (100, 2, 3, False),
        "the same, sharded": (101, 2, 7, True),
        "8 billion numbers on 1,000 GPUs": (8_030_000_000, 2, 1000, False),
        "8 billion numbers on 1,000 GPUs, sharded": (8_030_000_000, 2, 1000, True),
    }
    return [
        Case(name, dict(zip(NAMES, one, strict=True))) for name, one in sizes.items()
    ]


EXERCISE = Exercise(
    name="step_bytes",
    stub="my_step_bytes(numbers, bytes_each, processes, sharded)",
    asks=(
        "a function of how many numbers a model trains, of a number's bytes, of the "
        "number of processes and of whether they share the weights (True) or each "
        "have all of them (False), that returns how many bytes one process sends in a "
        "step, where each operation goes round a ring."
    ),
    returns={"bytes": "a number"},
    reference=sent,
    cases=_training_runs,
    run=call_for_any_number,
    mistakes=(*HOW_MANY_ROUNDS, *HOW_MUCH_A_ROUND, *HOW_THEY_ARE_COUNTED),
)
