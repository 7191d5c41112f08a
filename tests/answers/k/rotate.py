"""Answers to rotate by hand k."""

import math

import torch


def right_three_shears(heads, start):
    """right: a turn as three shears, by -tan(angle / 2), sin(angle) and
    -tan(angle / 2) again, in double precision."""
    T, D = heads.shape[-2:]
    rate = 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angle = torch.arange(start, start + T, dtype=torch.float64)[:, None] * rate
    x, y = heads.double().split(D // 2, dim=-1)
    x = x - torch.tan(angle / 2) * y
    y = y + torch.sin(angle) * x
    x = x - torch.tan(angle / 2) * y
    return torch.cat([x, y], dim=-1).to(heads.dtype)


def right_length_and_direction(heads, start):
    """right: takes each pair as length and direction (hypot and atan2), adds the angle
    to the direction and goes back to two coordinates."""
    T, D = heads.shape[-2], heads.shape[-1]
    pairs = heads.double().unflatten(-1, (2, D // 2))
    first, second = pairs.unbind(-2)
    length = torch.hypot(first, second)
    places = torch.arange(T).double() + start
    rates = torch.logspace(0, -4, D // 2 + 1, dtype=torch.float64)[:-1]
    direction = torch.atan2(second, first) + places.unsqueeze(-1) * rates
    turned = torch.stack([length * direction.cos(), length * direction.sin()], -2)
    return turned.flatten(-2).to(heads.dtype)


def right_matrix_exponential(heads, start):
    """right: one D x D matrix for each place, the exponential of the place times a
    skew-symmetric matrix with the rates at (n + D/2, n), applied by einsum."""
    T, D = heads.shape[-2:]
    h = D // 2
    skew = torch.zeros(D, D, dtype=torch.float64)
    for n in range(h):
        rate = 10000 ** (-2 * n / D)
        skew[n + h, n] = rate
        skew[n, n + h] = -rate
    places = torch.arange(start, start + T, dtype=torch.float64)
    turns = torch.linalg.matrix_exp(places[:, None, None] * skew)
    return torch.einsum("tij,...tj->...ti", turns, heads.double()).to(heads.dtype)


def right_roll(heads, start):
    """right: heads times cosine plus heads rolled by D/2 times sine, where the sines of
    the first half are negative because their angles are."""
    D = heads.shape[-1]
    feature = torch.arange(D)
    rate = 10000.0 ** (-2 * (feature % (D // 2)) / D)
    rate = torch.where(feature < D // 2, -rate, rate)
    place = torch.arange(heads.shape[-2]) + start
    angle = place.unsqueeze(-1) * rate
    rolled = heads.roll(D // 2, dims=-1)
    return (heads * angle.cos() + rolled * angle.sin()).to(heads.dtype)


def right_pair_by_pair(heads, start):
    """right: two Python loops over rows and pairs, math.cos and math.sin, written into
    a new tensor."""
    out = torch.empty_like(heads)
    half = heads.size(-1) // 2
    for t in range(heads.size(-2)):
        for n in range(half):
            angle = (start + t) / math.pow(10000, n / half)
            c, s = math.cos(angle), math.sin(angle)
            a, b = heads[..., t, n], heads[..., t, n + half]
            out[..., t, n] = a * c - b * s
            out[..., t, n + half] = b * c + a * s
    return out


def wrong_neighbors(heads, start):
    """wrong: pairs the neighbors 2n and 2n + 1, as the first Llama code does, instead
    of n and n + D/2; right for D = 2 only."""
    T, D = heads.shape[-2:]
    rate = 10000.0 ** (-torch.arange(0, D, 2) / D)
    angle = torch.arange(start, start + T)[:, None] * rate
    a, b = heads[..., 0::2], heads[..., 1::2]
    out = torch.empty_like(heads)
    out[..., 0::2] = a * angle.cos() - b * angle.sin()
    out[..., 1::2] = a * angle.sin() + b * angle.cos()
    return out


def wrong_other_direction(heads, start):
    """wrong: the minus stands in the second half instead of the first (cat(b, -a)), so
    that each pair turns by minus the angle."""
    T, D = heads.shape[-2:]
    rate = 10000.0 ** (-torch.arange(0, D, 2) / D)
    angle = torch.arange(start, start + T)[:, None] * torch.cat([rate, rate])
    a, b = heads.chunk(2, dim=-1)
    return heads * angle.cos() + torch.cat([b, -a], dim=-1) * angle.sin()


def wrong_start_forgotten(heads, start):
    """wrong: doesn't use start, the first row always stands at place 0; right for
    start = 0 only."""
    *_, T, D = heads.shape
    n = torch.arange(D // 2)
    angle = torch.outer(torch.arange(T).float(), 10000.0 ** (-2 * n / D))
    cos, sin = angle.cos(), angle.sin()
    a, b = heads[..., : D // 2], heads[..., D // 2 :]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def wrong_arange_to_T(heads, start):
    """wrong: the places are arange(start, T) instead of up to start + T; right for
    start = 0, otherwise too few places: mostly an error, for start = T - 1 one place
    for all rows, and for start = T = 1 an empty result."""
    T, D = heads.shape[-2:]
    n = torch.arange(D // 2)
    angle = torch.arange(start, T).unsqueeze(1) * 10000.0 ** (-2 * n / D)
    a, b = heads[..., : D // 2], heads[..., D // 2 :]
    first = a * torch.cos(angle) - b * torch.sin(angle)
    second = a * torch.sin(angle) + b * torch.cos(angle)
    return torch.cat((first, second), -1)


def wrong_all_rows_at_start(heads, start):
    """wrong: turns all rows by the place start, as if only one word came; right for
    T = 1."""
    D = heads.shape[-1]
    angle = start * 10000.0 ** (-torch.arange(0, D, 2) / D)
    a, b = heads.chunk(2, dim=-1)
    return torch.cat(
        [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1
    )


def wrong_one_place_later(heads, start):
    """wrong: the first row stands at start + 1 instead of start, as if start words had
    come and places were counted from 1."""
    T, D = heads.shape[-2:]
    places = torch.arange(start + 1, start + T + 1).float()
    angle = places[:, None] / 10000 ** (torch.arange(0, D, 2) / D)
    a, b = heads.tensor_split(2, dim=-1)
    return torch.cat(
        [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1
    )


def wrong_in_place(heads, start):
    """wrong: returns the right values but writes them into heads itself, through its
    slices, so that heads don't stay as they were."""
    T, D = heads.shape[-2:]
    n = torch.arange(D // 2)
    angle = torch.arange(start, start + T)[:, None] * 10000.0 ** (-2 * n / D)
    a = heads[..., : D // 2] * angle.cos() - heads[..., D // 2 :] * angle.sin()
    b = heads[..., : D // 2] * angle.sin() + heads[..., D // 2 :] * angle.cos()
    heads[..., : D // 2] = a
    heads[..., D // 2 :] = b
    return heads


def wrong_reads_what_it_wrote(heads, start):
    """wrong: works on a clone, but computes the second half from the first half that it
    has already turned; the first half is right."""
    T, D = heads.shape[-2:]
    half = D // 2
    angle = torch.arange(start, start + T)[:, None] / 10000 ** (
        torch.arange(half) / half
    )
    out = heads.clone()
    a, b = out[..., :half], out[..., half:]
    out[..., :half] = a * angle.cos() - b * angle.sin()
    out[..., half:] = a * angle.sin() + b * angle.cos()
    return out


def wrong_table_of_neighbors(heads, start):
    """wrong: rotates halves, but with cosines and sines repeated for neighbors
    (repeat_interleave) instead of one half after the other; right for D = 2."""
    T, D = heads.shape[-2:]
    rate = 1.0 / (10000 ** (torch.arange(0, D, 2).float() / D))
    freqs = torch.outer(torch.arange(start, start + T).float(), rate)
    emb = freqs.repeat_interleave(2, dim=-1)
    x1, x2 = heads[..., : D // 2], heads[..., D // 2 :]
    rotated = torch.cat((-x2, x1), dim=-1)
    return heads * emb.cos() + rotated * emb.sin()


def wrong_woven_result(heads, start):
    """wrong: takes the pairs from the halves and turns them rightly, but puts each pair
    side by side in the result (stack and flatten); right for D = 2."""
    T, D = heads.shape[-2:]
    rate = 10000.0 ** (-torch.arange(0, D, 2) / D)
    angle = torch.arange(start, start + T)[:, None] * rate
    a, b = heads.chunk(2, dim=-1)
    first = a * angle.cos() - b * angle.sin()
    second = a * angle.sin() + b * angle.cos()
    return torch.stack([first, second], dim=-1).flatten(-2)


def wrong_quarter_only(heads, start):
    """wrong: turns only the first quarter of the features (at least two), with rates
    for that width, as GPT-NeoX does with rotary_pct 0.25; right for D = 2."""
    T, D = heads.shape[-2:]
    rot = max(2, D // 8 * 2)
    turn, rest = heads[..., :rot], heads[..., rot:]
    rate = 10000.0 ** (-torch.arange(0, rot, 2) / rot)
    angle = torch.arange(start, start + T)[:, None] * rate
    cos = torch.cat([angle, angle], -1).cos()
    sin = torch.cat([angle, angle], -1).sin()
    a, b = turn.chunk(2, -1)
    turn = turn * cos + torch.cat([-b, a], -1) * sin
    return torch.cat([turn, rest], dim=-1)


def wrong_time_on_axis_one(heads, start):
    """wrong: takes the number of places from axis 1 instead of the last but one; right
    for three axes, otherwise mostly an error, but with T = 1 too many rows and with one
    head in four axes all rows at start."""
    T, D = heads.shape[1], heads.shape[-1]
    rate = 10000.0 ** (-torch.arange(0, D, 2) / D)
    angle = (start + torch.arange(T)).unsqueeze(-1) * rate
    a, b = heads.chunk(2, dim=-1)
    cos, sin = torch.cos(angle), torch.sin(angle)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def wrong_start_added_to_angle(heads, start):
    """wrong: adds start to the angle, after the rate has been multiplied in, instead of
    to the place; right for start = 0 and for D = 2, where the only rate is 1."""
    T, D = heads.shape[-2:]
    rate = 10000.0 ** (-torch.arange(0, D, 2) / D)
    angle = torch.arange(T)[:, None] * rate + start
    a, b = heads.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def wrong_lost_two_and_direction(heads, start):
    """wrong: two mistakes: the exponent is -n / D without the 2, and the signs of the
    sines are swapped, so that the pairs turn the other way."""
    T, D = heads.shape[-2:]
    n = torch.arange(D // 2)
    angle = torch.arange(start, start + T).unsqueeze(-1) * 10000.0 ** (-n / D)
    a, b = heads[..., : D // 2], heads[..., D // 2 :]
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)


ANSWERS = [
    right_three_shears,
    right_length_and_direction,
    right_matrix_exponential,
    right_roll,
    right_pair_by_pair,
    wrong_neighbors,
    wrong_other_direction,
    wrong_start_forgotten,
    wrong_arange_to_T,
    wrong_all_rows_at_start,
    wrong_one_place_later,
    wrong_in_place,
    wrong_reads_what_it_wrote,
    wrong_table_of_neighbors,
    wrong_woven_result,
    wrong_quarter_only,
    wrong_time_on_axis_one,
    wrong_start_added_to_angle,
    wrong_lost_two_and_direction,
]
