"""Mistakes in the warm-up of a learning rate."""

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.schedules import (
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
_AT_ONCE = (
    "The two parts follow each other: during the warm-up the cosine has no say, and it "
    "begins at its top in the step after."
)

WARM_UP = (
    Mistake(
        "a warm-up that begins at a rate of 0",
        _warms(lambda step, warmup: (step - 1) / warmup),
        _FROM_ZERO,
    ),
    Mistake(
        "a warm-up that ends one step early",
        _ends_early,
        "Steps are counted from 1, so step number warmup_steps still belongs to the "
        "warm-up: step <= warmup_steps. In yours it belongs to the cosine, whose x is "
        "below 0 there.",
    ),
    Mistake(
        "a rate that rises and falls at once",
        _both_at_once(_product, _over_all),
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
)
