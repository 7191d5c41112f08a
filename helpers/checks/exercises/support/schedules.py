"""Schedules of the learning rate, in parts of which one can be a mistake."""

import math


def in_two_parts(warm, fall):
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


def up(step, warmup_steps):
    """The share in the warm-up."""
    return step / warmup_steps


def done(step, steps, warmup_steps):
    """How much of the fall lies behind a step."""
    return (step - 1 - warmup_steps) / (steps - warmup_steps)


def half_wave(done):
    """The share at a part of the fall."""
    return (1 + math.cos(math.pi * done)) / 2


def down(step, steps, warmup_steps):
    """The share behind the warm-up."""
    return half_wave(done(step, steps, warmup_steps))


right = in_two_parts(up, down)


def waves(done):
    """A right warm-up, then half a wave of another part of the fall."""
    return in_two_parts(up, lambda *numbers: half_wave(done(*numbers)))


def falls(share):
    """A right warm-up, then another share at the right part of the fall."""
    return in_two_parts(up, lambda *numbers: share(done(*numbers)))
