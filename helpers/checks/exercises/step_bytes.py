"""Exercise of chapter 15: what a training step sends."""

from helpers.checks.cases import Case
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_any_number
from helpers.checks.exercises.support.ring_mistakes import (
    HOW_MANY_ROUNDS,
    HOW_MUCH_A_ROUND,
    HOW_THEY_ARE_COUNTED,
    sent,
)

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
    cases=_trainings,
    run=call_for_any_number,
    mistakes=(*HOW_MANY_ROUNDS, *HOW_MUCH_A_ROUND, *HOW_THEY_ARE_COUNTED),
)
