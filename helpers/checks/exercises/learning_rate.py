"""Exercise of chapter 10: the learning rate of a step, from a warm-up and a cosine."""

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.cosine_mistakes import HOW_IT_FALLS, WHERE_IT_IS
from helpers.checks.exercises.support.schedules import (
    right,
)
from helpers.checks.exercises.support.warm_up_mistakes import WARM_UP


def _steps():
    def case(name, step, steps, warmup_steps, highest):
        return Case(
            name,
            {
                "step": step,
                "steps": steps,
                "warmup_steps": warmup_steps,
                "highest": highest,
            },
        )

    # An odd warm-up, for a cosine that is off by whole numbers; a highest rate other
    # than 1, so that it can't be left out, above 1 and below.
    return [
        case("the first step, no warm-up", 1, 4, 0, 0.5),
        case("the first step of a warm-up", 1, 11, 5, 0.5),
        case("in the middle of a warm-up", 2, 11, 5, 0.5),
        case("the last step of a warm-up", 5, 11, 5, 0.5),
        case("the first step after the warm-up", 6, 11, 5, 0.5),
        case("the second step after the warm-up", 7, 11, 5, 0.5),
        case("halfway down", 9, 11, 5, 0.5),
        case("the last step", 11, 11, 5, 0.5),
        case("a shorter warm-up", 1, 8, 2, 2.0),
        case("as many steps as before, another warm-up", 2, 11, 3, 2.0),
        case("the last step, no warm-up", 5, 5, 0, 2.0),
        case("near the end of a long run", 2300, 2400, 100, 0.1),
    ]


def _rounded(places):
    return lambda *numbers: round(right(*numbers), places)


_ROUNDED = (
    "A learning rate is a small number, and rounding takes a part of it away. Return "
    "it as it is computed; round where you print it."
)

EXERCISE = Exercise(
    name="learning_rate",
    stub="my_learning_rate(step, steps, warmup_steps, highest)",
    asks=(
        "a function of a step from 1 to steps, of the number of steps and of those of "
        "the warm-up, from 0 to steps - 1, and of the highest rate; it returns the "
        "rate of that step."
    ),
    returns={"rate": "a number"},
    reference=right,
    cases=_steps,
    mistakes=(
        *WARM_UP,
        *WHERE_IT_IS,
        *HOW_IT_FALLS,
        *(
            Mistake("a rate that is rounded", _rounded(places), _ROUNDED)
            for places in (None, 1, 2, 3, 4)
        ),
    ),
)
