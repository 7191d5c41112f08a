"""Answers to learning_rate by hand g."""

import cmath
import math

import torch


def right_if(step, steps, warmup_steps, highest):
    """right: one branch for each part."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def right_whole_schedule(step, steps, warmup_steps, highest):
    """right: builds the list of all rates with torch in float64, and picks one."""
    rise = torch.arange(1, warmup_steps + 1, dtype=torch.float64) / max(1, warmup_steps)
    x = torch.linspace(0, 1, steps - warmup_steps + 1, dtype=torch.float64)[:-1]
    rates = torch.cat([rise, torch.cos(x * math.pi / 2) ** 2]) * highest
    return rates[step - 1].item()


def right_complex_wave(step, steps, warmup_steps, highest):
    """right: counts how many steps are left, and takes the wave from a complex
    exponential; early steps return first."""
    if warmup_steps and step < warmup_steps:
        return highest / warmup_steps * step
    left = (steps + 1 - max(step, warmup_steps + 1)) / (steps - warmup_steps)
    return highest * (1 - cmath.exp(1j * math.pi * left).real) / 2


def wrong_rise_from_zero(step, steps, warmup_steps, highest):
    """wrong: the warm-up begins with 0, (step - 1) / warmup_steps, so that its last
    step doesn't reach the highest rate."""
    if step <= warmup_steps:
        return highest * (step - 1) / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * 0.5 * (1 + math.cos(math.pi * x))


def wrong_x_one_step_late(step, steps, warmup_steps, highest):
    """wrong: x = (step - warmup_steps) / (steps - warmup_steps), one step ahead: not 0
    in the first step after the warm-up, and 1 in the very last one."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps) / (steps - warmup_steps)
    return highest * 0.5 * (1 + math.cos(math.pi * x))


def wrong_not_halved(step, steps, warmup_steps, highest):
    """wrong: leaves out the division by 2 in (1 + cos) / 2, so that the fall begins at
    twice the highest rate."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x))


def wrong_linear(step, steps, warmup_steps, highest):
    """wrong: falls along a straight line, 1 - x, instead of the cosine."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * (steps + 1 - step) / (steps - warmup_steps)


def wrong_floor(step, steps, warmup_steps, highest):
    """wrong: falls only to a tenth of the highest rate, which the task doesn't ask for:
    0.1 + 0.9 times the cosine."""
    lowest = 0.1 * highest
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return lowest + (highest - lowest) * (1 + math.cos(math.pi * x)) / 2


def wrong_last_warmup_step(step, steps, warmup_steps, highest):
    """wrong: the condition is step < warmup_steps instead of <=, so that the last step
    of the warm-up gets the cosine at a negative x, below the highest rate."""
    if step < warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def wrong_no_warmup_crashes(step, steps, warmup_steps, highest):
    """wrong: divides by warmup_steps in every step, which is a ZeroDivisionError where
    there is no warm-up; right otherwise."""
    rise = min(1.0, step / warmup_steps)
    x = max(0, step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * rise * (1 + math.cos(math.pi * x)) / 2


def wrong_floor_division(step, steps, warmup_steps, highest):
    """wrong: x is made with // instead of /, so it is 0 in all steps and the rate stays
    at the highest after the warm-up."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) // (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def wrong_zero_in_last_step_and_rise_to_next(step, steps, warmup_steps, highest):
    """wrong: two mistakes: x divides by steps - warmup_steps - 1, so that it is 1 in
    the last step, not after it (a crash where a single step is left); and the warm-up
    divides by warmup_steps + 1, so that its last step is below the highest rate."""
    if step <= warmup_steps:
        return highest * step / (warmup_steps + 1)
    x = (step - warmup_steps - 1) / (steps - warmup_steps - 1)
    return highest * (1 + math.cos(math.pi * x)) / 2


def wrong_wave_over_all_steps(step, steps, warmup_steps, highest):
    """wrong: the wave runs over all steps, x = (step - 1) / steps, and is multiplied
    with the warm-up, so that the rise isn't in equal parts and the highest rate isn't
    reached; right without a warm-up."""
    rise = 1.0 if step >= warmup_steps else step / warmup_steps
    return rise * highest * (1 + math.cos(math.pi * (step - 1) / steps)) / 2


ANSWERS = [
    right_if,
    right_whole_schedule,
    right_complex_wave,
    wrong_rise_from_zero,
    wrong_x_one_step_late,
    wrong_not_halved,
    wrong_linear,
    wrong_floor,
    wrong_last_warmup_step,
    wrong_no_warmup_crashes,
    wrong_floor_division,
    wrong_zero_in_last_step_and_rise_to_next,
    wrong_wave_over_all_steps,
]
