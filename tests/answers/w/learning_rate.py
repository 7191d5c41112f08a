import math

import numpy as np


def rate_branches(step, steps, warmup_steps, highest):
    """right: two branches, the warm-up first."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def rate_table(step, steps, warmup_steps, highest):
    """right: makes a list of all rates and picks one."""
    rates = [highest * (i + 1) / warmup_steps for i in range(warmup_steps)]
    rest = steps - warmup_steps
    rates += [highest * 0.5 * (1 + math.cos(math.pi * i / rest)) for i in range(rest)]
    return rates[step - 1]


def rate_from_one(step, steps, warmup_steps, highest):
    """wrong: x is (step - warmup) / (steps - warmup), one step too far: not 0 in the first step after the warm-up, and 1 in the last."""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    progress = (step - warmup_steps) / (steps - warmup_steps)
    return highest * 0.5 * (1 + math.cos(math.pi * progress))


def rate_ends_at_zero(step, steps, warmup_steps, highest):
    """wrong: divides by one step less, so x is already 1 in the last step (and a single step after the warm-up divides by 0)."""
    if step <= warmup_steps:
        return step / warmup_steps * highest
    cosine_steps = steps - warmup_steps
    x = (step - warmup_steps - 1) / (cosine_steps - 1)
    return highest * (1 + math.cos(math.pi * x)) / 2


def rate_counts_from_zero(step, steps, warmup_steps, highest):
    """wrong: the warm-up treats steps as counted from 0: it begins with the rate 0 and doesn't reach highest in its last step."""
    if step <= warmup_steps:
        lr = highest * (step - 1) / warmup_steps
    else:
        x = (step - 1 - warmup_steps) / (steps - warmup_steps)
        lr = highest * (1 + np.cos(np.pi * x)) / 2
    return lr


def rate_no_warmup_fails(step, steps, warmup_steps, highest):
    """wrong: computes the warm-up's factor in any case, which divides by 0 where there is no warm-up."""
    factor = min(1.0, step / warmup_steps)
    x = max(0, step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * factor * (1 + math.cos(math.pi * x)) / 2


def rate_strictly_less(step, steps, warmup_steps, highest):
    """wrong: < instead of <=, so the last warm-up step goes to the cosine with a negative x and lies below highest."""
    if step < warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def rate_whole_training(step, steps, warmup_steps, highest):
    """wrong: the cosine runs over all steps instead of those after the warm-up, so it starts below highest (right without a warm-up)."""
    if warmup_steps > 0 and step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - 1) / steps
    return 0.5 * highest * (1 + math.cos(x * math.pi))


ANSWERS = [
    rate_branches,
    rate_table,
    rate_from_one,
    rate_ends_at_zero,
    rate_counts_from_zero,
    rate_no_warmup_fails,
    rate_strictly_less,
    rate_whole_training,
]
