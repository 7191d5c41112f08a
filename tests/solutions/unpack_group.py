"""The 32 weights in a group of Q4_1."""

import struct

import numpy as np
import torch


def by_view(group):
    step, smallest = group[:4].view(torch.float16).float()
    low, high = group[4:] & 15, group[4:] >> 4
    return smallest + step * torch.cat([low, high])


def by_numpy(group):
    raw = group.numpy()
    step, smallest = raw[:4].copy().view(np.float16).astype(np.float32)
    counts = np.concatenate([raw[4:] % 16, raw[4:] // 16])
    return torch.from_numpy(smallest + step * counts)


def by_struct(group):
    step, smallest, *packed = struct.unpack("<ee16B", bytes(group.tolist()))
    halves = [divmod(byte, 16) for byte in packed]
    counts = [low for _, low in halves] + [high for high, _ in halves]
    return torch.tensor([smallest + step * count for count in counts])


def by_a_loop(group):
    step = group[0:2].view(torch.float16).item()
    smallest = group[2:4].view(torch.float16).item()
    weights = torch.empty(32)
    for i, byte in enumerate(group[4:].tolist()):
        weights[i] = smallest + step * (byte & 0x0F)
        weights[i + 16] = smallest + step * (byte >> 4)
    return weights


def halves_exchanged(group):
    step, smallest = group[:4].view(torch.float16).float()
    return smallest + step * torch.cat([group[4:] >> 4, group[4:] & 15])


def side_by_side(group):
    step, smallest = group[:4].view(torch.float16).float()
    weights = torch.empty(32)
    weights[0::2] = smallest + step * (group[4:] & 15)
    weights[1::2] = smallest + step * (group[4:] >> 4)
    return weights


def side_by_side_exchanged(group):
    step, smallest = group[:4].view(torch.float16).float()
    counts = [half for byte in group[4:].tolist() for half in divmod(byte, 16)]
    return smallest + step * torch.tensor(counts)


def without_the_smallest(group):
    step = group[:2].view(torch.float16).float()
    return step * torch.cat([group[4:] & 15, group[4:] >> 4])


def less_the_smallest(group):
    step, smallest = group[:4].view(torch.float16).float()
    return step * torch.cat([group[4:] & 15, group[4:] >> 4]) - smallest


def exchanged(group):
    smallest, step = group[:4].view(torch.float16).float()
    return smallest + step * torch.cat([group[4:] & 15, group[4:] >> 4])


def steps_from_the_smallest(group):
    step, smallest = group[:4].view(torch.float16).float()
    return (torch.cat([group[4:] & 15, group[4:] >> 4]) + smallest) * step


def around_zero(group):
    step, smallest = group[:4].view(torch.float16).float()
    counts = torch.cat([group[4:] & 15, group[4:] >> 4]).int() - 8
    return smallest + step * counts


def as_bfloat16(group):
    step, smallest = group[:4].view(torch.bfloat16).float()
    return smallest + step * torch.cat([group[4:] & 15, group[4:] >> 4])


def as_int16(group):
    step, smallest = group[:4].view(torch.int16).float()
    return smallest + step * torch.cat([group[4:] & 15, group[4:] >> 4])


def big_endian(group):
    step, smallest, *packed = struct.unpack(">ee16B", bytes(group.tolist()))
    counts = [byte & 15 for byte in packed] + [byte >> 4 for byte in packed]
    return smallest + step * torch.tensor(counts)


def in_half(group):
    step, smallest = group[:4].view(torch.float16)
    return smallest + step * torch.cat([group[4:] & 15, group[4:] >> 4])


def unshifted(group):
    step, smallest = group[:4].view(torch.float16).float()
    return smallest + step * torch.cat([group[4:] & 0x0F, group[4:] & 0xF0])


def unmasked(group):
    step, smallest = group[:4].view(torch.float16).float()
    return smallest + step * torch.cat([group[4:], group[4:] >> 4])


RIGHT = [by_view, by_numpy, by_struct, by_a_loop]
WRONG = [
    (halves_exchanged, "the halves of each byte exchanged"),
    (side_by_side, "neighbours in one byte"),
    (side_by_side_exchanged, "neighbours in one byte, and its halves exchanged"),
    (without_the_smallest, "the smallest weight left out"),
    (less_the_smallest, "the smallest weight taken away"),
    (exchanged, "step and smallest exchanged"),
    (steps_from_the_smallest, "the smallest weight counted in steps"),
    (around_zero, "counts that begin at -8"),
    (as_bfloat16, "16 bits read as another type"),
    (as_int16, "16 bits read as another type"),
    (big_endian, "two bytes in the wrong order"),
    (in_half, "computed in 16 bits"),
    (unshifted, "first halves that aren't shifted"),
    (unmasked, "a whole byte in place of its last half"),
]
