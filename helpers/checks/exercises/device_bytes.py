"""Exercise of chapter 15: what a device holds in training."""

from helpers.checks.cases import Case
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_any_number
from helpers.checks.exercises.support.gathering_mistakes import WHAT_IS_GATHERED
from helpers.checks.exercises.support.memory_mistakes import (
    WHAT_A_PARAMETER_TAKES,
    WHAT_IS_DIVIDED,
    held,
)

NAMES = ("parameters", "block_parameters", "devices", "sharded")


def _trainings():
    llama = (8_030_000_000, 218_112_000, 1024)
    sizes = {
        "one device": (40, 10, 1, False),
        "one device, sharded": (40, 10, 1, True),
        "two devices": (40, 10, 2, False),
        "two devices, sharded": (40, 10, 2, True),
        "four devices": (100, 20, 4, False),
        "four devices, sharded": (100, 20, 4, True),
        "a number that three don't divide": (100, 10, 3, True),
        "a number that seven don't divide": (103, 22, 7, True),
        "8 billion parameters on 1,024 devices": (*llama, False),
        "8 billion parameters on 1,024 devices, sharded": (*llama, True),
    }
    return [
        Case(name, dict(zip(NAMES, one, strict=True))) for name, one in sizes.items()
    ]


EXERCISE = Exercise(
    name="device_bytes",
    stub="my_device_bytes(parameters, block_parameters, devices, sharded)",
    asks=(
        "a function of how many parameters a model has, of how many of them one block "
        "has, of the number of devices and of whether these share the model (True) or "
        "each have all of it (False), that returns how many bytes of weights, "
        "gradients and optimizer a device holds at most."
    ),
    returns={"bytes": "a number"},
    reference=held,
    cases=_trainings,
    run=call_for_any_number,
    mistakes=(*WHAT_A_PARAMETER_TAKES, *WHAT_IS_DIVIDED, *WHAT_IS_GATHERED),
)
