"""How fast pairs turn after NTK-aware scaling."""

import math

import torch


def by_base(head_dim, factor):
    base = 10_000 * factor ** (head_dim / (head_dim - 2))
    return base ** (-2 * torch.arange(head_dim // 2) / head_dim)


def by_loop(head_dim, factor):
    base = 10000.0 * math.pow(factor, head_dim / (head_dim - 2))
    speeds = torch.zeros(head_dim // 2)
    for n in range(head_dim // 2):
        speeds[n] = 1 / base ** (2 * n / head_dim)
    return speeds


def by_steps_of_two(head_dim, factor):
    exponents = torch.arange(0, head_dim, 2).float() / head_dim
    base = 10000 * factor ** (head_dim / (head_dim - 2))
    return torch.exp(-exponents * math.log(base))


def by_slowing_down(head_dim, factor):
    pairs = torch.arange(head_dim // 2)
    trained = 10_000.0 ** (-2 * pairs / head_dim)
    return trained / factor ** (2 * pairs / (head_dim - 2))


def interpolated(head_dim, factor):
    return 10_000 ** (-2 * torch.arange(head_dim // 2) / head_dim) / factor


def forgot_the_factor(head_dim, factor):
    return by_base(head_dim, 1)


def times_the_factor(head_dim, factor):
    base = 10_000 * factor
    return base ** (-2 * torch.arange(head_dim // 2) / head_dim)


def upside_down(head_dim, factor):
    base = 10_000 * factor ** ((head_dim - 2) / head_dim)
    return base ** (-2 * torch.arange(head_dim // 2) / head_dim)


def divided(head_dim, factor):
    base = 10_000 / factor ** (head_dim / (head_dim - 2))
    return base ** (-2 * torch.arange(head_dim // 2) / head_dim)


def brackets(head_dim, factor):
    base = (10_000 * factor) ** (head_dim / (head_dim - 2))
    return base ** (-2 * torch.arange(head_dim // 2) / head_dim)


def of_features(head_dim, factor):
    base = 10_000 * factor ** (head_dim / (head_dim - 2))
    return base ** (-torch.arange(head_dim) / head_dim)


def turns(head_dim, factor):
    return 2 * math.pi / by_base(head_dim, factor)


def with_plus(head_dim, factor):
    base = 10_000 * factor ** (head_dim / (head_dim - 2))
    return base ** (2 * torch.arange(head_dim // 2) / head_dim)


RIGHT = [by_base, by_loop, by_steps_of_two, by_slowing_down]
WRONG = [
    (interpolated, "every pair slower by the factor"),
    (forgot_the_factor, "the base as it was"),
    (times_the_factor, "the base times the factor"),
    (upside_down, "the exponent upside down"),
    (divided, "the base divided in place of multiplied"),
    (brackets, "the base multiplied before the power"),
    (of_features, "a speed for each feature in place of each pair"),
    (turns, "places a turn in place of speeds"),
    (with_plus, "pairs that speed up"),
]
