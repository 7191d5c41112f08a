"""Answers to alibi_bias by hand j."""

import math

import numpy as np
import torch


def right_lists(num_heads, T):
    """right: three nested list comprehensions in Python, with -math.inf for the keys
    that come later."""
    return torch.tensor(
        [
            [
                [
                    (k - q) * 2 ** (-8 * h / num_heads) if k <= q else -math.inf
                    for k in range(T)
                ]
                for q in range(T)
            ]
            for h in range(1, num_heads + 1)
        ]
    )


def right_sliding_window(num_heads, T):
    """right: one long line per head, -(T - 1) ... -1, 0 and then T - 1 times minus
    infinity, over which a window of T slides (unfold); the rows flipped."""
    line = torch.cat([torch.arange(1.0 - T, 1.0), torch.full((T - 1,), -torch.inf)])
    exponents = -8 * torch.arange(1, num_heads + 1) / num_heads
    lines = torch.exp2(exponents)[:, None] * line
    return lines.unfold(1, T, 1).flip(1)


def right_cumulative_sum(num_heads, T):
    """right: the distances as a cumulative sum down the columns of ones strictly below
    the diagonal; minus infinity filled in where a triangle of ones is zero."""
    distance = torch.ones(T, T).tril(-1).cumsum(dim=0)
    later = torch.ones(T, T).tril() == 0
    heads = [
        (-distance * 0.5 ** (8 * h / num_heads)).masked_fill(later, float("-inf"))
        for h in range(1, num_heads + 1)
    ]
    return torch.stack(heads)


def right_numpy_outer(num_heads, T):
    """right: NumPy in float64: outer differences of the places, outer product with the
    slopes, np.where; float32 at the end."""
    ahead = np.subtract.outer(np.arange(T), np.arange(T)).T  # key less query
    slopes = np.logspace(-8 / num_heads, -8, num_heads, base=2)
    bias = np.where(ahead > 0, -np.inf, np.multiply.outer(slopes, ahead))
    return torch.from_numpy(bias.astype(np.float32))


def right_head_from_head(num_heads, T):
    """right: a recurrence in float64: each head is the head before times 2^(-8/H),
    which leaves 0 and minus infinity as they are."""
    ratio = 2 ** (-8 / num_heads)
    place = torch.arange(T, dtype=torch.float64)
    bias = place - place[:, None]
    bias[bias > 0] = -torch.inf
    heads = []
    for _ in range(num_heads):
        bias = bias * ratio
        heads.append(bias)
    return torch.stack(heads).float()


def right_two_triangles(num_heads, T):
    """right: adds two triangles: the distances times the slopes (einsum) on and below
    the diagonal, and minus infinity above it."""
    slopes = torch.full((num_heads,), 2 ** (-8 / num_heads)).double().cumprod(0).float()
    place = torch.arange(T).float()
    distance = (place[:, None] - place).tril()
    future = torch.full((T, T), float("-inf")).triu(diagonal=1)
    return future - torch.einsum("h,qk->hqk", slopes, distance)


def wrong_rewards_distance(num_heads, T):
    """wrong: the bias is plus the distance times the slope, so that far words gain; the
    minus is missing."""
    slopes = 2 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    place = torch.arange(T)
    distance = place[:, None] - place[None, :]
    bias = slopes[:, None, None] * distance
    return bias.masked_fill(distance < 0, float("-inf"))


def wrong_heads_from_zero(num_heads, T):
    """wrong: counts the heads from 0, so that the first slope is 1 and each head has
    the slope of the head before."""
    bias = torch.full((num_heads, T, T), -torch.inf)
    for h in range(num_heads):
        slope = 2 ** (-8 * h / num_heads)
        for q in range(T):
            bias[h, q, : q + 1] = -slope * torch.arange(q, -1, -1)
    return bias


def wrong_future_left_open(num_heads, T):
    """wrong: takes the absolute distance on both sides and hides nothing: a later key
    gets minus its distance times the slope; right for T = 1."""
    slopes = torch.exp2(-8 * torch.arange(1, num_heads + 1) / num_heads)
    place = torch.arange(T).float()
    distance = torch.cdist(place[:, None], place[:, None])
    return -slopes.view(-1, 1, 1) * distance


def wrong_axes_swapped(num_heads, T):
    """wrong: the keys along the second axis and the queries along the third, so that it
    hides the past and shows the future; right for T = 1."""
    slopes = torch.tensor([2 ** (-8 * (h + 1) / num_heads) for h in range(num_heads)])
    query, key = torch.meshgrid(torch.arange(T), torch.arange(T), indexing="xy")
    bias = -slopes[:, None, None] * (query - key)
    return torch.where(key <= query, bias, -torch.inf)


def wrong_mask_times_infinity(num_heads, T):
    """wrong: multiplies a mask of 0 and 1 by minus infinity, and 0 times infinity is
    NaN: everything at or before the query is NaN."""
    slopes = 2 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    place = torch.arange(T)
    distance = (place[:, None] - place).clamp(min=0)
    future = (place > place[:, None]).float() * float("-inf")
    return -slopes[:, None, None] * distance + future


def wrong_diagonal_hidden(num_heads, T):
    """wrong: hides the query's own place, too (triu without diagonal=1): the diagonal
    is minus infinity instead of 0."""
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    place = torch.arange(T)
    bias = -slopes[:, None, None] * (place[:, None] - place)
    hidden = torch.triu(torch.ones(T, T, dtype=torch.bool))
    return bias.masked_fill(hidden, float("-inf"))


def wrong_made_for_eight_heads(num_heads, T):
    """wrong: the slope is 2^(-h) for any number of heads, which is right for H = 8
    only."""
    bias = []
    for h in range(1, num_heads + 1):
        one = torch.zeros(T, T)
        for q in range(T):
            for k in range(T):
                one[q, k] = -(q - k) * 2**-h if k <= q else float("-inf")
        bias.append(one)
    return torch.stack(bias)


def wrong_whole_exponents(num_heads, T):
    """wrong: divides the exponent with //, so that it is a whole number; right for up
    to 8 heads, for 16 and more several heads share a slope."""
    slopes = torch.tensor(
        [2.0 ** (-8 * h // num_heads) for h in range(1, num_heads + 1)]
    )
    place = torch.arange(T)
    ahead = place - place[:, None]
    bias = torch.einsum("h,qk->hqk", slopes, ahead.float())
    return torch.where(ahead > 0, float("-inf"), bias)


def wrong_place_of_the_key(num_heads, T):
    """wrong: adds the slope times the key's place instead of minus the distance; each
    row is off by a constant, so that a softmax of it would be the same."""
    slopes = 2 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    rows = slopes[:, None, None] * torch.arange(T).expand(1, T, T)
    return rows + torch.full((T, T), float("-inf")).triu(1)


def wrong_squeezed(num_heads, T):
    """wrong: gets rid of a helper axis with squeeze(), which also removes the axis of
    heads for H = 1 and the axes of the words for T = 1; right otherwise."""
    slopes = 2 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    place = torch.arange(T).float()
    ahead = place.view(1, 1, 1, T) - place.view(1, 1, T, 1)
    bias = slopes.view(1, num_heads, 1, 1) * ahead
    return bias.masked_fill(ahead > 0, -torch.inf).squeeze()


def wrong_plus_infinity(num_heads, T):
    """wrong: fills minus infinity into the distances first and multiplies by minus the
    slope afterwards, so that the future gets plus infinity; right for T = 1."""
    place = torch.arange(T).float()
    distance = place[:, None] - place
    distance[distance < 0] = float("-inf")
    slopes = torch.logspace(-8 / num_heads, -8, num_heads, base=2)
    return -slopes[:, None, None] * distance


def wrong_natural_base(num_heads, T):
    """wrong: the slope is e^(-8h/H) instead of 2^(-8h/H)."""
    slopes = torch.exp(-8 * torch.arange(1, num_heads + 1) / num_heads)
    distance = torch.ones(T, T).tril(-1).cumsum(0)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return (-slopes.view(-1, 1, 1) * distance).masked_fill(future, -torch.inf)


def wrong_heads_last(num_heads, T):
    """wrong: the axis of the heads comes last, (T, T, H) instead of (H, T, T); the
    values are right."""
    slopes = 2 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    place = torch.arange(T)
    distance = (place[:, None] - place)[..., None]
    return torch.where(distance >= 0, -distance * slopes, float("-inf"))


def wrong_distance_from_one_large_number(num_heads, T):
    """wrong: two mistakes: the distance counts both ends, q - k + 1, and the future
    gets -1e9 instead of minus infinity."""
    slopes = 2 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    place = torch.arange(T)
    distance = place[:, None] - place + 1
    bias = -slopes[:, None, None] * distance
    return bias.masked_fill(distance <= 0, -1e9)


ANSWERS = [
    right_lists,
    right_sliding_window,
    right_cumulative_sum,
    right_numpy_outer,
    right_head_from_head,
    right_two_triangles,
    wrong_rewards_distance,
    wrong_heads_from_zero,
    wrong_future_left_open,
    wrong_axes_swapped,
    wrong_mask_times_infinity,
    wrong_diagonal_hidden,
    wrong_made_for_eight_heads,
    wrong_whole_exponents,
    wrong_place_of_the_key,
    wrong_squeezed,
    wrong_plus_infinity,
    wrong_natural_base,
    wrong_heads_last,
    wrong_distance_from_one_large_number,
]
