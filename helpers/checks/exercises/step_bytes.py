"""Exercise of chapter 15: what a training step sends."""

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_number

NAMES = ("numbers", "bytes_each", "processes", "sharded")


def _trainings():
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


def _call(function, *arguments):
    """A result may be whole or not, and a whole one may come as a float."""
    value = call_for_number(function, *arguments)
    return float(value) if type(value) is int else value


def _sent(
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
    return lambda *arguments: _sent(*arguments, **options)


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
    reference=_sent,
    cases=_trainings,
    run=_call,
    mistakes=(
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
            "gradients that stay where they are",
            _with(split=2.0, plain=0.0),
            "Each process has gradients of its own rows. They have to be added up.",
        ),
        Mistake(
            "one gathering and nothing else",
            _with(split=1.0),
            "Sharded, weights are gathered twice, and gradients reduced and scattered.",
        ),
        Mistake(
            "gradients that are all-reduced, though sharded",
            _with(split=4.0),
            "Each process keeps the sums for its own part alone: that is a "
            "reduce-scatter, half of an all-reduce.",
        ),
        Mistake(
            "the two ways exchanged",
            _with(plain=3.0, split=2.0),
            "Sharded is the one with three rounds.",
        ),
        Mistake(
            "a whole tensor for each round",
            _with(share=lambda N: 1.0),
            "A process never sends the last of the N pieces: it sends N - 1 of them in "
            "a round. With one process nothing is sent at all.",
        ),
        Mistake(
            "a whole tensor for each other process",
            _with(share=lambda N: N - 1),
            "That is what sending everything to everybody would take, or what all "
            "processes send together. In a ring only pieces travel, an N-th of the "
            "tensor each.",
        ),
        Mistake(
            "one piece for each round",
            _with(share=lambda N: 1 / N),
            "An N-th is one piece. In a round, N - 1 of them are sent.",
        ),
        Mistake(
            "a share of one over N - 1",
            _with(share=lambda N: (N - 2) / (N - 1) if N > 1 else 0.0),
            "There are N pieces, of which N - 1 are sent.",
        ),
        Mistake(
            "a share above 1",
            _with(share=lambda N: N / (N - 1) if N > 1 else 0.0),
            "The share is (N - 1) / N, and less than 1.",
        ),
        Mistake(
            "a count of numbers",
            lambda numbers, bytes_each, N, sharded: _sent(numbers, 1, N, sharded),
            "You counted numbers. Each takes bytes_each bytes.",
        ),
        Mistake(
            "a count of bits",
            lambda numbers, bytes_each, N, sharded: _sent(
                numbers, 8 * bytes_each, N, sharded
            ),
            "bytes_each counts bytes; a byte has 8 bits.",
        ),
        Mistake(
            "whole pieces, rounded down",
            lambda numbers, bytes_each, N, sharded: float(
                (3 if sharded else 2) * (N - 1) * (numbers * bytes_each // N)
            ),
            "Where N doesn't divide the tensor, // loses a part of it. Divide with /.",
        ),
        Mistake(
            "a share of whole numbers, which is 0",
            _with(share=lambda N: (N - 1) // N),
            "(N - 1) // N is 0 for every N. Divide with /.",
        ),
    ),
)
