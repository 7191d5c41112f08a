"""Mistakes in the fall of a learning rate along half a wave of the cosine."""

import math

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.schedules import (
    falls,
    half_wave,
    waves,
)

_OVER_ALL = (
    "The half wave begins at the end of the warm-up: count the steps since then, and "
    "divide by how many are left there. Yours jumps down at its first step."
)
_LINE = (
    "That is the linear schedule, which works as well; asked is half a wave of the "
    "cosine."
)

WHERE_IT_IS = (
    Mistake(
        "a cosine over all steps",
        waves(lambda step, steps, _: (step - 1) / steps),
        _OVER_ALL,
    ),
    Mistake(
        "a cosine that is one step ahead",
        waves(lambda step, steps, warmup: (step - warmup) / (steps - warmup)),
        "It reaches 0 with the last step, which then does nothing. Here the rate would "
        "be 0 one step after the last: the first step after the warm-up has done "
        "nothing of the wave yet.",
    ),
    Mistake(
        "a cosine that reaches 0 with the last step",
        waves(lambda step, steps, warmup: (step - 1 - warmup) / (steps - 1 - warmup)),
        "The last step then does nothing. Here the rate would be 0 one step after it: "
        "divide by the number of steps that follow the warm-up.",
    ),
)

HOW_IT_FALLS = (
    Mistake(
        "a wave that is not halved",
        falls(lambda done: 1 + math.cos(math.pi * done)),
        "1 + cos goes from 2 to 0: its half goes from 1 to 0.",
    ),
    Mistake(
        "a quarter of a wave",
        falls(lambda done: math.cos(math.pi * done / 2)),
        "It falls from 1 to 0, too, but is steepest at the end. The half wave is flat "
        "at both ends: (1 + cos(π x)) / 2.",
    ),
    Mistake(
        "a straight line down",
        falls(lambda done: 1 - done),
        _LINE,
    ),
    Mistake(
        "a rate that stays at its highest",
        falls(lambda done: 1.0),
        "Behind the warm-up the rate is to fall along half a wave of the cosine. If "
        "there is a // in your x, that is why: it cuts off what stands behind the "
        "point, so that x is always 0.",
    ),
    Mistake(
        "a fall that ends at a tenth of the highest rate",
        falls(lambda done: 0.1 + 0.9 * half_wave(done)),
        "Many recipes do that. Here the wave goes down to 0, which it would reach one "
        "step after the last.",
    ),
)
