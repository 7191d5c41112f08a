"""Answers to alibi_bias by hand k."""

import math

import torch


def right_three_loops(num_heads, T):
    """right: nested Python lists over heads, queries and keys, -math.inf for the keys
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


def right_counting_rows(num_heads, T):
    """right: gets the distances by counting down the columns (cumsum of ones below the
    diagonal) and fills the future with masked_fill."""
    distance = torch.ones(T, T).tril(-1).cumsum(dim=0)
    slopes = 0.5 ** (8 * torch.arange(1, num_heads + 1) / num_heads)
    bias = torch.einsum("h,qk->hqk", slopes, -distance)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return bias.masked_fill(future, float("-inf"))


def right_sliding_window(num_heads, T):
    """right: one long row for each head, from -(T - 1) slopes up to 0 and then -inf;
    query q sees a window of T of it (unfold), the windows in backward order."""
    slopes = torch.logspace(-8 / num_heads, -8, num_heads, base=2)
    past = torch.arange(1 - T, 1) * slopes[:, None]
    row = torch.cat([past, torch.full((num_heads, T - 1), -torch.inf)], dim=1)
    return row.unfold(1, T, 1).flip(1)


def right_log_distances(num_heads, T):
    """right: in log space, distance times slope is 2 to the power of log2(distance)
    - 8h / H; the NaN of negative distances is replaced by -inf."""
    p = torch.arange(T, dtype=torch.float64)
    h = torch.arange(1, num_heads + 1, dtype=torch.float64).view(-1, 1, 1)
    power = torch.log2(p[:, None] - p) - 8 * h / num_heads
    bias = -torch.exp2(power)
    return torch.where(bias.isnan(), -torch.inf, bias).float()


def right_slopes_of_the_paper(num_heads, T):
    """right: the slopes as in the paper's code, start and ratio 2^(-2^(3 - log2 H)),
    and the mask added as the logarithm of a lower triangle of ones."""
    first = 2 ** (-(2 ** -(math.log2(num_heads) - 3)))
    slopes = torch.tensor([first * first**i for i in range(num_heads)])
    p = torch.arange(T)
    bias = -(p[None, :] - p[:, None]).abs() * slopes.reshape(-1, 1, 1)
    return bias + torch.ones(T, T).tril().log()


def wrong_heads_from_zero(num_heads, T):
    """wrong: counts the heads from 0 instead of 1, so that the first has the slope 1
    and each the slope of the head before it."""
    slopes = 2.0 ** (-8 * torch.arange(num_heads) / num_heads)
    p = torch.arange(T)
    gap = p[None, :] - p[:, None]
    bias = gap * slopes[:, None, None]
    return bias.masked_fill(gap > 0, -torch.inf)


def wrong_halves_each_time(num_heads, T):
    """wrong: starts at 2^(-8 / H) but halves the slope from head to head, which the
    paper's example does for 8 heads; right for H = 8 and H = 1 only."""
    slopes = [2 ** (-8 / num_heads)]
    while len(slopes) < num_heads:
        slopes.append(slopes[-1] / 2)
    p = torch.arange(T)
    gap = p[None, :] - p[:, None]
    bias = gap * torch.tensor(slopes)[:, None, None]
    return bias.masked_fill(gap > 0, -torch.inf)


def wrong_future_open(num_heads, T):
    """wrong: takes minus the absolute distance for the later keys, too, without minus
    infinity, so that the future isn't hidden; right for T = 1."""
    h = torch.arange(1, num_heads + 1)
    slopes = 2.0 ** (-8 * h / num_heads)
    p = torch.arange(T)
    distance = (p[:, None] - p[None, :]).abs()
    return -slopes.view(-1, 1, 1) * distance


def wrong_plus(num_heads, T):
    """wrong: adds the distance times the slope instead of subtracting it, so that far
    words gain; the future is hidden as it should be."""
    h = torch.arange(1, num_heads + 1)
    slopes = 2.0 ** (-8 * h / num_heads)
    p = torch.arange(T)
    distance = p[:, None] - p[None, :]
    bias = slopes[:, None, None] * distance
    bias[:, distance < 0] = float("-inf")
    return bias


def wrong_key_places_only(num_heads, T):
    """wrong: the slope times the key's place for all queries, as the paper's code has
    it (the same after softmax), instead of minus the distance."""
    h = torch.arange(1, num_heads + 1)
    slopes = 2.0 ** (-8 * h / num_heads)
    alibi = slopes[:, None, None] * torch.arange(T)[None, None, :]
    mask = torch.triu(torch.full((T, T), float("-inf")), 1)
    return mask.unsqueeze(0) + alibi


def wrong_hides_itself(num_heads, T):
    """wrong: the mask is triu without the 1, it begins at the diagonal, so that a word
    doesn't see itself and the first word sees nothing."""
    slopes = torch.tensor([2 ** (-8 * h / num_heads) for h in range(1, num_heads + 1)])
    p = torch.arange(T)
    bias = (p[None, :] - p[:, None]) * slopes[:, None, None]
    mask = torch.ones(T, T, dtype=torch.bool).triu()
    return bias.masked_fill(mask, float("-inf"))


def wrong_minus_a_billion(num_heads, T):
    """wrong: fills the future with -1e9, as many tutorials do, instead of minus
    infinity; right for T = 1."""
    slopes = torch.tensor([2 ** (-8 * h / num_heads) for h in range(1, num_heads + 1)])
    p = torch.arange(T)
    bias = (p[None, :] - p[:, None]) * slopes[:, None, None]
    causal = torch.tril(torch.ones(T, T))
    return bias.masked_fill(causal == 0, -1e9)


def wrong_query_and_key_swapped(num_heads, T):
    """wrong: the rows are the keys and the columns the queries, the transpose, so that
    the past is hidden and the future is open; right for T = 1."""
    h = torch.arange(1, num_heads + 1).view(num_heads, 1, 1)
    query = torch.arange(T).view(1, 1, T)
    key = torch.arange(T).view(1, T, 1)
    bias = (key - query) * 2.0 ** (-8 * h / num_heads)
    return torch.where(key <= query, bias, -torch.inf)


def wrong_zero_times_infinity(num_heads, T):
    """wrong: multiplies -inf by a mask of zeros and ones, which gives NaN (0 times
    infinity) wherever the key isn't later."""
    h = torch.arange(1, num_heads + 1)
    slopes = 2.0 ** (-8 * h / num_heads)
    keep = torch.ones(T, T).tril()
    p = torch.arange(T)
    bias = -(p[:, None] - p[None, :]) * slopes[:, None, None]
    return bias * keep + (1 - keep) * float("-inf")


def wrong_whole_exponents(num_heads, T):
    """wrong: divides 8h // H in whole numbers, so that with more than 8 heads the
    slopes are rounded to powers of two; right up to H = 8."""
    slopes = torch.tensor(
        [1 / 2 ** (8 * h // num_heads) for h in range(1, num_heads + 1)]
    )
    q = torch.arange(T).unsqueeze(1)
    k = torch.arange(T).unsqueeze(0)
    bias = -(q - k) * slopes.view(-1, 1, 1)
    return bias.masked_fill(k > q, -math.inf)


def wrong_exponent_cut_short(num_heads, T):
    """wrong: reads the slope as 2^-8 times h / H instead of 2 to the power of -8h / H;
    right for H = 1 and for the last head."""
    q = torch.arange(T).unsqueeze(1)
    k = torch.arange(T).unsqueeze(0)
    out = torch.full((num_heads, T, T), -torch.inf)
    for h in range(1, num_heads + 1):
        slope = 2**-8 * h / num_heads
        out[h - 1] = torch.where(k <= q, -(q - k) * slope, out[h - 1])
    return out


def wrong_evenly_spaced(num_heads, T):
    """wrong: spaces the slopes evenly from 2^(-8 / H) to 2^-8 (linspace) instead of by
    a constant ratio; right for one or two heads."""
    slopes = torch.linspace(2 ** (-8 / num_heads), 2**-8, num_heads)
    p = torch.arange(T)
    distance = p[:, None] - p[None, :]
    bias = -distance * slopes[:, None, None]
    return bias.masked_fill(distance < 0, -torch.inf)


def wrong_slopes_along_keys(num_heads, T):
    """wrong: multiplies the (T, T) distances by the (H,) slopes without new axes: an
    error for most sizes, and for H = T the slope goes by the key instead of the head;
    right for H = 1 only."""
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    p = torch.arange(T)
    distance = p[:, None] - p[None, :]
    bias = torch.empty(num_heads, T, T)
    bias[:] = -distance * slopes
    return bias.masked_fill(distance < 0, -torch.inf)


def wrong_zero_future_heads_from_zero(num_heads, T):
    """wrong: two mistakes: tril leaves 0 instead of minus infinity where the key comes
    later, and the heads are counted from 0."""
    p = torch.arange(T)
    bias = torch.stack(
        [
            (p[None, :] - p[:, None]) * 2 ** (-8 * h / num_heads)
            for h in range(num_heads)
        ]
    )
    return bias.tril()


ANSWERS = [
    right_three_loops,
    right_counting_rows,
    right_sliding_window,
    right_log_distances,
    right_slopes_of_the_paper,
    wrong_heads_from_zero,
    wrong_halves_each_time,
    wrong_future_open,
    wrong_plus,
    wrong_key_places_only,
    wrong_hides_itself,
    wrong_minus_a_billion,
    wrong_query_and_key_swapped,
    wrong_zero_times_infinity,
    wrong_whole_exponents,
    wrong_exponent_cut_short,
    wrong_evenly_spaced,
    wrong_slopes_along_keys,
    wrong_zero_future_heads_from_zero,
]
