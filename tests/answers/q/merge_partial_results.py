"""Answers to merge_partial_results by hand q."""

import torch
import torch.nn.functional as F


def right_logaddexp(context_a, log_a, context_b, log_b):
    """right: logaddexp in double, so that e^(log - the whole) stays sharp."""
    wide_a, wide_b = log_a.double(), log_b.double()
    log = torch.logaddexp(wide_a, wide_b)
    w_a = (wide_a - log).exp()[:, None]
    w_b = (wide_b - log).exp()[:, None]
    context = w_a * context_a + w_b * context_b
    return context.to(context_a.dtype), log.to(log_a.dtype)


def right_softmax_einsum(context_a, log_a, context_b, log_b):
    """right: softmax over the stacked logs, einsum over the stacked contexts."""
    logs = torch.stack([log_a, log_b])
    contexts = torch.stack([context_a, context_b])
    context = torch.einsum("ht,htd->td", logs.softmax(0), contexts)
    return context, logs.logsumexp(0)


def right_sigmoid_lerp(context_a, log_a, context_b, log_b):
    """right: the share of b is a sigmoid; softplus of minus the distance."""
    gap = log_b - log_a
    context = torch.lerp(context_a, context_b, gap.sigmoid()[:, None])
    return context, torch.maximum(log_a, log_b) + (-gap.abs()).exp().log1p()


def right_max_by_hand(context_a, log_a, context_b, log_b):
    """right: takes the larger log off, adds up, divides, puts it back."""
    m = torch.maximum(log_a, log_b)
    e_a, e_b = torch.exp(log_a - m), torch.exp(log_b - m)
    s = e_a + e_b
    context = (e_a[:, None] * context_a + e_b[:, None] * context_b) / s[:, None]
    return context, m + s.log()


def right_where_swap(context_a, log_a, context_b, log_b):
    """right: sorts each query's halves, and corrects the heavier one."""
    a_wins = log_a >= log_b
    hi, lo = torch.where(a_wins, log_a, log_b), torch.where(a_wins, log_b, log_a)
    big = torch.where(a_wins[:, None], context_a, context_b)
    small = torch.where(a_wins[:, None], context_b, context_a)
    r = torch.exp(lo - hi)
    return big + (small - big) * (r / (1 + r))[:, None], hi + torch.log1p(r)


def wrong_plain_exp(context_a, log_a, context_b, log_b):
    """wrong: takes the powers as they are, which overflow or vanish."""
    e_a, e_b = log_a.exp()[:, None], log_b.exp()[:, None]
    s = e_a + e_b
    return (e_a * context_a + e_b * context_b) / s, s.log().squeeze(1)


def wrong_even_average(context_a, log_a, context_b, log_b):
    """wrong: averages the contexts evenly, though the log is right."""
    return (context_a + context_b) / 2, torch.logaddexp(log_a, log_b)


def wrong_softplus_nan(context_a, log_a, context_b, log_b):
    """wrong: log_a + softplus(gap) is nan where log_a is minus infinity."""
    gap = log_b - log_a
    context = torch.lerp(context_a, context_b, gap.sigmoid()[:, None])
    return context, log_a + F.softplus(gap)


def wrong_relative_to_a(context_a, log_a, context_b, log_b):
    """wrong: scales by a's log instead of the larger, so a heavy b overflows."""
    r = torch.exp(log_b - log_a)
    context = (context_a + r[:, None] * context_b) / (1 + r)[:, None]
    return context, torch.logaddexp(log_a, log_b)


def wrong_clamps_logs(context_a, log_a, context_b, log_b):
    """wrong: clamps logs to [-80, 80] to keep the powers finite."""
    e_a, e_b = log_a.clamp(-80, 80).exp(), log_b.clamp(-80, 80).exp()
    s = e_a + e_b
    context = (e_a / s)[:, None] * context_a + (e_b / s)[:, None] * context_b
    return context, s.log()


def wrong_weights_along_d(context_a, log_a, context_b, log_b):
    """wrong: no new axis, so weights run along D (or don't fit at all)."""
    log = torch.logaddexp(log_a, log_b)
    context = (log_a - log).exp() * context_a + (log_b - log).exp() * context_b
    return context, log


def wrong_inf_to_zero(context_a, log_a, context_b, log_b):
    """wrong: replaces minus infinity by 0, which then counts as e^0."""
    log_a = log_a.nan_to_num(neginf=0.0)
    log_b = log_b.nan_to_num(neginf=0.0)
    w = torch.sigmoid(log_a - log_b)[:, None]
    return w * context_a + (1 - w) * context_b, torch.logaddexp(log_a, log_b)


def wrong_log_is_column(context_a, log_a, context_b, log_b):
    """wrong: returns the log as (T, 1)."""
    log_a, log_b = log_a[:, None], log_b[:, None]
    context = torch.lerp(context_a, context_b, torch.sigmoid(log_b - log_a))
    return context, torch.logaddexp(log_a, log_b)


def wrong_global_max(context_a, log_a, context_b, log_b):
    """wrong: takes off one maximum for all queries, so small ones vanish."""
    m = torch.maximum(log_a, log_b).max()
    e_a, e_b = (log_a - m).exp(), (log_b - m).exp()
    s = e_a + e_b
    context = (e_a[:, None] * context_a + e_b[:, None] * context_b) / s[:, None]
    return context, m + s.log()


def wrong_not_normalised(context_a, log_a, context_b, log_b):
    """wrong: rescales to the larger log, but never divides by the sum."""
    m = torch.maximum(log_a, log_b)
    e_a, e_b = (log_a - m).exp(), (log_b - m).exp()
    context = e_a[:, None] * context_a + e_b[:, None] * context_b
    return context, m + (e_a + e_b).log()


def wrong_context_only(context_a, log_a, context_b, log_b):
    """wrong: returns the context and forgets the log."""
    w = torch.sigmoid(log_a - log_b)[:, None]
    return w * context_a + (1 - w) * context_b


def wrong_any_inf_returns_early(context_a, log_a, context_b, log_b):
    """wrong: one query that saw nothing drops that half for all queries."""
    if torch.isneginf(log_a).any():
        return context_b.clone(), log_b.clone()
    if torch.isneginf(log_b).any():
        return context_a.clone(), log_a.clone()
    w = torch.sigmoid(log_a - log_b)[:, None]
    return w * context_a + (1 - w) * context_b, torch.logaddexp(log_a, log_b)


def wrong_log_is_max(context_a, log_a, context_b, log_b):
    """wrong: returns the larger log, true only when halves lie far apart."""
    w = torch.sigmoid(log_a - log_b)[:, None]
    return w * context_a + (1 - w) * context_b, torch.maximum(log_a, log_b)


ANSWERS = [
    right_logaddexp,
    right_softmax_einsum,
    right_sigmoid_lerp,
    right_max_by_hand,
    right_where_swap,
    wrong_plain_exp,
    wrong_even_average,
    wrong_softplus_nan,
    wrong_relative_to_a,
    wrong_clamps_logs,
    wrong_weights_along_d,
    wrong_inf_to_zero,
    wrong_log_is_column,
    wrong_global_max,
    wrong_not_normalised,
    wrong_context_only,
    wrong_any_inf_returns_early,
    wrong_log_is_max,
]
