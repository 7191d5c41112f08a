"""Answers to sinusoidal_positions by hand k."""

import math

import torch


def right_python_lists(T, d_model):
    """right: plain Python, every feature of every place by itself, sine or cosine by
    the remainder of its index divided by 2."""
    rows = []
    for p in range(T):
        row = []
        for i in range(d_model):
            angle = p / 10000 ** ((i - i % 2) / d_model)
            row.append(math.cos(angle) if i % 2 else math.sin(angle))
        rows.append(row)
    return torch.tensor(rows).reshape(T, d_model)


def right_all_sines(T, d_model):
    """right: only sines, the odd features a quarter turn ahead (cos x is
    sin(x + pi / 2)), in double precision and made float at the end."""
    i = torch.arange(d_model, dtype=torch.float64)
    rate = 10000 ** (-(i - i % 2) / d_model)
    ahead = (i % 2) * (math.pi / 2)
    p = torch.arange(T, dtype=torch.float64)
    return torch.sin(torch.outer(p, rate) + ahead).float()


def right_complex_numbers(T, d_model):
    """right: exp(i (pi / 2 - angle)) has the sine as its real and the cosine as its
    imaginary part; view_as_real puts them side by side."""
    n = torch.arange(d_model // 2, dtype=torch.float64)
    angle = torch.arange(T).double()[:, None] * 10000 ** (-2 * n / d_model)
    z = torch.polar(torch.ones_like(angle), math.pi / 2 - angle)
    return torch.view_as_real(z).flatten(1).float()


def right_tick_by_tick(T, d_model):
    """right: starts at sine 0 and cosine 1 and turns every clock by one tick from each
    place to the next (the addition theorems), in double precision."""
    tick = torch.tensor(
        [10000 ** (-2 * n / d_model) for n in range(d_model // 2)], dtype=torch.float64
    )
    ds, dc = tick.sin(), tick.cos()
    s, c = torch.zeros_like(tick), torch.ones_like(tick)
    table = torch.empty(T, d_model)
    for p in range(T):
        table[p, ::2] = s
        table[p, 1::2] = c
        s, c = s * dc + c * ds, c * dc - s * ds
    return table


def right_tutorial(T, d_model):
    """right: the tutorials' way in float32: rates by exp of a multiple of log 10000,
    written into the even and the odd columns."""
    pe = torch.zeros(T, d_model)
    position = torch.arange(0, T, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(
        torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model)
    )
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def wrong_side_by_side(T, d_model):
    """wrong: puts all sines in the first half and all cosines in the second instead of
    alternating them; right for d_model = 2 only."""
    n = torch.arange(d_model // 2)
    angle = torch.arange(T)[:, None] * 10000.0 ** (-2 * n / d_model)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


def wrong_cosine_first(T, d_model):
    """wrong: the cosine stands in the even features and the sine in the odd ones, the
    wrong way round."""
    n = torch.arange(d_model // 2)
    angle = torch.arange(T)[:, None] * 10000.0 ** (-2 * n / d_model)
    return torch.stack([angle.cos(), angle.sin()], dim=-1).reshape(T, d_model)


def wrong_lost_two(T, d_model):
    """wrong: the exponent is -n / d_model without the 2, so that the clocks slow down
    only to about a hundredth; right for d_model = 2."""
    table = torch.zeros(T, d_model)
    for n in range(d_model // 2):
        angle = torch.arange(T) * 10000 ** (-n / d_model)
        table[:, 2 * n] = torch.sin(angle)
        table[:, 2 * n + 1] = torch.cos(angle)
    return table


def wrong_doubled_exponent(T, d_model):
    """wrong: steps through the even numbers 0, 2, 4, ... as if they were n and doubles
    them once more, exponent -4n / d_model; right for d_model = 2."""
    table = torch.zeros(T, d_model)
    p = torch.arange(T)
    for i in range(0, d_model, 2):
        rate = 1 / 10000 ** (2 * i / d_model)
        table[:, i] = torch.sin(p * rate)
        table[:, i + 1] = torch.cos(p * rate)
    return table


def wrong_places_from_one(T, d_model):
    """wrong: counts the places from 1 to T instead of from 0 to T - 1, so that each row
    is the one that belongs to the next place."""
    p = torch.arange(1, T + 1).float().unsqueeze(1)
    rate = torch.pow(10000, -torch.arange(0, d_model, 2) / d_model)
    out = torch.empty(T, d_model)
    out[:, 0::2] = (p * rate).sin()
    out[:, 1::2] = (p * rate).cos()
    return out


def wrong_tensor2tensor_spacing(T, d_model):
    """wrong: spaces the clocks as tensor2tensor and fairseq do, exponent
    -n / (d_model / 2 - 1), so that the last is exactly 1 / 10000; right for
    d_model = 2."""
    half = d_model // 2
    step = math.log(10000) / max(half - 1, 1)
    rate = torch.exp(torch.arange(half) * -step)
    angle = torch.arange(T)[:, None] * rate[None, :]
    return torch.stack((angle.sin(), angle.cos()), dim=2).flatten(1)


def wrong_floor_division(T, d_model):
    """wrong: divides the exponent with // instead of /, which floors: -2n // d_model is
    0 for the first clock and -1 for all others; right for d_model = 2."""
    even = torch.arange(0, d_model, 2)
    rate = 10000.0 ** (-even // d_model)
    angle = torch.outer(torch.arange(T).float(), rate)
    return torch.stack([torch.sin(angle), torch.cos(angle)], -1).view(T, d_model)


def wrong_bfloat16_places(T, d_model):
    """wrong: holds the places in bfloat16, which can't tell 257 from 256 and rounds
    more and more beyond; right up to T = 257."""
    p = torch.arange(T, dtype=torch.int64).to(torch.bfloat16).float()
    rate = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angle = torch.einsum("t,n->tn", p, rate)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def wrong_every_feature_its_rate(T, d_model):
    """wrong: feature i has the rate 10000^(-i / d_model) also where i is odd, so that
    the cosine of a pair runs slower than its sine; the sines are right."""
    i = torch.arange(d_model)
    angle = torch.arange(T).unsqueeze(1) / 10000 ** (i / d_model)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


def wrong_log10(T, d_model):
    """wrong: exp of a multiple of log10(10000) = 4 instead of the natural logarithm, so
    that the base is e^4, about 55, instead of 10000; right for d_model = 2."""
    position = torch.arange(T).unsqueeze(1)
    div_term = torch.exp(-torch.arange(0, d_model, 2) * math.log10(10000) / d_model)
    pe = torch.zeros(T, d_model)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def wrong_512_of_the_paper(T, d_model):
    """wrong: divides by 512, the width in the paper, instead of by d_model; right for
    d_model = 512 and for d_model = 2."""
    n = torch.arange(d_model // 2)
    angle = torch.arange(T).view(-1, 1) * 10000 ** (-2 * n / 512)
    pairs = torch.stack([angle.sin(), angle.cos()], dim=-1)
    return pairs.reshape(T, d_model)


def wrong_integer_table(T, d_model):
    """wrong: writes the values into a copy of the places, an integer tensor, which cuts
    each off to 0 (or 1 or -1), and returns whole numbers as floats."""
    p = torch.arange(T).unsqueeze(1)
    table = p.repeat(1, d_model)
    rate = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    table[:, 0::2] = torch.sin(p * rate).to(table.dtype)
    table[:, 1::2] = torch.cos(p * rate).to(table.dtype)
    return table.float()


def wrong_turn_of_6_28(T, d_model):
    """wrong: wraps the angles to one turn, but with 6.28 for 2 pi, so that each full
    turn adds an error of 0.003; right below place 7."""
    n = torch.arange(d_model // 2)
    angle = torch.arange(T)[:, None] * 10000.0 ** (-2 * n / d_model)
    angle = angle % 6.28
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(T, d_model)


def wrong_fast_and_swapped(T, d_model):
    """wrong: two mistakes: the exponent is positive, so that the clocks get faster
    instead of slower, and the cosine comes before the sine."""
    out = torch.zeros(T, d_model)
    for p in range(T):
        for n in range(d_model // 2):
            angle = p * 10000 ** (2 * n / d_model)
            out[p, 2 * n] = math.cos(angle)
            out[p, 2 * n + 1] = math.sin(angle)
    return out


ANSWERS = [
    right_python_lists,
    right_all_sines,
    right_complex_numbers,
    right_tick_by_tick,
    right_tutorial,
    wrong_side_by_side,
    wrong_cosine_first,
    wrong_lost_two,
    wrong_doubled_exponent,
    wrong_places_from_one,
    wrong_tensor2tensor_spacing,
    wrong_floor_division,
    wrong_bfloat16_places,
    wrong_every_feature_its_rate,
    wrong_log10,
    wrong_512_of_the_paper,
    wrong_integer_table,
    wrong_turn_of_6_28,
    wrong_fast_and_swapped,
]
