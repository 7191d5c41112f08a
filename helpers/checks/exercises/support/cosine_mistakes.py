"""Mistakes in the fall of a learning rate along half a wave of the cosine."""

import math

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.schedules import (
    down,
    falls,
    half_wave,
    in_two_parts,
    up,
    waves,
)


def _after_the_warm_up(rate):
    """Another rate after the warm-up, a function of its share and the highest."""

    def scheduled(step, steps, warmup_steps, highest):
        if step <= warmup_steps:
            return highest * step / warmup_steps
        return rate(down(step, steps, warmup_steps), highest)

    return scheduled


def _half_a_cosine(share):
    """Half a cosine, from the share (1 + cos) / 2."""
    return share - 0.5


_OVER_ALL = (
    "The half wave begins at the end of the warm-up: count the steps since then, and "
    "divide by how many are left there. Yours jumps down at its first step."
)
_FROM_THE_START = (
    "It begins in the middle of the wave, and rises again at the end. Count the steps "
    "since the warm-up."
)
_NEVER_ENDS = (
    "The run ends before the wave does, at a rate well above 0: divide by the number "
    "of steps that follow the warm-up."
)
_PARENTHESES = (
    "A division comes before plus and minus. Put parentheses around all that is "
    "divided, and around all that it is divided by: (step - 1 - warmup_steps) / (steps "
    "- warmup_steps)."
)
_ONLY_THE_COSINE = (
    "Only the cosine is halved, so the rate goes from one and a half down to a half. "
    "Put 1 + cos into parentheses."
)
_ONE_PARENTHESIS = (
    "x stands outside the cosine, so the rate doesn't go along a wave: π times x, both "
    "go into its parentheses."
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
        "a cosine over all steps",
        waves(lambda step, steps, _: step / steps),
        _OVER_ALL,
    ),
    Mistake(
        "a cosine over all steps",
        waves(lambda step, steps, _: (step - 1) / (steps - 1)),
        _OVER_ALL,
    ),
    Mistake(
        "a cosine that counts the steps from the start and divides by the rest",
        waves(lambda step, steps, warmup: (step - 1) / (steps - warmup)),
        _FROM_THE_START,
    ),
    Mistake(
        "a cosine that counts the steps from the start and divides by the rest",
        waves(lambda step, steps, warmup: step / (steps - warmup)),
        _FROM_THE_START,
    ),
    Mistake(
        "a cosine that counts the steps since the warm-up and divides by all",
        waves(lambda step, steps, warmup: (step - 1 - warmup) / steps),
        _NEVER_ENDS,
    ),
    Mistake(
        "a cosine that counts the steps since the warm-up and divides by all",
        waves(lambda step, steps, warmup: (step - warmup) / steps),
        f"{_NEVER_ENDS} And subtract 1, so that x is 0 in the first of these.",
    ),
    Mistake(
        "a cosine that counts the steps since the warm-up and divides by all",
        waves(lambda step, steps, warmup: (step - 1 - warmup) / (steps - 1)),
        _NEVER_ENDS,
    ),
    Mistake(
        "a cosine that is one step ahead",
        waves(lambda step, steps, warmup: (step - warmup) / (steps - warmup)),
        "It reaches 0 with the last step, which then does nothing. Here the rate would "
        "be 0 one step after the last: the first step after the warm-up has done "
        "nothing of the wave yet.",
    ),
    Mistake(
        "a cosine that is two steps ahead",
        waves(lambda step, steps, warmup: (step + 1 - warmup) / (steps - warmup)),
        "In the first step after the warm-up, x is to be 0: step - 1 - warmup_steps. "
        "With parentheses that is step - (warmup_steps + 1).",
    ),
    Mistake(
        "a cosine that reaches 0 with the last step",
        waves(lambda step, steps, warmup: (step - 1 - warmup) / (steps - 1 - warmup)),
        "The last step then does nothing. Here the rate would be 0 one step after it: "
        "divide by the number of steps that follow the warm-up.",
    ),
    Mistake(
        "a cosine that is one step too long",
        waves(lambda step, steps, warmup: (step - 1 - warmup) / (steps - warmup + 1)),
        "x would be 1 two steps after the last. Of all steps, steps - warmup_steps "
        "follow the warm-up: divide by this number.",
    ),
    Mistake(
        "a cosine that is one step too long",
        waves(lambda step, steps, warmup: (step - warmup) / (steps - warmup + 1)),
        "x is to be 0 in the first step after the warm-up, which for yours is one "
        "step before: subtract 1, and divide by steps - warmup_steps, the number of "
        "steps that follow the warm-up.",
    ),
    Mistake(
        "an x that lacks parentheses",
        waves(lambda step, steps, warmup: step - 1 - warmup / (steps - warmup)),
        _PARENTHESES,
    ),
    Mistake(
        "an x that lacks parentheses",
        waves(lambda step, steps, warmup: (step - 1 - warmup) / steps - warmup),
        _PARENTHESES,
    ),
    Mistake(
        "an x that lacks parentheses",
        waves(lambda step, steps, warmup: step - 1 - warmup / steps - warmup),
        _PARENTHESES,
    ),
    Mistake(
        "a cosine of the steps that are left",
        waves(lambda step, steps, warmup: (steps - step) / (steps - warmup)),
        "It rises. x counts the steps that have been made since the warm-up, not those "
        "that are still to come.",
    ),
)

HOW_IT_FALLS = (
    Mistake(
        "a wave that is not halved",
        falls(lambda done: 1 + math.cos(math.pi * done)),
        "1 + cos goes from 2 to 0: its half goes from 1 to 0.",
    ),
    Mistake(
        "a wave of which only the cosine is halved",
        falls(lambda done: 1 + math.cos(math.pi * done) / 2),
        _ONLY_THE_COSINE,
    ),
    Mistake(
        "a wave of which only the cosine is halved",
        _after_the_warm_up(lambda share, highest: highest + _half_a_cosine(share)),
        f"{_ONLY_THE_COSINE} Then all of it is multiplied by highest, too.",
    ),
    Mistake(
        "a wave of which only the 1 is halved",
        falls(lambda done: 1 / 2 + math.cos(math.pi * done)),
        "Half of 1, and all of the cosine: the rate goes from one and a half down to "
        "minus a half. Put 1 + cos into parentheses.",
    ),
    Mistake(
        "half a cosine without its 1",
        falls(lambda done: math.cos(math.pi * done) / 2),
        "It goes from a half down to minus a half. Add 1 to the cosine before you "
        "halve: (1 + cos) / 2 goes from 1 to 0.",
    ),
    Mistake(
        "a cosine that goes on below 0",
        falls(lambda done: math.cos(math.pi * done)),
        "The cosine goes from 1 to -1, and a negative rate climbs uphill. (1 + cos) / "
        "2 goes from 1 to 0.",
    ),
    Mistake(
        "a quarter of a wave",
        falls(lambda done: math.cos(math.pi * done / 2)),
        "It falls from 1 to 0, too, but is steepest at the end. The half wave is flat "
        "at both ends: (1 + cos(π x)) / 2.",
    ),
    Mistake(
        "a whole wave",
        falls(lambda done: half_wave(2 * done)),
        "It reaches 0 halfway, and then comes back up. Half a wave is π long; 2π is "
        "all of it.",
    ),
    Mistake(
        "a cosine without its π",
        falls(lambda done: (1 + math.cos(done)) / 2),
        "math.cos takes radians: half a wave is π long, and 1 is less than a third of "
        "it.",
    ),
    Mistake(
        "a cosine with π in it twice",
        falls(lambda done: half_wave(math.pi * done)),
        "x goes from 0 to 1, and the cosine takes π x. If your x has a π in it "
        "already, leave out the other one.",
    ),
    Mistake(
        "a cosine of degrees",
        falls(lambda done: (1 + math.cos(180 * done)) / 2),
        "math.cos takes radians: half a wave is π, not 180.",
    ),
    Mistake(
        "an x outside the cosine",
        falls(lambda done: (1 + math.cos(math.pi) * done) / 2),
        _ONE_PARENTHESIS,
    ),
    Mistake(
        "an x outside the cosine",
        falls(lambda done: (1 + math.pi * math.cos(done)) / 2),
        "π stands outside the cosine: π times x, both go into its parentheses.",
    ),
    Mistake(
        "a sine",
        falls(lambda done: (1 + math.sin(math.pi * done)) / 2),
        "A sine begins halfway up, and rises first. A cosine begins at its top.",
    ),
    Mistake(
        "a wave that rises",
        falls(lambda done: (1 - math.cos(math.pi * done)) / 2),
        "It begins at 0. Behind the warm-up the rate is to fall: 1 + cos, of an x that "
        "goes from 0 up to 1.",
    ),
    Mistake(
        "a straight line down",
        falls(lambda done: 1 - done),
        _LINE,
    ),
    Mistake(
        "a straight line down",
        in_two_parts(up, lambda step, steps, warmup: (steps - step) / (steps - warmup)),
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
    Mistake(
        "a fall that begins at 1",
        _after_the_warm_up(lambda share, highest: share),
        "Your warm-up is right, but the fall begins at 1: multiply (1 + cos) / 2 by "
        "highest, too.",
    ),
    Mistake(
        "a fall with highest in it twice",
        _after_the_warm_up(lambda share, highest: share * highest**2),
        "Your warm-up is right, but in the fall the rate is multiplied by highest "
        "twice.",
    ),
)
