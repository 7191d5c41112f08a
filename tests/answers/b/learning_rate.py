"""Answers to learning_rate by hand b."""

import math

import numpy as np


def right_if_else(step, steps, warmup_steps, highest):
    """right: highest * step / W in the warm-up, then the cosine of (step - W - 1) / (steps - W)."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def right_table(step, steps, warmup_steps, highest):
    """right: makes the whole schedule in NumPy, and returns the step's entry as a float."""
    n = steps - warmup_steps
    up = np.arange(1, warmup_steps + 1) / max(warmup_steps, 1)
    down = 0.5 * (1 + np.cos(np.pi * np.arange(n) / n))
    return float(highest * np.concatenate([up, down])[step - 1])


def right_half_angle(step, steps, warmup_steps, highest):
    """right: the same half wave as the square of cos(pi x / 2); a comparison in place of if."""
    late = step > warmup_steps
    if late:
        angle = math.pi / 2 * (step - 1 - warmup_steps) / (steps - warmup_steps)
        factor = math.cos(angle) ** 2
    else:
        factor = 1 - (warmup_steps - step) / warmup_steps
    return highest * factor


def wrong_starts_one_late(step, steps, warmup_steps, highest):
    """wrong: x is (step - W) / (steps - W): off by one, so the first step after the warm-up is below highest already, and the last has rate 0."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def wrong_warm_up_from_zero(step, steps, warmup_steps, highest):
    """wrong: the warm-up is (step - 1) / W: it starts at 0, and its last step is one part below highest."""
    if step <= warmup_steps:
        return highest * (step - 1) / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def wrong_ignores_warm_up_in_x(step, steps, warmup_steps, highest):
    """wrong: the cosine's x runs over all steps, (step - 1) / steps, as if there had been no warm-up."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * (1 + np.cos(np.pi * (step - 1) / steps)).item() / 2


def wrong_not_halved(step, steps, warmup_steps, highest):
    """wrong: forgets to halve 1 + cos, so the rate after the warm-up is twice too high."""
    if step <= warmup_steps:
        return highest * (step / warmup_steps)
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x))


def wrong_linspace(step, steps, warmup_steps, highest):
    """wrong: x comes from linspace(0, 1, n) with its end: it is 1 in the last step, not in the one that comes after it."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    xs = np.linspace(0, 1, steps - warmup_steps)
    x = xs[step - warmup_steps - 1]
    return float(highest * (1 + np.cos(np.pi * x)) / 2)


def wrong_at_least_one(step, steps, warmup_steps, highest):
    """wrong: without a warm-up (0 steps) it acts as if there were 1, so the cosine starts one step late; right for 1 or more."""
    warm = max(1, warmup_steps)
    if step <= warm:
        return highest * step / warm
    x = (step - warm - 1) / (steps - warm)
    return highest * (1 + math.cos(math.pi * x)) / 2


_schedules = {}


def wrong_old_schedule(step, steps, warmup_steps, highest):
    """wrong: keeps the schedule of an earlier call by the number of steps alone: another warm-up or highest for as many steps gets the old rates."""
    if steps not in _schedules:
        rates = []
        for s in range(1, steps + 1):
            if s <= warmup_steps:
                rates.append(highest * s / warmup_steps)
            else:
                x = (s - warmup_steps - 1) / (steps - warmup_steps)
                rates.append(highest * (1 + math.cos(math.pi * x)) / 2)
        _schedules[steps] = rates
    return _schedules[steps][step - 1]


def wrong_last_of_warm_up(step, steps, warmup_steps, highest):
    """wrong: has step < W for step <= W: the last warm-up step falls to the cosine with x below 0, and is below highest."""
    if step < warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def wrong_whole_parts_and_no_highest(step, steps, warmup_steps, highest):
    """wrong: two mistakes: integer division in the warm-up (0 until its last step), and highest is forgotten in the cosine."""
    if step <= warmup_steps:
        return highest * (step // warmup_steps)
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return (1 + math.cos(math.pi * x)) / 2


ANSWERS = [
    right_if_else,
    right_table,
    right_half_angle,
    wrong_starts_one_late,
    wrong_warm_up_from_zero,
    wrong_ignores_warm_up_in_x,
    wrong_not_halved,
    wrong_linspace,
    wrong_at_least_one,
    wrong_old_schedule,
    wrong_last_of_warm_up,
    wrong_whole_parts_and_no_highest,
]
