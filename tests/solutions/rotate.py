"""Queries and keys turned by their places."""

import math

import torch


def speeds_of(D):
    return 10000.0 ** (-torch.arange(0, D, 2) / D)


def rotate_by_halves(heads, start):
    T, D = heads.shape[-2:]
    angles = torch.arange(start, start + T)[:, None] * speeds_of(D)
    first, second = heads[..., : D // 2], heads[..., D // 2 :]
    cosines, sines = angles.cos(), angles.sin()
    return torch.cat(
        [first * cosines - second * sines, second * cosines + first * sines], -1
    )


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def rotate_as_in_llama(heads, start):
    T, D = heads.shape[-2:]
    inverse = 1.0 / 10000 ** (torch.arange(0, D, 2).float() / D)
    angles = torch.outer(torch.arange(start, start + T).float(), inverse)
    angles = torch.cat([angles, angles], dim=-1)
    return heads * angles.cos() + rotate_half(heads) * angles.sin()


def rotate_by_loops(heads, start):
    turned = heads.clone()
    T, D = heads.shape[-2:]
    for t in range(T):
        for i in range(D // 2):
            angle = (start + t) * 10000 ** (-2 * i / D)
            c, s = math.cos(angle), math.sin(angle)
            a, b = heads[..., t, i], heads[..., t, i + D // 2]
            turned[..., t, i] = a * c - b * s
            turned[..., t, i + D // 2] = a * s + b * c
    return turned


def rotate_complex(heads, start):
    T, D = heads.shape[-2:]
    numbers = torch.complex(*(half.contiguous() for half in heads.chunk(2, dim=-1)))
    angles = torch.arange(start, start + T)[:, None] * speeds_of(D)
    numbers = numbers * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([numbers.real, numbers.imag], dim=-1)


def rotate_without_start(heads, start):
    return rotate_by_halves(heads, 0)


def rotate_backwards(heads, start):
    T, D = heads.shape[-2:]
    angles = torch.arange(start, start + T)[:, None] * speeds_of(D)
    first, second = heads.chunk(2, dim=-1)
    c, s = angles.cos(), angles.sin()
    return torch.cat([first * c + second * s, second * c - first * s], dim=-1)


def rotate_interleaved(heads, start):
    T, D = heads.shape[-2:]
    angles = torch.arange(start, start + T)[:, None] * speeds_of(D)
    c, s = angles.cos(), angles.sin()
    turned = torch.empty_like(heads)
    turned[..., 0::2] = heads[..., 0::2] * c - heads[..., 1::2] * s
    turned[..., 1::2] = heads[..., 0::2] * s + heads[..., 1::2] * c
    return turned


def rotate_all_at_one_speed(heads, start):
    T = heads.shape[-2]
    angles = torch.arange(start, start + T).float()[:, None]
    first, second = heads.chunk(2, dim=-1)
    c, s = angles.cos(), angles.sin()
    return torch.cat([first * c - second * s, first * s + second * c], dim=-1)


def rotate_by_index_over_width(heads, start):
    T, D = heads.shape[-2:]
    speeds = 10000.0 ** (-torch.arange(D // 2) / D)
    angles = torch.arange(start, start + T)[:, None] * speeds
    first, second = heads.chunk(2, dim=-1)
    c, s = angles.cos(), angles.sin()
    return torch.cat([first * c - second * s, first * s + second * c], dim=-1)


def rotate_in_place(heads, start):
    T, D = heads.shape[-2:]
    angles = torch.arange(start, start + T)[:, None] * speeds_of(D)
    c, s = angles.cos(), angles.sin()
    turned = heads.clone()
    first, second = turned[..., : D // 2], turned[..., D // 2 :]
    first.copy_(first * c - second * s)
    second.copy_(first * s + second * c)
    return turned


def rotate_forgets_the_rows(heads, start):
    D = heads.shape[-1]
    angles = start * speeds_of(D)
    first, second = heads.chunk(2, dim=-1)
    c, s = angles.cos(), angles.sin()
    return torch.cat([first * c - second * s, first * s + second * c], dim=-1)


def rotate_no_minus(heads, start):
    T, D = heads.shape[-2:]
    angles = torch.arange(start, start + T)[:, None] * speeds_of(D)
    swapped = torch.cat(heads.chunk(2, dim=-1)[::-1], dim=-1)
    doubled = torch.cat([angles, angles], dim=-1)
    return heads * doubled.cos() + swapped * doubled.sin()


def rotate_and_interleave(heads, start):
    first, second = rotate_by_halves(heads, start).chunk(2, dim=-1)
    return torch.stack([first, second], dim=-1).flatten(-2)


RIGHT = [rotate_by_halves, rotate_as_in_llama, rotate_by_loops, rotate_complex]
WRONG = [
    (rotate_without_start, "a turn that begins at place 0"),
    (rotate_backwards, "a turn the other way round"),
    (rotate_interleaved, "pairs of neighbours"),
    (rotate_all_at_one_speed, "one speed for all pairs"),
    (rotate_by_index_over_width, "pairs that slow down half as fast"),
    (rotate_in_place, "the second half made from the turned first half"),
    (rotate_forgets_the_rows, "one angle for all rows"),
    (rotate_no_minus, "a turn without its minus"),
    (rotate_and_interleave, "pairs that are put back side by side"),
]
