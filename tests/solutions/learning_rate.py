"""A warm-up, then half a wave of the cosine."""

import math

import torch


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


def only_the_wave(step, steps, warmup_steps, highest):
    return 0.5 * highest * (1 + math.cos(math.pi * (step - 1) / steps))


def a_first_step_of_nothing(step, steps, warmup_steps, highest):
    i = step - 1
    if i < warmup_steps:
        return highest * i / warmup_steps
    return (
        highest
        * 0.5
        * (1 + math.cos(math.pi * (i - warmup_steps) / (steps - warmup_steps)))
    )


def one_more_below(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / (warmup_steps + 1)
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (math.cos(done * math.pi) + 1) / 2


def wave_of_the_whole_run(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * (1 + math.cos(math.pi * (step - 1) / steps)) / 2


def too_far_along(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * done)) / 2


def never_arrives(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / steps
    return highest * (1 + math.cos(math.pi * done)) / 2


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


def without_the_highest(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return (1 + math.cos(math.pi * x)) / 2


def twice_as_high(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * done))


def uphill(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * math.cos(math.pi * done)


def quarter(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * math.cos(0.5 * math.pi * done)


def without_pi(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(done)) / 2


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


RIGHT = [
    in_two_parts,
    counted_from_zero,
    by_the_square_of_half_the_angle,
    as_a_table,
    by_pytorch,
]
WRONG = [
    (only_the_wave, "a schedule without its warm-up"),
    (a_first_step_of_nothing, "a warm-up that begins at a rate of 0"),
    (one_more_below, "a warm-up that doesn't reach the highest rate"),
    (wave_of_the_whole_run, "a cosine over all steps"),
    (
        too_far_along,
        "a cosine that counts the steps from the start and divides by the rest",
    ),
    (
        never_arrives,
        "a cosine that counts the steps since the warm-up and divides by all",
    ),
    (ends_at_nothing, "a cosine that is one step ahead"),
    (down_to_nothing, "a cosine that reaches 0 with the last step"),
    (without_the_highest, "a share of the highest rate"),
    (twice_as_high, "a wave that is not halved"),
    (uphill, "a cosine that goes on below 0"),
    (quarter, "a quarter of a wave"),
    (without_pi, "a cosine without its π"),
    (line, "a straight line down"),
    (flat, "a rate that stays at its highest"),
    (product, "a rate that rises and falls at once"),
    (always_divides, "a schedule that needs a warm-up"),
    (a_root_of_the_step, None),
]
