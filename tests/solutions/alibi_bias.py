"""What ALiBi adds to the scores."""

import math

import torch


def bias_by_loops(num_heads, T):
    bias = torch.full((num_heads, T, T), -math.inf)
    for h in range(num_heads):
        slope = 2 ** (-8 * (h + 1) / num_heads)
        for t in range(T):
            for s in range(t + 1):
                bias[h, t, s] = -slope * (t - s)
    return bias


def bias_by_broadcasting(num_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    distances = torch.arange(T)[:, None] - torch.arange(T)
    bias = -slopes.view(-1, 1, 1) * distances
    return bias.masked_fill(distances < 0, float("-inf"))


def bias_by_powers(num_heads, T):
    ratio = 2 ** (-8 / num_heads)
    slopes = torch.tensor([ratio ** (h + 1) for h in range(num_heads)])
    places = torch.arange(T, dtype=torch.float32)
    bias = torch.einsum("h,ts->hts", slopes, places - places[:, None])
    return bias + torch.full((T, T), -math.inf).triu(1)


def bias_by_cumulative_sum(num_heads, T):
    slopes = torch.logspace(-8 / num_heads, -8, num_heads, base=2)
    behind = torch.ones(T, T).tril(-1)
    distances = behind.flip(1).cumsum(1).flip(1)  # how many keys lie in between
    bias = -slopes[:, None, None] * distances
    return torch.where(torch.ones(T, T).tril().bool(), bias, -math.inf)


def bias_from_head_zero(num_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(num_heads) / num_heads)
    distances = torch.arange(T)[:, None] - torch.arange(T)
    return (-slopes.view(-1, 1, 1) * distances).masked_fill(distances < 0, -math.inf)


def bias_upwards(num_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    distances = torch.arange(T)[:, None] - torch.arange(T)
    return (slopes.view(-1, 1, 1) * distances).masked_fill(distances < 0, -math.inf)


def bias_by_halving(num_heads, T):
    slopes = torch.tensor([0.5 ** (h + 1) for h in range(num_heads)])
    distances = torch.arange(T)[:, None] - torch.arange(T)
    return (-slopes.view(-1, 1, 1) * distances).masked_fill(distances < 0, -math.inf)


def bias_open(num_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    distances = (torch.arange(T)[:, None] - torch.arange(T)).abs()
    return -slopes.view(-1, 1, 1) * distances


def bias_of_the_key_alone(num_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    bias = slopes.view(-1, 1, 1) * torch.arange(T).view(1, 1, T).expand(1, T, T)
    return bias.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)


def bias_heads_last(num_heads, T):
    return bias_by_loops(num_heads, T).permute(1, 2, 0)


RIGHT = [
    bias_by_loops,
    bias_by_broadcasting,
    bias_by_powers,
    bias_by_cumulative_sum,
]
WRONG = [
    (bias_from_head_zero, "slopes that begin at 1"),
    (bias_upwards, "a bias that rewards distance"),
    (bias_by_halving, "the slopes of eight heads"),
    (bias_open, "a bias that doesn't hide the future"),
    (bias_of_the_key_alone, "a bias that counts from the first word"),
    (bias_heads_last, "the heads on the last axis"),
]
