"""Mistakes in the warm-up of a learning rate."""

import math

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.schedules import (
    done,
    down,
    half_wave,
    in_two_parts,
    right,
    up,
)


def _warms(share):
    """Another warm-up, then a right fall."""
    return in_two_parts(share, down)


def _ends_early(step, steps, warmup_steps, highest):
    share = up if step < warmup_steps else lambda *_: down(step, steps, warmup_steps)
    return highest * share(step, warmup_steps)


def _divides_by_zero(step, steps, warmup_steps, highest):
    if step / warmup_steps <= 1:
        return highest * step / warmup_steps
    return highest * down(step, steps, warmup_steps)


def _unless_there_is_none(rate):
    """A right schedule, but for another rate where there is no warm-up."""

    def scheduled(step, steps, warmup_steps, highest):
        if warmup_steps == 0:
            return rate(highest)
        return right(step, steps, warmup_steps, highest)

    return scheduled


def _before_the_fall(rate):
    """Another rate in the warm-up, a function of its share and the highest."""

    def scheduled(step, steps, warmup_steps, highest):
        if step <= warmup_steps:
            return rate(step / warmup_steps, highest)
        return highest * down(step, steps, warmup_steps)

    return scheduled


def _both_at_once(both, share_of):
    """The warm-up's share and another one, put together in every step."""

    def scheduled(step, steps, warmup_steps, highest):
        share = min(1.0, step / warmup_steps) if warmup_steps else 1.0
        return highest * both(share, share_of(step, steps, warmup_steps))

    return scheduled


def _product(one, other):
    return one * other


def _over_all(step, steps, warmup_steps):
    return half_wave((step - 1) / steps)


_FROM_ZERO = (
    "Steps are counted from 1, and a step at rate 0 is a batch computed for nothing: "
    "the first has 1 / warmup_steps of the highest rate."
)
_AHEAD = (
    "Steps are counted from 1, so the first has 1 / warmup_steps of the highest rate. "
    "step + 1 belongs to code that counts from 0."
)
_FALLS = (
    "The first step is to have the smallest rate of the warm-up, 1 / warmup_steps of "
    "the highest, and the last one the highest: step / warmup_steps."
)
_A_WAVE = (
    "Only the fall is a wave. The warm-up rises in equal parts: step / warmup_steps of "
    "the highest."
)
_AT_ONCE = (
    "The two parts follow each other: during the warm-up the cosine has no say, and it "
    "begins at its top in the step after."
)

WARM_UP = (
    Mistake(
        "a schedule without its warm-up",
        lambda step, steps, _, highest: highest * half_wave((step - 1) / steps),
        "In the first warmup_steps steps the rate rises in equal parts: step / "
        "warmup_steps of the highest. The cosine begins behind them.",
    ),
    Mistake(
        "a schedule without its warm-up",
        lambda step, steps, _, highest: highest * half_wave(step / steps),
        "In the first warmup_steps steps the rate rises in equal parts: step / "
        "warmup_steps of the highest. The cosine begins behind them, with an x of 0.",
    ),
    Mistake(
        "a cosine in the warm-up, too",
        lambda step, steps, warmup_steps, highest: (
            highest * half_wave(done(step, steps, warmup_steps))
        ),
        "Behind the warm-up your rate is right. In the warm-up x is below 0, and the "
        "wave rises as it falls later. There the rate is to rise in equal parts: step "
        "/ warmup_steps of the highest.",
    ),
    Mistake(
        "a warm-up that begins at a rate of 0",
        _warms(lambda step, warmup: (step - 1) / warmup),
        _FROM_ZERO,
    ),
    Mistake(
        "a warm-up that begins at a rate of 0",
        _warms(lambda step, warmup: (step - 1) / (warmup - 1)),
        _FROM_ZERO,
    ),
    Mistake(
        "a warm-up that is one step ahead",
        _warms(lambda step, warmup: (step + 1) / (warmup + 1)),
        _AHEAD,
    ),
    Mistake(
        "a warm-up that is one step ahead",
        _warms(lambda step, warmup: (step + 1) / warmup),
        _AHEAD,
    ),
    Mistake(
        "a warm-up that doesn't reach the highest rate",
        _warms(lambda step, warmup: step / (warmup + 1)),
        "The last step of the warm-up has the highest rate: divide by warmup_steps.",
    ),
    Mistake(
        "a warm-up that ends one step early",
        _ends_early,
        "Steps are counted from 1, so step number warmup_steps still belongs to the "
        "warm-up: step <= warmup_steps. In yours it belongs to the cosine, whose x is "
        "below 0 there.",
    ),
    Mistake(
        "a warm-up over all steps",
        lambda step, steps, warmup_steps, highest: (
            highest * step / steps
            if step <= warmup_steps
            else highest * down(step, steps, warmup_steps)
        ),
        "It ends far below the highest rate, and the cosine begins with a jump: divide "
        "by the steps of the warm-up, warmup_steps.",
    ),
    Mistake(
        "a warm-up that divides by //",
        _warms(lambda step, warmup: step // warmup),
        "// cuts off what comes after the point, so step // warmup_steps is 0 up to "
        "the last step of the warm-up. Divide by /.",
    ),
    Mistake(
        "a warm-up that doesn't rise",
        _warms(lambda step, warmup: 1 / warmup),
        "Each step gets the rate of the first one, a single part of the highest. The "
        "second has two such parts, the third has three: multiply by step.",
    ),
    Mistake(
        "a warm-up at the highest rate",
        _warms(lambda step, warmup: 1.0),
        "The rate is to rise to the highest in equal parts: step / warmup_steps of it.",
    ),
    Mistake(
        "a warm-up along a wave",
        _warms(lambda step, warmup: (1 - math.cos(math.pi * step / warmup)) / 2),
        _A_WAVE,
    ),
    Mistake(
        "a warm-up along a wave",
        _warms(lambda step, warmup: (1 - math.cos(math.pi * (step - 1) / warmup)) / 2),
        _A_WAVE,
    ),
    Mistake(
        "a warm-up that falls",
        _warms(lambda step, warmup: warmup / step),
        _FALLS,
    ),
    Mistake(
        "a warm-up that falls",
        _warms(lambda step, warmup: 1 - step / warmup),
        _FALLS,
    ),
    Mistake(
        "a warm-up that falls",
        _warms(lambda step, warmup: 1 - (step - 1) / warmup),
        _FALLS,
    ),
    Mistake(
        "a warm-up up to 1",
        _before_the_fall(lambda share, highest: share),
        "Behind the warm-up your rate is right, but the warm-up goes up to 1: multiply "
        "step / warmup_steps by highest, too.",
    ),
    Mistake(
        "a warm-up that is cut off at the highest rate",
        _before_the_fall(lambda share, highest: min(highest, share)),
        "step / warmup_steps goes up to 1 whatever the highest rate is. Multiply it by "
        "highest; then nothing needs cutting off.",
    ),
    Mistake(
        "a warm-up with highest in it twice",
        _before_the_fall(lambda share, highest: share * highest**2),
        "Behind the warm-up your rate is right, but in the warm-up it is multiplied by "
        "highest twice.",
    ),
    Mistake(
        "a rate that rises and falls at once",
        _both_at_once(_product, _over_all),
        _AT_ONCE,
    ),
    Mistake(
        "a rate that rises and falls at once",
        _both_at_once(_product, lambda step, steps, _: half_wave(step / steps)),
        _AT_ONCE,
    ),
    Mistake(
        "a rate that rises and falls at once",
        _both_at_once(_product, down),
        _AT_ONCE,
    ),
    Mistake(
        "a rate that rises and falls at once",
        _both_at_once(min, _over_all),
        _AT_ONCE,
    ),
    Mistake(
        "a rate that rises and falls at once",
        _both_at_once(min, down),
        _AT_ONCE,
    ),
    Mistake(
        "a schedule that needs a warm-up",
        _divides_by_zero,
        "warmup_steps may be 0. Compare step with warmup_steps before you divide by "
        "it.",
    ),
    Mistake(
        "a schedule that always warms up for a step",
        lambda step, steps, warmup_steps, highest: right(
            step, steps, max(1, warmup_steps), highest
        ),
        "Where warmup_steps is 0, the first step already belongs to the cosine, and "
        "yours begins one step late. max(1, warmup_steps) may stand where you divide "
        "by it, but not in x.",
    ),
    Mistake(
        "a constant rate where there is no warm-up",
        _unless_there_is_none(lambda highest: highest),
        "Without a warm-up the cosine begins in the first step: leave out the rise, "
        "not the fall.",
    ),
    Mistake(
        "a rate of 0 where there is no warm-up",
        _unless_there_is_none(lambda highest: 0.0),
        "Without a warm-up the cosine begins in the first step: leave out the rise, "
        "not the fall.",
    ),
)
