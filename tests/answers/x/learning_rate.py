import math
import torch
import torch.nn.functional as F


def right_1(step, steps, warmup_steps, highest):
    """right: half-angle cos^2"""
    if warmup_steps and step <= warmup_steps:
        return step / warmup_steps * highest
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * math.cos(math.pi * x / 2) ** 2


def right_2(step, steps, warmup_steps, highest):
    """right: builds the whole schedule as a list"""
    up = [highest * (i + 1) / warmup_steps for i in range(warmup_steps)]
    n = steps - warmup_steps
    down = [highest * 0.5 * (1 + math.cos(math.pi * i / n)) for i in range(n)]
    return (up + down)[step - 1]


def wrong_1(step, steps, warmup_steps, highest):
    """wrong: x counted from the last warm-up step: no -1"""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def wrong_2(step, steps, warmup_steps, highest):
    """wrong: x is 1 at the last step: divides by steps - warmup_steps - 1"""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) / max(1, steps - warmup_steps - 1)
    return highest * (1 + math.cos(math.pi * x)) / 2


def wrong_3(step, steps, warmup_steps, highest):
    """wrong: < in place of <=: last warm-up step is treated as cosine"""
    if step < warmup_steps:
        return highest * step / warmup_steps
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def wrong_4(step, steps, warmup_steps, highest):
    """wrong: x runs over all steps, not those after the warm-up"""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - 1 - warmup_steps) / steps
    return highest * (1 + math.cos(math.pi * x)) / 2


def wrong_5(step, steps, warmup_steps, highest):
    """wrong: warm-up divides by warmup_steps + 1"""
    if step <= warmup_steps:
        return highest * step / (warmup_steps + 1)
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * 0.5 * (1 + math.cos(math.pi * x))


def wrong_6(step, steps, warmup_steps, highest):
    """wrong: forgets to halve 1 + cos"""
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x))


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
