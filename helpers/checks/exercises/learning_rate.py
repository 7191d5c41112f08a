"""Exercise of chapter 10: the learning rate of a step, from a warm-up and a cosine."""

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.cosine_mistakes import HOW_IT_FALLS, WHERE_IT_IS
from helpers.checks.exercises.support.schedules import (
    down,
    half_wave,
    in_two_parts,
    right,
    up,
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


def _from_zero(step, steps, warmup_steps, highest):
    """What is right for steps from 0, which reaches 0 at a step that isn't made."""
    share = (step + 1) / (warmup_steps + 1)
    if step >= warmup_steps:
        share = half_wave((step - warmup_steps) / (steps - warmup_steps))
    return highest * share


def _exchanged(step, steps, warmup_steps, highest):
    if step > warmup_steps:
        return highest * up(step, warmup_steps)
    return highest * down(step, steps, warmup_steps)


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
        Mistake(
            "a share of the highest rate",
            lambda step, steps, warmup_steps, highest: right(
                step, steps, warmup_steps, 1.0
            ),
            "The schedule is right, but it goes up to 1: multiply by highest.",
        ),
        Mistake(
            "a rate with highest in it twice",
            lambda step, steps, warmup_steps, highest: right(
                step, steps, warmup_steps, highest**2
            ),
            "The schedule is right, but it goes up to the square of highest: multiply "
            "by highest only once.",
        ),
        Mistake(
            "a schedule for steps that are counted from 0",
            _from_zero,
            "Here they are counted from 1. So the first step of the warm-up is number "
            "1, its last is number warmup_steps, and x is 0 in the step after that.",
        ),
        Mistake(
            "a schedule that is one step ahead",
            lambda step, steps, warmup_steps, highest: right(
                step + 1, steps, warmup_steps, highest
            ),
            "Each step has the rate of the next one. Steps are counted from 1; in a "
            "list of all rates, that of the first stands at place 0.",
        ),
        Mistake(
            "a warm-up and a fall that have changed places",
            _exchanged,
            "The comparison is turned round: the warm-up is where step <= "
            "warmup_steps.",
        ),
        Mistake(
            "a schedule that divides by //",
            in_two_parts(lambda step, warmup: step // warmup, lambda *_: 1.0),
            "// cuts off what comes after the point, so your shares are 0 or 1, and "
            "x is always 0. Divide by /.",
        ),
        *(
            Mistake("a rate that is rounded", _rounded(places), _ROUNDED)
            for places in (None, 1, 2, 3, 4)
        ),
    ),
)
