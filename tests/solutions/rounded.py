"""Groups of weights, each rounded to sixteen numbers."""

import numpy as np
import torch


def by_where(weight, size):
    groups = weight.reshape(-1, size)
    smallest = groups.amin(dim=1, keepdim=True)
    step = (groups.amax(dim=1, keepdim=True) - smallest) / 15
    step = torch.where(step == 0, torch.ones_like(step), step)
    return (smallest + step * ((groups - smallest) / step).round()).view_as(weight)


def by_a_small_step(weight, size):
    groups = weight.unflatten(1, (-1, size))
    low, high = groups.aminmax(dim=-1, keepdim=True)
    step = ((high - low) / 15).clamp(min=1e-9)
    return (low + step * torch.round((groups - low) / step)).flatten(1)


def by_a_loop(weight, size):
    out = torch.empty_like(weight)
    for row in range(weight.shape[0]):
        for start in range(0, weight.shape[1], size):
            group = weight[row, start : start + size]
            low, high = group.min(), group.max()
            if low == high:
                out[row, start : start + size] = group
                continue
            counts = torch.floor((group - low) * 15 / (high - low) + 0.5)
            out[row, start : start + size] = low + counts * (high - low) / 15
    return out


def by_the_nearest(weight, size):
    groups = weight.reshape(-1, size)
    low, high = groups.amin(1, keepdim=True), groups.amax(1, keepdim=True)
    numbers = low + (high - low) * torch.arange(16) / 15  # (N, 16)
    nearest = (groups[:, :, None] - numbers[:, None]).abs().argmin(dim=-1)
    return numbers.gather(1, nearest).reshape(weight.shape)


def by_numpy(weight, size):
    groups = weight.double().numpy().reshape(-1, size)
    low = groups.min(axis=1, keepdims=True)
    step = np.ptp(groups, axis=1, keepdims=True) / 15
    with np.errstate(invalid="ignore"):
        counts = np.nan_to_num(np.rint((groups - low) / step))
    return torch.tensor(low + step * counts).float().reshape(weight.shape)


def by_split(weight, size):
    done = []
    for group in weight.flatten().split(size):
        step = (group.max() - group.min()) / 15 or 1.0
        done.append(((group - group.min()) / step).round() * step + group.min())
    return torch.cat(done).reshape(weight.shape)


def for_all(weight, size):
    step = (weight.max() - weight.min()) / 15
    if step == 0:
        return weight.clone()
    return weight.min() + step * ((weight - weight.min()) / step).round()


def for_rows(weight, size):
    low = weight.min(dim=1, keepdim=True).values
    step = ((weight.max(dim=1, keepdim=True).values - low) / 15).clamp(min=1e-9)
    return low + step * ((weight - low) / step).round()


def for_columns(weight, size):
    low = weight.min(dim=0).values
    step = ((weight.max(dim=0).values - low) / 15).clamp(min=1e-9)
    return low + step * ((weight - low) / step).round()


def turned_round(weight, size):
    groups = weight.reshape(size, -1)
    low = groups.amin(dim=0)
    step = ((groups.amax(dim=0) - low) / 15).clamp(min=1e-9)
    return (low + step * ((groups - low) / step).round()).reshape(weight.shape)


def as_many_groups(weight, size):
    groups = weight.reshape(size, -1)
    low = groups.amin(dim=1, keepdim=True)
    step = ((groups.amax(dim=1, keepdim=True) - low) / 15).clamp(min=1e-9)
    return (low + step * ((groups - low) / step).round()).reshape(weight.shape)


def nan_for_constants(weight, size):
    groups = weight.reshape(-1, size)
    low, high = groups.amin(1, keepdim=True), groups.amax(1, keepdim=True)
    counts = torch.round(15 * (groups - low) / (high - low))
    return (low + counts * (high - low) / 15).reshape(weight.shape)


def zero_for_constants(weight, size):
    return torch.nan_to_num(nan_for_constants(weight, size), nan=0.0)


def by_sixteen(weight, size):
    groups = weight.reshape(-1, size)
    low = groups.amin(1, keepdim=True)
    step = ((groups.amax(1, keepdim=True) - low) / 16).clamp(min=1e-9)
    return (low + step * ((groups - low) / step).round()).reshape(weight.shape)


def by_sixteen_and_clamped(weight, size):
    groups = weight.reshape(-1, size)
    low = groups.amin(1, keepdim=True)
    step = ((groups.amax(1, keepdim=True) - low) / 2**4).clamp(min=1e-9)
    counts = ((groups - low) / step).round().clamp(max=15)
    return (low + step * counts).reshape(weight.shape)


def downwards(weight, size):
    groups = weight.reshape(-1, size)
    low = groups.amin(1, keepdim=True)
    step = ((groups.amax(1, keepdim=True) - low) / 15).clamp(min=1e-9)
    return (low + step * ((groups - low) / step).int()).reshape(weight.shape)


def only_counts(weight, size):
    groups = weight.reshape(-1, size)
    low = groups.amin(1, keepdim=True)
    step = ((groups.amax(1, keepdim=True) - low) / 15).clamp(min=1e-9)
    return ((groups - low) / step).round().reshape(weight.shape)


def without_the_smallest(weight, size):
    groups = weight.reshape(-1, size)
    low = groups.amin(1, keepdim=True)
    step = ((groups.amax(1, keepdim=True) - low) / 15).clamp(min=1e-9)
    return (step * ((groups - low) / step).round()).reshape(weight.shape)


def from_zero(weight, size):
    groups = weight.reshape(-1, size)
    step = (groups.amax(1, keepdim=True) - groups.amin(1, keepdim=True)) / 15
    step[step == 0] = 1
    return (step * (groups / step).round()).reshape(weight.shape)


def symmetric(weight, size):
    groups = weight.reshape(-1, size)
    step = (groups.abs().amax(1, keepdim=True) / 7).clamp(min=1e-9)
    return (step * (groups / step).round()).reshape(weight.shape)


def in_half(weight, size):
    groups = weight.reshape(-1, size)
    low = groups.amin(1, keepdim=True)
    step = ((groups.amax(1, keepdim=True) - low) / 15).half().float()
    low, step = low.half().float(), step.where(step > 0, 1.0)
    counts = ((groups - low) / step).round().clamp(0, 15)
    return (low + step * counts).reshape(weight.shape)


def around_zero_in_eights(weight, size):
    groups = weight.reshape(-1, size)
    step = (groups.abs().amax(1, keepdim=True) / 8).clamp(min=1e-9)
    return ((groups / step).round().clamp(-8, 7) * step).reshape(weight.shape)


def for_rows_with_nan(weight, size):
    low, high = weight.amin(1, keepdim=True), weight.amax(1, keepdim=True)
    step = (high - low) / 15
    return low + step * ((weight - low) / step).round()


def downwards_with_nan(weight, size):
    groups = weight.reshape(-1, size)
    low, high = groups.amin(1, keepdim=True), groups.amax(1, keepdim=True)
    step = (high - low) / 15
    return (low + step * ((groups - low) // step)).reshape(weight.shape)


RIGHT = [by_where, by_a_small_step, by_a_loop, by_the_nearest, by_numpy, by_split]
WRONG = [
    (for_all, "sixteen numbers for the whole matrix"),
    (for_rows, "sixteen numbers for each row"),
    (for_columns, "groups that run down the columns"),
    (turned_round, "groups of weights that stand far apart"),
    (as_many_groups, "`size` groups in place of groups of `size`"),
    (nan_for_constants, "NaN where all weights of a group are alike"),
    (zero_for_constants, "0 where all weights of a group are alike"),
    (by_sixteen, "sixteen steps, and so seventeen numbers"),
    (by_sixteen_and_clamped, "sixteen steps, of which the last is never reached"),
    (downwards, "rounded down"),
    (only_counts, "the counts in place of the weights"),
    (without_the_smallest, "the smallest weight not added again"),
    (from_zero, "steps counted from 0"),
    (symmetric, "steps to both sides of 0"),
    (around_zero_in_eights, "steps to both sides of 0"),
    (for_rows_with_nan, "sixteen numbers for each row"),
    (downwards_with_nan, "rounded down"),
    (in_half, "step and smallest weight in 16 bits"),
]
