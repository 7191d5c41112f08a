"""Answers to sinusoidal_positions by hand j."""

import math

import numpy as np
import torch


def right_rows_in_python(T, d_model):
    """right: nested lists of Python floats, a sine and a cosine appended per clock."""
    rows = []
    for p in range(T):
        row = []
        for n in range(d_model // 2):
            angle = p / 10000 ** (2 * n / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)


def right_complex_clocks(T, d_model):
    """right: points on the unit circle with torch.polar, seen as pairs of real numbers
    (cosine, sine), each pair flipped."""
    speeds = torch.logspace(0, -4, d_model // 2 + 1, dtype=torch.float64)[:-1]
    angles = torch.arange(T, dtype=torch.float64)[:, None] * speeds
    points = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(points).flip(-1).flatten(1).float()


def right_next_place_from_last(T, d_model):
    """right: a recurrence in float64, each row from the row before by the addition
    theorems of sine and cosine."""
    n = torch.arange(d_model // 2, dtype=torch.float64)
    step = torch.exp(-math.log(10000) * 2 * n / d_model)
    step_sin, step_cos = step.sin(), step.cos()
    s, c = torch.zeros_like(n), torch.ones_like(n)
    rows = []
    for _ in range(T):
        rows.append(torch.stack([s, c], dim=-1).reshape(-1))
        s, c = s * step_cos + c * step_sin, c * step_cos - s * step_sin
    return torch.stack(rows).to(torch.float32)


def right_phase_in_numpy(T, d_model):
    """right: NumPy, only sines: every odd feature has its clock's angle plus a quarter
    of a turn."""
    j = np.arange(d_model)
    angles = np.multiply.outer(np.arange(T), 10000.0 ** (-(j - j % 2) / d_model))
    return torch.from_numpy(np.sin(angles + (j % 2) * np.pi / 2).astype(np.float32))


def right_cumulative_angles(T, d_model):
    """right: the angles are a cumulative sum of the speeds over the places (less the
    first), in float64; torch.where picks the sine or the cosine."""
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    speeds = (10000 ** (-even / d_model)).repeat_interleave(2)
    angles = speeds.expand(T, d_model).cumsum(dim=0) - speeds
    is_even = torch.arange(d_model) % 2 == 0
    return torch.where(is_even, angles.sin(), angles.cos()).float()


def right_doubling(T, d_model):
    """right: complex numbers by doubling: the table of the first L places, turned by L
    places, gives the next L; cut to T rows at the end."""
    n = torch.arange(d_model // 2, dtype=torch.float64)
    speeds = 10000 ** (-2 * n / d_model)
    table = torch.ones(1, d_model // 2, dtype=torch.complex128)
    while table.shape[0] < T:
        turn = torch.exp(1j * table.shape[0] * speeds)
        table = torch.cat([table, table * turn])
    out = torch.empty(T, d_model)
    out[:, 0::2] = table[:T].imag
    out[:, 1::2] = table[:T].real
    return out


def wrong_halves(T, d_model):
    """wrong: all the sines in the first half of the features and all the cosines in the
    second, instead of taking turns; right for d_model = 2."""
    speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.outer(torch.arange(T).float(), speeds)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def wrong_cosine_first(T, d_model):
    """wrong: the cosine at the even features and the sine at the odd ones, in the order
    of the real and imaginary parts of exp(i angle)."""
    speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(T)[:, None] * speeds
    return torch.view_as_real(torch.exp(1j * angles)).reshape(T, d_model)


def wrong_doubled_twice(T, d_model):
    """wrong: counts n in steps of two already and multiplies by 2 once more, so that
    the exponent is -4n / d_model; right for d_model = 2."""
    out = torch.zeros(T, d_model)
    place = torch.arange(T).float()
    for n in range(0, d_model, 2):
        angle = place / 10000 ** (2 * n / d_model)
        out[:, n] = torch.sin(angle)
        out[:, n + 1] = torch.cos(angle)
    return out


def wrong_not_doubled(T, d_model):
    """wrong: the exponent is -n / d_model without the 2, so that the slowest clock goes
    at about 1/100 instead of about 1/10000; right for d_model = 2."""
    speeds = torch.tensor([10000 ** (-n / d_model) for n in range(d_model // 2)])
    angles = torch.einsum("t,n->tn", torch.arange(T).float(), speeds)
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)


def wrong_faster_and_faster(T, d_model):
    """wrong: the exponent has lost its minus, so that the clocks go faster with n
    instead of slower; right for d_model = 2."""
    n = torch.arange(d_model // 2, dtype=torch.float64)
    angles = torch.arange(T).unsqueeze(1) * 10000 ** (2 * n / d_model)
    return torch.stack([angles.sin(), angles.cos()], -1).reshape(T, d_model).float()


def wrong_places_from_one(T, d_model):
    """wrong: the places are 1 to T instead of 0 to T - 1, so that every row is the one
    that belongs to the next place."""
    places = torch.arange(1, T + 1).float()
    out = torch.empty(T, d_model)
    for n in range(d_model // 2):
        out[:, 2 * n] = torch.sin(places * 10000 ** (-2 * n / d_model))
        out[:, 2 * n + 1] = torch.cos(places * 10000 ** (-2 * n / d_model))
    return out


def wrong_clocks_from_one(T, d_model):
    """wrong: counts the clocks from 1 instead of 0, so that the fastest has the speed
    10000^(-2 / d_model) instead of 1 and the slowest exactly 1/10000."""
    n = torch.arange(1, d_model // 2 + 1)
    angles = torch.arange(T)[:, None] * torch.exp(-2 * n / d_model * math.log(1e4))
    return torch.dstack([angles.sin(), angles.cos()]).reshape(T, d_model)


def wrong_own_clock_per_feature(T, d_model):
    """wrong: the exponent is -j / d_model for every feature j, so that the cosine at an
    odd feature goes slower than the sine beside it; the sines are right."""
    j = torch.arange(d_model)
    angles = torch.arange(T)[:, None] / 10000 ** (j / d_model)
    angles[:, 0::2] = angles[:, 0::2].sin()
    angles[:, 1::2] = angles[:, 1::2].cos()
    return angles


def wrong_floor_division(T, d_model):
    """wrong: divides the exponent with //, which gives 0 for every n, so that all the
    clocks go at speed 1; right for d_model = 2."""
    rows = []
    for p in range(T):
        angles = [p / 10000 ** (2 * n // d_model) for n in range(d_model // 2)]
        rows.append([f(a) for a in angles for f in (math.sin, math.cos)])
    return torch.tensor(rows)


def wrong_spread_to_the_end(T, d_model):
    """wrong: spreads the exponents evenly from 0 to -1 with the last included, that is
    -n / (d_model / 2 - 1), so that the slowest clock has exactly 1/10000; right for
    d_model = 2."""
    speeds = 10000 ** -torch.linspace(0, 1, d_model // 2)
    angles = torch.arange(T).unsqueeze(-1) * speeds
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


def wrong_integer_table(T, d_model):
    """wrong: fills a table that has the dtype of the places, integers, so that every
    sine and cosine is cut off to -1, 0 or 1."""
    places = torch.arange(T).unsqueeze(1)
    speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    table = places.new_zeros(T, d_model)
    table[:, 0::2] = torch.sin(places * speeds)
    table[:, 1::2] = torch.cos(places * speeds)
    return table


def wrong_stacked_in_front(T, d_model):
    """wrong: stacks sines and cosines along a new first axis and reshapes, so that the
    upper rows hold sines of several places and the lower rows cosines; the shape is
    right, the values only for T = 1 with d_model = 2."""
    speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(T)[:, None] * speeds
    return torch.stack([angles.sin(), angles.cos()]).reshape(T, d_model)


def wrong_place_zero_empty(T, d_model):
    """wrong: leaves the row of place 0 at zeros, as if it were padding, although its
    cosines are 1; all other rows are right."""
    table = np.array(
        [
            [p / np.power(10000, 2 * (j // 2) / d_model) for j in range(d_model)]
            if p != 0
            else np.zeros(d_model)
            for p in range(T)
        ]
    )
    table[1:, 0::2] = np.sin(table[1:, 0::2])
    table[1:, 1::2] = np.cos(table[1:, 1::2])
    return torch.tensor(table, dtype=torch.float32)


def wrong_half_precision(T, d_model):
    """wrong: computes the angles in float16 to save memory; the first places are nearly
    right, farther on all clocks but the first are off by up to tenths."""
    even = torch.arange(0, d_model, 2)
    speeds = (10000 ** (-even / d_model)).half()
    angles = torch.arange(T).half()[:, None] * speeds
    out = torch.zeros(T, d_model)
    out[:, ::2] = angles.float().sin()
    out[:, 1::2] = angles.float().cos()
    return out


ANSWERS = [
    right_rows_in_python,
    right_complex_clocks,
    right_next_place_from_last,
    right_phase_in_numpy,
    right_cumulative_angles,
    right_doubling,
    wrong_halves,
    wrong_cosine_first,
    wrong_doubled_twice,
    wrong_not_doubled,
    wrong_faster_and_faster,
    wrong_places_from_one,
    wrong_clocks_from_one,
    wrong_own_clock_per_feature,
    wrong_floor_division,
    wrong_spread_to_the_end,
    wrong_integer_table,
    wrong_stacked_in_front,
    wrong_place_zero_empty,
    wrong_half_precision,
]
