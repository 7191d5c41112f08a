"""Exercise of chapter 10: the learning rate of a step, from a warm-up and a cosine."""

import math

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


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

    return [
        case("the first step, no warm-up", 1, 4, 0, 1.0),
        case("the first step of a warm-up", 1, 10, 4, 1.0),
        case("in the middle of a warm-up", 2, 10, 4, 1.0),
        case("the last step of a warm-up", 4, 10, 4, 1.0),
        case("the first step after the warm-up", 5, 10, 4, 1.0),
        case("the second step after the warm-up", 6, 10, 4, 1.0),
        case("halfway down", 8, 10, 4, 1.0),
        case("the last step", 10, 10, 4, 1.0),
        case("the last step, no warm-up", 5, 5, 0, 0.01),
        case("a long run", 1300, 2400, 100, 0.004),
    ]


def _rate(warm, fall):
    """A schedule of two parts.

    Args:
        warm: from the step and the number of warm-up steps to a share of the highest.
        fall: from the step, all steps and those of the warm-up to such a share.
    """

    def rate(step, steps, warmup_steps, highest):
        if step <= warmup_steps:
            return highest * warm(step, warmup_steps)
        return highest * fall(step, steps, warmup_steps)

    return rate


def _up(step, warmup_steps):
    return step / warmup_steps


def _done(step, steps, warmup_steps):
    return (step - 1 - warmup_steps) / (steps - warmup_steps)


def _falling(share, done=_done):
    """The fall that goes from what is done to a share."""
    return lambda *numbers: share(done(*numbers))


def _half_wave(done):
    return (1 + math.cos(math.pi * done)) / 2


def _down(step, steps, warmup_steps):
    return _half_wave(_done(step, steps, warmup_steps))


def _both_at_once(step, steps, warmup_steps, highest):
    up = min(1.0, step / warmup_steps) if warmup_steps else 1.0
    return highest * up * _half_wave((step - 1) / steps)


def _divides_by_zero(step, steps, warmup_steps, highest):
    if step / warmup_steps <= 1:
        return highest * step / warmup_steps
    return highest * _down(step, steps, warmup_steps)


EXERCISE = Exercise(
    name="learning_rate",
    stub="my_learning_rate(step, steps, warmup_steps, highest)",
    asks=(
        "a function of a step from 1 to steps, of the number of steps and of those of "
        "the warm-up, which may be 0, and of the highest rate; it returns the rate of "
        "that step."
    ),
    returns={"rate": "a number"},
    reference=_rate(_up, _down),
    cases=_steps,
    mistakes=(
        Mistake(
            "a schedule without its warm-up",
            lambda step, steps, warmup_steps, highest: (
                highest * _half_wave((step - 1) / steps)
            ),
            "In the first warmup_steps steps the rate rises in equal parts: step / "
            "warmup_steps of the highest. The cosine begins behind them.",
        ),
        Mistake(
            "a warm-up that begins at a rate of 0",
            _rate(lambda step, warmup: (step - 1) / warmup, _down),
            "Steps are counted from 1, and a step at rate 0 is a batch computed for "
            "nothing: the first has 1 / warmup_steps of the highest rate.",
        ),
        Mistake(
            "a warm-up that doesn't reach the highest rate",
            _rate(lambda step, warmup: step / (warmup + 1), _down),
            "The last step of the warm-up has the highest rate: divide by "
            "warmup_steps.",
        ),
        Mistake(
            "a cosine over all steps",
            _rate(_up, _falling(_half_wave, lambda step, steps, _: (step - 1) / steps)),
            "The half wave begins at the end of the warm-up: count the steps since "
            "then, and divide by how many are left there. Yours jumps down at its "
            "first step.",
        ),
        Mistake(
            "a cosine that counts the steps from the start and divides by the rest",
            _rate(
                _up,
                _falling(
                    _half_wave,
                    lambda step, steps, warmup: (step - 1) / (steps - warmup),
                ),
            ),
            "It begins in the middle of the wave, and rises again at the end. Count "
            "the steps since the warm-up.",
        ),
        Mistake(
            "a cosine that counts the steps since the warm-up and divides by all",
            _rate(
                _up,
                _falling(
                    _half_wave, lambda step, steps, warmup: (step - 1 - warmup) / steps
                ),
            ),
            "The run ends before the wave does, at a rate well above 0: divide by the "
            "number of steps that follow the warm-up.",
        ),
        Mistake(
            "a cosine that is one step ahead",
            _rate(
                _up,
                _falling(
                    _half_wave,
                    lambda step, steps, warmup: (step - warmup) / (steps - warmup),
                ),
            ),
            "It reaches 0 with the last step, which then does nothing. Here the rate "
            "would be 0 one step after the last: the first step behind the warm-up has "
            "done nothing of the wave yet.",
        ),
        Mistake(
            "a cosine that reaches 0 with the last step",
            _rate(
                _up,
                _falling(
                    _half_wave,
                    lambda step, steps, warmup: (
                        (step - 1 - warmup) / (steps - 1 - warmup)
                    ),
                ),
            ),
            "The last step then does nothing. Here the rate would be 0 one step after "
            "it: divide by the number of steps that follow the warm-up.",
        ),
        Mistake(
            "a share of the highest rate",
            lambda step, steps, warmup_steps, highest: _rate(_up, _down)(
                step, steps, warmup_steps, 1.0
            ),
            "The schedule is right, but it goes up to 1: multiply by highest.",
        ),
        Mistake(
            "a wave that is not halved",
            _rate(_up, _falling(lambda done: 1 + math.cos(math.pi * done))),
            "1 + cos goes from 2 to 0: its half goes from 1 to 0.",
        ),
        Mistake(
            "a cosine that goes on below 0",
            _rate(_up, _falling(lambda done: math.cos(math.pi * done))),
            "The cosine goes from 1 to -1, and a negative rate climbs uphill. (1 + "
            "cos) / 2 goes from 1 to 0.",
        ),
        Mistake(
            "a quarter of a wave",
            _rate(_up, _falling(lambda done: math.cos(math.pi * done / 2))),
            "It falls from 1 to 0, too, but is steepest at the end. The half wave is "
            "flat at both ends: (1 + cos(π done)) / 2.",
        ),
        Mistake(
            "a cosine without its π",
            _rate(_up, _falling(lambda done: (1 + math.cos(done)) / 2)),
            "math.cos takes radians: half a wave is π long, and 1 is less than a third "
            "of it.",
        ),
        Mistake(
            "a cosine of degrees",
            _rate(_up, _falling(lambda done: (1 + math.cos(180 * done)) / 2)),
            "math.cos takes radians: half a wave is π, not 180.",
        ),
        Mistake(
            "a wave that rises",
            _rate(_up, _falling(lambda done: (1 - math.cos(math.pi * done)) / 2)),
            "1 - cos begins at 0. Behind the warm-up the rate is to fall: 1 + cos.",
        ),
        Mistake(
            "a straight line down",
            _rate(_up, _falling(lambda done: 1 - done)),
            "That is the linear schedule, which works as well; asked is half a wave of "
            "the cosine.",
        ),
        Mistake(
            "a rate that stays at its highest",
            _rate(_up, lambda *_: 1.0),
            "Behind the warm-up the rate is to fall along half a wave of the cosine.",
        ),
        Mistake(
            "a rate that rises and falls at once",
            _both_at_once,
            "The two parts follow each other: the cosine is still at its top when the "
            "warm-up ends.",
        ),
        Mistake(
            "a schedule that needs a warm-up",
            _divides_by_zero,
            "warmup_steps may be 0. Compare step with warmup_steps before you divide "
            "by it.",
        ),
    ),
)
