"""Llama 3's speeds."""

import math

import torch


def by_clamp(speeds, factor, trained_length):
    turns = trained_length * speeds / (2 * math.pi)
    share = ((turns - 1) / 3).clamp(0, 1)
    return speeds * share + speeds / factor * (1 - share)


def as_in_transformers(speeds, factor, trained_length):
    wavelengths = 2 * math.pi / speeds
    longest, shortest = trained_length / 1, trained_length / 4
    scaled = torch.where(wavelengths > longest, speeds / factor, speeds)
    smooth = (trained_length / wavelengths - 1) / (4 - 1)
    blended = (1 - smooth) * scaled / factor + smooth * scaled
    between = ~(wavelengths < shortest) & ~(wavelengths > longest)
    return torch.where(between, blended, scaled)


def by_loop(speeds, factor, trained_length):
    new = []
    for speed in speeds.tolist():
        turns = trained_length * speed / math.tau
        if turns > 4:
            new.append(speed)
        elif turns < 1:
            new.append(speed / factor)
        else:
            new.append(speed / factor + (turns - 1) / 3 * (speed - speed / factor))
    return torch.tensor(new)


def by_lerp(speeds, factor, trained_length):
    turns = speeds * (trained_length / (2 * torch.pi))
    return torch.lerp(speeds / factor, speeds, ((turns - 1) / 3).clamp(min=0, max=1))


def interpolated(speeds, factor, trained_length):
    return speeds / factor


def untouched(speeds, factor, trained_length):
    return speeds


def flipped(speeds, factor, trained_length):
    share = ((trained_length * speeds / (2 * math.pi) - 1) / 3).clamp(0, 1)
    return speeds * (1 - share) + speeds / factor * share


def in_radians(speeds, factor, trained_length):
    share = ((trained_length * speeds - 1) / 3).clamp(0, 1)
    return speeds * share + speeds / factor * (1 - share)


def of_wavelengths(speeds, factor, trained_length):
    share = ((2 * math.pi / speeds - 1) / 3).clamp(0, 1)
    return speeds * share + speeds / factor * (1 - share)


def upside_down(speeds, factor, trained_length):
    share = ((2 * math.pi / speeds / trained_length - 1) / 3).clamp(0, 1)
    return speeds * share + speeds / factor * (1 - share)


def in_the_long_text(speeds, factor, trained_length):
    return by_clamp(speeds, factor, trained_length * factor)


def unclamped(speeds, factor, trained_length):
    share = (trained_length * speeds / (2 * math.pi) - 1) / 3
    return speeds * share + speeds / factor * (1 - share)


def clamped_below(speeds, factor, trained_length):
    share = ((trained_length * speeds / (2 * math.pi) - 1) / 3).clamp(min=0)
    return speeds * share + speeds / factor * (1 - share)


def clamped_above(speeds, factor, trained_length):
    share = ((trained_length * speeds / (2 * math.pi) - 1) / 3).clamp(max=1)
    return speeds * share + speeds / factor * (1 - share)


def switched_at_four(speeds, factor, trained_length):
    turns = trained_length * speeds / (2 * math.pi)
    return torch.where(turns > 4, speeds, speeds / factor)


def switched_at_one(speeds, factor, trained_length):
    turns = trained_length * speeds / (2 * math.pi)
    return torch.where(turns < 1, speeds / factor, speeds)


def half_of_each(speeds, factor, trained_length):
    turns = trained_length * speeds / (2 * math.pi)
    mean = (speeds + speeds / factor) / 2
    return torch.where(turns > 4, speeds, torch.where(turns < 1, speeds / factor, mean))


def exchanged(speeds, factor, trained_length):
    turns = trained_length * speeds / (2 * math.pi)
    share = (turns - 1) / 3
    mean = (1 - share) * speeds + share * speeds / factor
    return torch.where(turns > 4, speeds, torch.where(turns < 1, speeds / factor, mean))


def geometric(speeds, factor, trained_length):
    share = ((trained_length * speeds / (2 * math.pi) - 1) / 3).clamp(0, 1)
    return speeds / factor ** (1 - share)


def by_four(speeds, factor, trained_length):
    share = (trained_length * speeds / (2 * math.pi) / 4).clamp(0, 1)
    return speeds * share + speeds / factor * (1 - share)


def up_to_32(speeds, factor, trained_length):
    share = ((trained_length * speeds / (2 * math.pi) - 1) / 31).clamp(0, 1)
    return speeds * share + speeds / factor * (1 - share)


def slowed_by_a_mean(speeds, factor, trained_length):
    share = ((trained_length * speeds / (2 * math.pi) - 1) / 3).clamp(0, 1)
    return speeds / (share + factor * (1 - share))


def pair_by_pair(speeds, factor, trained_length):
    turns = trained_length * speeds / (2 * math.pi)
    between = [i for i in turns.argsort(descending=True) if 1 <= turns[i] <= 4]
    new = torch.where(turns > 4, speeds, speeds / factor)
    for step, i in enumerate(between):
        share = 1 - (step + 1) / (len(between) + 1)
        new[i] = speeds[i] * share + speeds[i] / factor * (1 - share)
    return new


RIGHT = [by_clamp, as_in_transformers, by_loop, by_lerp]
WRONG = [
    (interpolated, "every pair slower by the factor"),
    (untouched, "speeds as they were"),
    (flipped, "fast pairs slowed and slow ones kept"),
    (in_radians, "radians for turns"),
    (of_wavelengths, "the length of a turn in place of the number of turns"),
    (upside_down, "the turns upside down"),
    (in_the_long_text, "turns in the longer text"),
    (unclamped, "shares that go beyond 0 and 1"),
    (clamped_below, "shares that go beyond 1"),
    (clamped_above, "shares that go below 0"),
    (switched_at_four, "nothing between the two, a switch at 4 turns"),
    (switched_at_one, "nothing between the two, a switch at one turn"),
    (half_of_each, "half of each, whatever the turns between"),
    (exchanged, "the weights exchanged between one turn and 4"),
    (geometric, "a geometric mean between one turn and 4"),
    (by_four, "the share as turns by 4"),
    (up_to_32, "YaRN's limit of 32 turns"),
    (slowed_by_a_mean, "a mean of lengths in place of speeds"),
    (pair_by_pair, "steps from pair to pair"),
]
