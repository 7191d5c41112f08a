"""A warm-up, then half a wave of the cosine."""

import functools
import math

import numpy as np
import torch


def in_the_warm_up(rate):
    """A solution that is right behind the warm-up."""

    @functools.wraps(rate)
    def solution(step, steps, warmup_steps, highest):
        if step <= warmup_steps:
            return rate(step, steps, warmup_steps, highest)
        return in_two_parts(step, steps, warmup_steps, highest)

    return solution


def behind_it(rate):
    """A solution that is right in the warm-up."""

    @functools.wraps(rate)
    def solution(step, steps, warmup_steps, highest):
        if step <= warmup_steps:
            return in_two_parts(step, steps, warmup_steps, highest)
        return rate(step, steps, warmup_steps, highest)

    return solution


def in_two_parts(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * done)) / 2


def counted_from_zero(step, steps, warmup_steps, highest):
    i = step - 1
    if i < warmup_steps:
        return (i + 1) / warmup_steps * highest
    left = steps - warmup_steps
    return 0.5 * highest * (1.0 + math.cos((i - warmup_steps) * math.pi / left))


def by_the_square_of_half_the_angle(step, steps, warmup_steps, highest):
    if warmup_steps and step <= warmup_steps:
        return highest / warmup_steps * step
    angle = math.pi * (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * math.cos(angle / 2) ** 2


def as_a_table(step, steps, warmup_steps, highest):
    rates = [highest * (i + 1) / warmup_steps for i in range(warmup_steps)]
    wave = torch.linspace(0, math.pi, steps - warmup_steps + 1)[:-1]
    rates += (highest * (1 + wave.cos()) / 2).tolist()
    return rates[step - 1]


def by_pytorch(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=highest)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimizer, steps - warmup_steps
    )
    for _ in range(step - 1 - warmup_steps):
        optimizer.step()
        falling.step()
    return optimizer.param_groups[0]["lr"]


def as_a_numpy_scalar(step, steps, warmup_steps, highest):
    left = np.float32(steps - warmup_steps)
    if step <= warmup_steps:
        return np.float32(highest) * np.float32(step) / np.float32(warmup_steps)
    angle = np.float32(np.pi) * np.float32(step - 1 - warmup_steps) / left
    return np.float32(highest) * (1 + np.cos(angle)) / 2


def as_an_array_without_axes(step, steps, warmup_steps, highest):
    return np.array(in_two_parts(step, steps, warmup_steps, highest))


def a_first_step_of_nothing(step, steps, warmup_steps, highest):
    i = step - 1
    if i < warmup_steps:
        return highest * i / warmup_steps
    return (
        highest
        * 0.5
        * (1 + math.cos(math.pi * (i - warmup_steps) / (steps - warmup_steps)))
    )


def wave_of_the_whole_run(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * (1 + math.cos(math.pi * (step - 1) / steps)) / 2


def ends_at_nothing(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * done)) / 2


def down_to_nothing(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps - 1)
    return highest * (1 + math.cos(math.pi * x)) / 2


def twice_as_high(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * done))


def quarter(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * math.cos(0.5 * math.pi * done)


def line(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * (steps - step + 1) / (steps - warmup_steps)


def flat(step, steps, warmup_steps, highest):
    return highest * min(1, step / max(warmup_steps, 1))


def product(step, steps, warmup_steps, highest):
    rate = highest * (1 + math.cos(math.pi * (step - 1) / steps)) / 2
    if step < warmup_steps:
        rate *= step / warmup_steps
    return rate


def always_divides(step, steps, warmup_steps, highest):
    share = step / warmup_steps
    if share > 1:
        done = (step - 1 - warmup_steps) / (steps - warmup_steps)
        share = (1 + math.cos(math.pi * done)) / 2
    return highest * share


def a_root_of_the_step(step, steps, warmup_steps, highest):
    # The schedule of Vaswani et al. 2017: another fall.
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * (max(warmup_steps, 1) / step) ** 0.5


def smaller_than(step, steps, warmup_steps, highest):
    if step < warmup_steps:
        return highest * step / warmup_steps
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def one_at_least(step, steps, warmup_steps, highest):
    warmup_steps = warmup_steps or 1
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def constant_without(step, steps, warmup_steps, highest):
    try:
        share = step / warmup_steps
    except ZeroDivisionError:
        return highest
    if share <= 1:
        return highest * share
    return in_two_parts(step, steps, warmup_steps, highest)


@behind_it
def whole_numbers_of_waves(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) // (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


@behind_it
def not_below_a_tenth(step, steps, warmup_steps, highest):
    lowest = highest / 10
    wave = in_two_parts(step, steps, warmup_steps, highest) / highest
    return lowest + (highest - lowest) * wave


def two_places(step, steps, warmup_steps, highest):
    return round(in_two_parts(step, steps, warmup_steps, highest), 2)


def four_places(step, steps, warmup_steps, highest):
    return round(in_two_parts(step, steps, warmup_steps, highest), 4)


def as_an_int(step, steps, warmup_steps, highest):
    return int(in_two_parts(step, steps, warmup_steps, highest))


def a_curve_upwards(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * (step / warmup_steps) ** 2
    return in_two_parts(step, steps, warmup_steps, highest)


def never_below_a_thousandth(step, steps, warmup_steps, highest):
    return max(1e-3, in_two_parts(step, steps, warmup_steps, highest))


@in_the_warm_up
def to_the_power(step, steps, warmup_steps, highest):
    return (step / warmup_steps) ** highest


@in_the_warm_up
def by_both(step, steps, warmup_steps, highest):
    return step / (highest * warmup_steps)


@in_the_warm_up
def four_of_them(step, steps, warmup_steps, highest):
    return highest * step / 4


RIGHT = [
    in_two_parts,
    counted_from_zero,
    by_the_square_of_half_the_angle,
    as_a_table,
    by_pytorch,
    as_a_numpy_scalar,
    as_an_array_without_axes,
]
WRONG = [
    (a_first_step_of_nothing, "a warm-up that begins at a rate of 0"),
    (wave_of_the_whole_run, "a cosine over all steps"),
    (ends_at_nothing, "a cosine that is one step ahead"),
    (down_to_nothing, "a cosine that reaches 0 with the last step"),
    (twice_as_high, "a wave that is not halved"),
    (quarter, "a quarter of a wave"),
    (line, "a straight line down"),
    (flat, "a rate that stays at its highest"),
    (product, "a rate that rises and falls at once"),
    (always_divides, "a schedule that needs a warm-up"),
    (smaller_than, "a warm-up that ends one step early"),
    (one_at_least, "a schedule that always warms up for a step"),
    (constant_without, "a constant rate where there is no warm-up"),
    (whole_numbers_of_waves, "a rate that stays at its highest"),
    (not_below_a_tenth, "a fall that ends at a tenth of the highest rate"),
    (two_places, "a rate that is rounded"),
    (four_places, "a rate that is rounded"),
    (as_an_int, "a rate that is rounded"),
    (a_curve_upwards, None),
    (never_below_a_thousandth, None),
    (to_the_power, None),
    (by_both, None),
    (four_of_them, None),
    (a_root_of_the_step, None),
]
