import math

import torch
import torch.nn.functional as F


def right_logaddexp(context_a, log_a, context_b, log_b):
    """right: the log by logaddexp, the shares by exp of the differences to it"""
    log = torch.logaddexp(log_a, log_b)
    share_a = torch.exp(log_a - log)[:, None]
    share_b = torch.exp(log_b - log)[:, None]
    return share_a * context_a + share_b * context_b, log


def right_softmax_einsum(context_a, log_a, context_b, log_b):
    """right: shares by a softmax over the two stacked logs, and an einsum"""
    logs = torch.stack([log_a, log_b])
    contexts = torch.stack([context_a, context_b])
    shares = F.softmax(logs, dim=0)
    return torch.einsum("ht,htd->td", shares, contexts), torch.logsumexp(logs, dim=0)


def right_sigmoid_lerp(context_a, log_a, context_b, log_b):
    """right: the first share is a sigmoid of the difference; the log by log1p"""
    difference = log_a - log_b
    share = torch.sigmoid(difference).unsqueeze(-1)
    log = torch.maximum(log_a, log_b) + torch.log1p(torch.exp(-difference.abs()))
    return torch.lerp(context_b, context_a, share), log


def right_query_by_query(context_a, log_a, context_b, log_b):
    """right: a loop over queries in Python's own floats, an empty half left out"""
    context = torch.zeros_like(context_a)
    log = torch.zeros_like(log_a)
    for t in range(len(log_a)):
        a, b = log_a[t].item(), log_b[t].item()
        if a == -math.inf:
            context[t], log[t] = context_b[t], log_b[t]
        elif b == -math.inf:
            context[t], log[t] = context_a[t], log_a[t]
        else:
            top = max(a, b)
            sum_a, sum_b = math.exp(a - top), math.exp(b - top)
            context[t] = (sum_a * context_a[t] + sum_b * context_b[t]) / (sum_a + sum_b)
            log[t] = top + math.log(sum_a + sum_b)
    return context, log


def right_weighted_sums_float64(context_a, log_a, context_b, log_b):
    """right: weighted sums relative to each query's maximum, returned in float64"""
    top = torch.maximum(log_a, log_b).double()

    def weighted(context, log):
        weight = (log.double() - top).exp().unsqueeze(1)
        return torch.cat([weight * context.double(), weight], dim=1)

    both = weighted(context_a, log_a) + weighted(context_b, log_b)
    return both[:, :-1] / both[:, -1:], top + both[:, -1].log()


def right_recursion_and_tanh(context_a, log_a, context_b, log_b):
    """right: halves the queries by recursion; the share by tanh, the log by softplus"""
    size = len(log_a)
    if size > 1:
        cut = size // 2
        parts = [
            right_recursion_and_tanh(context_a[s], log_a[s], context_b[s], log_b[s])
            for s in (slice(None, cut), slice(cut, None))
        ]
        contexts, logs = zip(*parts)
        return torch.cat(contexts), torch.cat(logs)
    tilt = torch.tanh((log_a - log_b) / 2).reshape(-1, 1)
    context = (context_a + context_b) / 2 + tilt * (context_a - context_b) / 2
    gap = (log_a - log_b).abs()
    return context, torch.max(log_a, log_b) + F.softplus(-gap)


def wrong_plain_average(context_a, log_a, context_b, log_b):
    """wrong: averages the two contexts, as if both halves weighed the same"""
    return (context_a + context_b) / 2, torch.logaddexp(log_a, log_b)


def wrong_sum_of_contexts(context_a, log_a, context_b, log_b):
    """wrong: adds the contexts without weights"""
    return context_a + context_b, torch.logaddexp(log_a, log_b)


def wrong_overflows(context_a, log_a, context_b, log_b):
    """wrong: takes the powers as they are, which overflow or vanish for large logs"""
    sum_a, sum_b = log_a.exp(), log_b.exp()
    total = sum_a + sum_b
    context = (sum_a[:, None] * context_a + sum_b[:, None] * context_b) / total[:, None]
    return context, total.log()


def wrong_overflow_in_log_only(context_a, log_a, context_b, log_b):
    """wrong: stable shares, but the log as log(exp + exp)"""
    shares = torch.softmax(torch.stack([log_a, log_b], dim=-1), dim=-1)
    context = shares[:, :1] * context_a + shares[:, 1:] * context_b
    return context, torch.log(log_a.exp() + log_b.exp())


def wrong_shares_swapped(context_a, log_a, context_b, log_b):
    """wrong: gives each half the share of the other"""
    share = torch.sigmoid(log_b - log_a)[:, None]
    context = share * context_a + (1 - share) * context_b
    return context, torch.logaddexp(log_a, log_b)


def wrong_logs_added(context_a, log_a, context_b, log_b):
    """wrong: right context, but adds the logs, which multiplies the sums"""
    share = torch.sigmoid(log_a - log_b)[:, None]
    return share * context_a + (1 - share) * context_b, log_a + log_b


def wrong_log_is_maximum(context_a, log_a, context_b, log_b):
    """wrong: right context, but the larger of the two logs for the log"""
    share = torch.sigmoid(log_a - log_b)[:, None]
    return share * context_a + (1 - share) * context_b, torch.maximum(log_a, log_b)


def wrong_logs_as_weights(context_a, log_a, context_b, log_b):
    """wrong: weights by the logs themselves, not by their powers"""
    share = (log_a / (log_a + log_b))[:, None]
    return share * context_a + (1 - share) * context_b, torch.logaddexp(log_a, log_b)


def wrong_relative_to_b(context_a, log_a, context_b, log_b):
    """wrong: relative to log_b, so overflows if a is far larger, or b is empty"""
    ratio = torch.exp(log_a - log_b)
    context = (ratio[:, None] * context_a + context_b) / (ratio[:, None] + 1)
    return context, log_b + torch.log1p(ratio)


def wrong_softplus_from_a(context_a, log_a, context_b, log_b):
    """wrong: log_a + softplus(log_b - log_a), nan or inf where a saw nothing"""
    share = torch.sigmoid(log_a - log_b)[:, None]
    context = share * context_a + (1 - share) * context_b
    return context, log_a + F.softplus(log_b - log_a)


def wrong_logs_clamped(context_a, log_a, context_b, log_b):
    """wrong: clamps the logs to -80 .. 80 against overflow, which changes them"""
    sum_a = log_a.clamp(-80, 80).exp()
    sum_b = log_b.clamp(-80, 80).exp()
    total = sum_a + sum_b
    context = (sum_a[:, None] * context_a + sum_b[:, None] * context_b) / total[:, None]
    return context, total.log()


def wrong_maximum_over_all_queries(context_a, log_a, context_b, log_b):
    """wrong: one maximum for all queries, so those with far smaller logs vanish"""
    top = torch.cat([log_a, log_b]).max()
    sum_a, sum_b = (log_a - top).exp(), (log_b - top).exp()
    total = sum_a + sum_b
    context = (sum_a[:, None] * context_a + sum_b[:, None] * context_b) / total[:, None]
    return context, top + total.log()


def wrong_softmax_over_queries(context_a, log_a, context_b, log_b):
    """wrong: the softmax over the queries instead of over the two halves"""
    logs = torch.stack([log_a, log_b])
    shares = torch.softmax(logs, dim=1)
    context = shares[0][:, None] * context_a + shares[1][:, None] * context_b
    return context, torch.logsumexp(logs, dim=0)


def wrong_no_new_axis(context_a, log_a, context_b, log_b):
    """wrong: shares (T,) along the features, an error unless T = D or T = 1"""
    log = torch.logaddexp(log_a, log_b)
    context = (log_a - log).exp() * context_a + (log_b - log).exp() * context_b
    return context, log


def wrong_maximum_not_added_back(context_a, log_a, context_b, log_b):
    """wrong: right context, but the log relative to the maximum"""
    top = torch.maximum(log_a, log_b)
    sum_a, sum_b = (log_a - top).exp(), (log_b - top).exp()
    total = sum_a + sum_b
    context = (sum_a[:, None] * context_a + sum_b[:, None] * context_b) / total[:, None]
    return context, total.log()


def wrong_not_divided(context_a, log_a, context_b, log_b):
    """wrong: weighted sums relative to the maximum, but doesn't divide by both"""
    top = torch.maximum(log_a, log_b)
    sum_a, sum_b = (log_a - top).exp(), (log_b - top).exp()
    context = sum_a[:, None] * context_a + sum_b[:, None] * context_b
    return context, top + (sum_a + sum_b).log()


def wrong_log_of_the_mean(context_a, log_a, context_b, log_b):
    """wrong: the log of the mean of the two sums, off by log 2"""
    log = torch.logaddexp(log_a, log_b)
    share = torch.exp(log_a - log).unsqueeze(1)
    return share * context_a + (1 - share) * context_b, log - math.log(2)


def wrong_base_two(context_a, log_a, context_b, log_b):
    """wrong: powers and logs of base 2 instead of e"""
    log = torch.logaddexp2(log_a, log_b)
    share_a = torch.exp2(log_a - log)[:, None]
    share_b = torch.exp2(log_b - log)[:, None]
    return share_a * context_a + share_b * context_b, log


def wrong_log_with_an_axis(context_a, log_a, context_b, log_b):
    """wrong: right numbers, but the log keeps an axis too many, (T, 1)"""
    log_a, log_b = log_a[:, None], log_b[:, None]
    log = torch.logaddexp(log_a, log_b)
    context = (log_a - log).exp() * context_a + (log_b - log).exp() * context_b
    return context, log


def wrong_empty_counts_as_zero(context_a, log_a, context_b, log_b):
    """wrong: sets minus infinity to 0, so an empty half counts as a sum of 1"""
    log_a = torch.where(torch.isinf(log_a), torch.zeros_like(log_a), log_a)
    log_b = torch.where(torch.isinf(log_b), torch.zeros_like(log_b), log_b)
    log = torch.logaddexp(log_a, log_b)
    share = torch.exp(log_a - log)[:, None]
    return share * context_a + (1 - share) * context_b, log


def wrong_one_empty_query_drops_the_half(context_a, log_a, context_b, log_b):
    """wrong: if any query saw nothing in a half, leaves that half out for all"""
    if torch.isinf(log_a).any():
        return context_b.clone(), log_b.clone()
    if torch.isinf(log_b).any():
        return context_a.clone(), log_a.clone()
    log = torch.logaddexp(log_a, log_b)
    share = torch.exp(log_a - log)[:, None]
    return share * context_a + (1 - share) * context_b, log


def wrong_winner_takes_all(context_a, log_a, context_b, log_b):
    """wrong: takes the context and log of the half whose log is larger"""
    a_wins = log_a > log_b
    context = torch.where(a_wins[:, None], context_a, context_b)
    return context, torch.where(a_wins, log_a, log_b)


def wrong_stale_log_a(context_a, log_a, context_b, log_b):
    """wrong: merges into log_a, and then takes the shares by the new log_a"""
    log_a = torch.logaddexp(log_a, log_b)
    share = torch.sigmoid(log_a - log_b)[:, None]
    return share * context_a + (1 - share) * context_b, log_a


def wrong_shifts_logs_in_place(context_a, log_a, context_b, log_b):
    """wrong: right result, but subtracts the maximum from the caller's logs"""
    top = torch.maximum(log_a, log_b)
    log_a -= top
    log_b -= top
    sum_a, sum_b = log_a.exp(), log_b.exp()
    total = sum_a + sum_b
    context = (sum_a[:, None] * context_a + sum_b[:, None] * context_b) / total[:, None]
    return context, top + total.log()


ANSWERS = [
    right_logaddexp,
    right_softmax_einsum,
    right_sigmoid_lerp,
    right_query_by_query,
    right_weighted_sums_float64,
    right_recursion_and_tanh,
    wrong_plain_average,
    wrong_sum_of_contexts,
    wrong_overflows,
    wrong_overflow_in_log_only,
    wrong_shares_swapped,
    wrong_logs_added,
    wrong_log_is_maximum,
    wrong_logs_as_weights,
    wrong_relative_to_b,
    wrong_softplus_from_a,
    wrong_logs_clamped,
    wrong_maximum_over_all_queries,
    wrong_softmax_over_queries,
    wrong_no_new_axis,
    wrong_maximum_not_added_back,
    wrong_not_divided,
    wrong_log_of_the_mean,
    wrong_base_two,
    wrong_log_with_an_axis,
    wrong_empty_counts_as_zero,
    wrong_one_empty_query_drops_the_half,
    wrong_winner_takes_all,
    wrong_stale_log_a,
    wrong_shifts_logs_in_place,
]
