"""Answers to learning_rate by hand d."""

import math

import numpy as np


def _half_wave(x):
    return (1 + math.cos(math.pi * x)) / 2


def right_one_line(step, steps, warmup_steps, highest):
    """right: one product of a ramp limited to 1 and cos^2 of the half angle, which is the same as (1 + cos(pi x)) / 2, with x held at 0 in the warm-up."""
    return highest * min(1, step / max(1, warmup_steps)) * math.cos(math.pi / 2 * max(0, step - 1 - warmup_steps) / (steps - warmup_steps)) ** 2


def right_whole_schedule(step, steps, warmup_steps, highest):
    """right: builds the whole schedule in NumPy (linspace without its end point) and picks the entry step - 1."""
    up = np.arange(1, warmup_steps + 1) / max(warmup_steps, 1)
    down = (1 + np.cos(np.linspace(0, np.pi, steps - warmup_steps, endpoint=False))) / 2
    return float(highest * np.concatenate([up, down])[step - 1])


def right_counted_from_the_end(step, steps, warmup_steps, highest):
    """right: counts the steps that are left, itself included; the cosine of the mirrored angle is (1 - cos(pi * left / all)) / 2."""
    if step <= warmup_steps:
        return step / warmup_steps * highest
    left = steps + 1 - step
    return highest * (1 - math.cos(math.pi * left / (steps - warmup_steps))) / 2


def cosine_one_step_early(step, steps, warmup_steps, highest):
    """wrong: x = (step - warmup_steps) / (steps - warmup_steps), one step too far: the first step after the warm-up is below highest already and the last is 0."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * _half_wave((step - warmup_steps) / (steps - warmup_steps))


def warmup_from_zero(step, steps, warmup_steps, highest):
    """wrong: the warm-up counts from 0, (step - 1) / warmup_steps: the first rate is 0 and the last of the warm-up is not highest."""
    if step <= warmup_steps:
        return highest * (step - 1) / warmup_steps
    return highest * _half_wave((step - warmup_steps - 1) / (steps - warmup_steps))


def cosine_over_all_steps(step, steps, warmup_steps, highest):
    """wrong: x = (step - 1) / steps, the warm-up is not taken off, so the cosine starts in its middle; right without a warm-up."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * _half_wave((step - 1) / steps)


def quarter_wave(step, steps, warmup_steps, highest):
    """wrong: falls along a quarter of the wave, cos(pi x / 2), in place of (1 + cos(pi x)) / 2."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * math.cos(math.pi / 2 * (step - warmup_steps - 1) / (steps - warmup_steps))


def strict_comparison(step, steps, warmup_steps, highest):
    """wrong: step < warmup_steps in place of <=, so the last step of the warm-up falls into the cosine with a negative x, and gets slightly less than highest; all other steps are right."""
    if step < warmup_steps:
        return highest * step / warmup_steps
    return highest * _half_wave((step - warmup_steps - 1) / (steps - warmup_steps))


def no_warmup_no_schedule(step, steps, warmup_steps, highest):
    """wrong: without a warm-up it returns highest at every step, to avoid a division by 0, and never falls; right for warmup_steps >= 1."""
    if not warmup_steps:
        return highest
    return highest * (step / warmup_steps if step <= warmup_steps else _half_wave((step - warmup_steps - 1) / (steps - warmup_steps)))


def rounded(step, steps, warmup_steps, highest):
    """wrong: rounds the rate to 4 decimals, so that small rates (3e-4 and the like) become coarse or 0."""
    if step <= warmup_steps:
        return round(highest * step / warmup_steps, 4)
    return round(highest * _half_wave((step - warmup_steps - 1) / (steps - warmup_steps)), 4)


def one_at_the_last_step(step, steps, warmup_steps, highest):
    """wrong: x is 1 in the last step already (divisor steps - warmup_steps - 1, at least 1), so its rate is 0; right in the first step after the warm-up."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * _half_wave((step - warmup_steps - 1) / max(1, steps - warmup_steps - 1))


def floor_and_slow_warmup(step, steps, warmup_steps, highest):
    """wrong: two mistakes, the warm-up divides by warmup_steps + 1, so that its last step doesn't reach highest, and the cosine falls to a tenth of highest in place of to 0."""
    if step <= warmup_steps:
        return highest * step / (warmup_steps + 1)
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (0.1 + 0.9 * _half_wave(x))


ANSWERS = [
    right_one_line, right_whole_schedule, right_counted_from_the_end,
    cosine_one_step_early, warmup_from_zero, cosine_over_all_steps, quarter_wave,
    strict_comparison, no_warmup_no_schedule, rounded, one_at_the_last_step,
    floor_and_slow_warmup,
]
