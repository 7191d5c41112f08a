"""Answers to rotate by hand j."""

import math

import numpy as np
import torch


def right_complex_halves(heads, start):
    """right: the first half as real and the second as imaginary parts, multiplied by
    points of the unit circle, in float64; then the dtype of heads again."""
    first, second = heads.double().chunk(2, dim=-1)
    T, half = first.shape[-2:]
    speeds = 10000 ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = (start + torch.arange(T))[:, None] * speeds
    turned = torch.complex(first, second) * torch.exp(1j * angles)
    return torch.cat([turned.real, turned.imag], dim=-1).to(heads.dtype)


def right_two_by_two(heads, start):
    """right: a 2 x 2 rotation matrix for every place and pair, applied by einsum to the
    features reshaped to (2, D/2)."""
    *batch, T, D = heads.shape
    speeds = torch.logspace(0, -4, D // 2 + 1, dtype=torch.float64)[:-1]
    angles = torch.outer(torch.arange(start, start + T, dtype=torch.float64), speeds)
    c, s = angles.cos(), angles.sin()
    turns = torch.stack([torch.stack([c, -s]), torch.stack([s, c])]).to(heads.dtype)
    pairs = heads.reshape(*batch, T, 2, D // 2)
    return torch.einsum("ijtn,...tjn->...tin", turns, pairs).reshape(heads.shape)


def right_matrix_exponential(heads, start):
    """right: a skew-symmetric D x D generator with the speeds; its matrix exponential,
    times the place, turns a whole row at once."""
    T, D = heads.shape[-2:]
    n = torch.arange(D // 2)
    speeds = 10000 ** (-2 * n.double() / D)
    generator = torch.zeros(D, D, dtype=torch.float64)
    generator[n, n + D // 2] = -speeds
    generator[n + D // 2, n] = speeds
    rows = []
    for t in range(T):
        turn = torch.linalg.matrix_exp((start + t) * generator)
        rows.append(heads[..., t, :].double() @ turn.T)
    return torch.stack(rows, dim=-2).to(heads.dtype)


def right_pair_by_pair(heads, start):
    """right: two loops, over the rows and over the pairs, with math.sin and math.cos,
    into a new tensor."""
    T, D = heads.shape[-2:]
    out = torch.empty_like(heads)
    for t in range(T):
        for n in range(D // 2):
            angle = (start + t) * 10000 ** (-2 * n / D)
            x, y = heads[..., t, n], heads[..., t, n + D // 2]
            out[..., t, n] = x * math.cos(angle) - y * math.sin(angle)
            out[..., t, n + D // 2] = x * math.sin(angle) + y * math.cos(angle)
    return out


def right_polar_coordinates(heads, start):
    """right: every pair in polar coordinates (length and direction), the angle, from
    NumPy, added to the direction, and back again."""
    T, D = heads.shape[-2:]
    speeds = np.power(10000.0, -np.arange(0, D, 2) / D)
    angles = torch.from_numpy(np.outer(np.arange(start, start + T), speeds))
    x, y = heads[..., : D // 2].double(), heads[..., D // 2 :].double()
    length, direction = torch.hypot(x, y), torch.atan2(y, x) + angles
    turned = [length * direction.cos(), length * direction.sin()]
    return torch.cat(turned, dim=-1).to(heads.dtype)


def right_one_step_at_a_time(heads, start):
    """right: turns all rows by start, then again and again the rows that are not yet
    at their place by one step more, in float64 and on a copy."""
    D = heads.shape[-1]
    n = torch.arange(D // 2, dtype=torch.float64)
    speeds = torch.exp(n * (-2 * math.log(10000) / D))

    def turn(rows, angle):
        x, y = rows[..., : D // 2], rows[..., D // 2 :]
        c, s = angle.cos(), angle.sin()
        return torch.cat((x * c - y * s, x * s + y * c), dim=-1)

    waiting = turn(heads.double(), start * speeds)
    done = []
    for _ in range(heads.shape[-2]):
        done.append(waiting[..., :1, :])
        waiting = turn(waiting[..., 1:, :], speeds)
    return torch.cat(done, dim=-2).to(heads.dtype)


def wrong_neighbours(heads, start):
    """wrong: the pairs are neighbours, features 2n and 2n + 1, instead of n and
    n + D/2; right for D = 2."""
    T, D = heads.shape[-2:]
    speeds = 10000 ** (-torch.arange(0, D, 2) / D)
    angles = (torch.arange(T) + start)[:, None] * speeds
    x, y = heads[..., 0::2], heads[..., 1::2]
    out = torch.empty_like(heads)
    out[..., 0::2] = x * angles.cos() - y * angles.sin()
    out[..., 1::2] = x * angles.sin() + y * angles.cos()
    return out


def wrong_backwards(heads, start):
    """wrong: turns by minus the angle: the minus stands at the second half instead of
    the first."""
    T, D = heads.shape[-2:]
    x, y = heads.split(D // 2, dim=-1)
    angles = torch.outer(
        torch.arange(start, start + T).float(),
        10000 ** (-torch.arange(D // 2) * 2 / D),
    )
    c, s = angles.cos(), angles.sin()
    return torch.cat([x * c + y * s, y * c - x * s], dim=-1)


def wrong_start_forgotten(heads, start):
    """wrong: counts the places from 0, whatever start is; right for start = 0."""
    T, D = heads.shape[-2:]
    angles = torch.arange(T)[:, None] / 10000 ** (torch.arange(0, D, 2) / D)
    angles = torch.cat([angles, angles], dim=-1)
    swapped = torch.cat([-heads[..., D // 2 :], heads[..., : D // 2]], dim=-1)
    return heads * angles.cos() + swapped * angles.sin()


def wrong_first_half_overwritten(heads, start):
    """wrong: works on a copy, but overwrites its first half before it computes the
    second from it, so that the second half mixes in the turned first one."""
    T, D = heads.shape[-2:]
    angles = torch.arange(start, start + T).unsqueeze(1) * torch.pow(
        10000.0, -2 * torch.arange(D // 2) / D
    )
    c, s = angles.cos(), angles.sin()
    out = heads.clone()
    x, y = out[..., : D // 2], out[..., D // 2 :]
    out[..., : D // 2] = x * c - y * s
    out[..., D // 2 :] = x * s + y * c
    return out


def wrong_in_place(heads, start):
    """wrong: the values are right, but it writes them into heads and returns heads, so
    that the input is changed."""
    T, D = heads.shape[-2:]
    for t in range(T):
        angle = (start + t) * 10000 ** (-torch.arange(0, D, 2) / D)
        x = heads[..., t, : D // 2].clone()
        y = heads[..., t, D // 2 :].clone()
        heads[..., t, : D // 2] = x * angle.cos() - y * angle.sin()
        heads[..., t, D // 2 :] = x * angle.sin() + y * angle.cos()
    return heads


def wrong_exponent_over_half(heads, start):
    """wrong: takes D for the size of a half, so that the exponent is -2n / (D/2), twice
    what it should be; right for D = 2."""
    x, y = heads.chunk(2, dim=-1)
    T, D = x.shape[-2:]
    speeds = 10000 ** (-2 * torch.arange(D) / D)
    angles = torch.arange(start, start + T)[:, None] * speeds
    c, s = torch.cos(angles), torch.sin(angles)
    return torch.cat([x * c - y * s, x * s + y * c], dim=-1)


def wrong_all_at_start(heads, start):
    """wrong: turns every row by place start, as if only one new word could come; right
    for T = 1."""
    D = heads.shape[-1]
    angle = start * 10000 ** (-torch.arange(0, D, 2) / D)
    x, y = heads[..., : D // 2], heads[..., D // 2 :]
    c, s = angle.cos(), angle.sin()
    return torch.cat([x * c - y * s, x * s + y * c], dim=-1)


def wrong_axis_one_is_time(heads, start):
    """wrong: takes T from axis 1 instead of axis -2; right for three axes or where the
    two are equal, otherwise an error or (where one of them is 1) a wrong result."""
    T, D = heads.shape[1], heads.shape[-1]
    places = torch.arange(start, start + T, dtype=heads.dtype)
    speeds = 10000 ** (-torch.arange(0, D, 2, dtype=heads.dtype) / D)
    angles = torch.einsum("t,n->tn", places, speeds).repeat(1, 2)
    x, y = heads.chunk(2, dim=-1)
    return heads * angles.cos() + torch.cat([-y, x], dim=-1) * angles.sin()


def wrong_angles_of_neighbours(heads, start):
    """wrong: pairs the halves, but repeats the angles for neighbours (a, a, b, b
    instead of a, b, a, b), so that the two of a pair get different angles; right for
    D = 2."""
    T, D = heads.shape[-2:]
    speeds = 10000 ** (-torch.arange(0, D, 2) / D)
    angles = torch.outer(torch.arange(start, start + T).float(), speeds)
    angles = angles.repeat_interleave(2, dim=-1)
    x, y = heads.chunk(2, dim=-1)
    return heads * angles.cos() + torch.cat([-y, x], dim=-1) * angles.sin()


def wrong_arange_to_T(heads, start):
    """wrong: the places are arange(start, T) instead of up to start + T, too few for
    start > 0: mostly an error, with a single one left every row at start, for T = 1
    with start = 1 an empty result; right for start = 0."""
    T, D = heads.shape[-2:]
    places = torch.arange(start, T).unsqueeze(-1)
    angles = places * 10000 ** (-torch.arange(0, D, 2) / D)
    x, y = heads[..., : D // 2], heads[..., D // 2 :]
    c, s = angles.cos(), angles.sin()
    return torch.cat([x * c - y * s, x * s + y * c], dim=-1)


def wrong_rolled_without_minus(heads, start):
    """wrong: swaps the halves with torch.roll and forgets the minus of the second half,
    so that the first half is x cos + y sin: not a rotation any more."""
    T, D = heads.shape[-2:]
    speeds = torch.tensor([10000 ** (-2 * (j % (D // 2)) / D) for j in range(D)])
    angles = (start + torch.arange(T))[:, None] * speeds
    swapped = torch.roll(heads, shifts=D // 2, dims=-1)
    return heads * angles.cos() + swapped * angles.sin()


def wrong_start_added_to_the_angle(heads, start):
    """wrong: adds start to the angle instead of to the place, so that every pair is
    turned by start more, not by start times its speed; right for start = 0 and for
    D = 2."""
    T, D = heads.shape[-2:]
    speeds = 10000 ** (-torch.arange(0, D, 2) / D)
    angles = start + torch.arange(T)[:, None] * speeds
    x, y = heads.tensor_split(2, dim=-1)
    c, s = angles.cos(), angles.sin()
    return torch.cat([x * c - y * s, x * s + y * c], dim=-1)


def wrong_stacked_result(heads, start):
    """wrong: turns the right pairs, but stacks the two results on a new last axis and
    flattens, so that they come out as neighbours instead of halves; right for D = 2."""
    T, D = heads.shape[-2:]
    speeds = 10000 ** (-torch.arange(0, D, 2) / D)
    angles = torch.arange(start, start + T)[:, None] * speeds
    x, y = heads[..., : D // 2], heads[..., D // 2 :]
    c, s = angles.cos(), angles.sin()
    return torch.stack([x * c - y * s, x * s + y * c], dim=-1).flatten(-2)


def wrong_batch_counted_on(heads, start):
    """wrong: flattens all axes but the last and counts the places on through the whole
    batch, so that only the first of the batch stands where it should; right for
    (T, D)."""
    D = heads.shape[-1]
    rows = heads.reshape(-1, D)
    places = torch.arange(start, start + len(rows)).float()
    angles = torch.outer(places, 10000 ** (-torch.arange(0, D, 2) / D))
    x, y = rows[:, : D // 2], rows[:, D // 2 :]
    c, s = angles.cos(), angles.sin()
    return torch.cat([x * c - y * s, x * s + y * c], dim=1).reshape(heads.shape)


ANSWERS = [
    right_complex_halves,
    right_two_by_two,
    right_matrix_exponential,
    right_pair_by_pair,
    right_polar_coordinates,
    right_one_step_at_a_time,
    wrong_neighbours,
    wrong_backwards,
    wrong_start_forgotten,
    wrong_first_half_overwritten,
    wrong_in_place,
    wrong_exponent_over_half,
    wrong_all_at_start,
    wrong_axis_one_is_time,
    wrong_angles_of_neighbours,
    wrong_arange_to_T,
    wrong_rolled_without_minus,
    wrong_start_added_to_the_angle,
    wrong_stacked_result,
    wrong_batch_counted_on,
]
