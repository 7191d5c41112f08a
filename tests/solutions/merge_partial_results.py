"""One attention from two that saw half of the keys each."""

import math

import torch


def by_logaddexp(context_a, log_a, context_b, log_b):
    log = torch.logaddexp(log_a, log_b)
    a, b = (log_a - log).exp()[:, None], (log_b - log).exp()[:, None]
    return a * context_a + b * context_b, log


def by_softmax_of_two(context_a, log_a, context_b, log_b):
    logs = torch.stack([log_a, log_b])
    shares = logs.softmax(dim=0).unsqueeze(-1)
    contexts = torch.stack([context_a, context_b])
    return (shares * contexts).sum(dim=0), logs.logsumexp(dim=0)


def by_largest(context_a, log_a, context_b, log_b):
    largest = torch.maximum(log_a, log_b)
    a, b = torch.exp(log_a - largest), torch.exp(log_b - largest)
    total = a + b
    context = (a.unsqueeze(1) * context_a + b.unsqueeze(1) * context_b) / total[:, None]
    return context, largest + total.log()


def by_loops(context_a, log_a, context_b, log_b):
    context, log = torch.empty_like(context_a), torch.empty_like(log_a)
    for t in range(len(log_a)):
        a, b = log_a[t].item(), log_b[t].item()
        m = max(a, b)
        p, q = math.exp(a - m), math.exp(b - m)
        context[t] = (p * context_a[t] + q * context_b[t]) / (p + q)
        log[t] = m + math.log(p + q)
    return context, log


def by_interpolation(context_a, log_a, context_b, log_b):
    share = (log_b - log_a).sigmoid()[..., None]
    return torch.lerp(context_a, context_b, share), torch.logaddexp(log_b, log_a)


def naive_powers(context_a, log_a, context_b, log_b):
    a, b = log_a.exp()[:, None], log_b.exp()[:, None]
    return (a * context_a + b * context_b) / (a + b), (a + b).log().squeeze(1)


def plain_mean(context_a, log_a, context_b, log_b):
    return (context_a + context_b) / 2, torch.logaddexp(log_a, log_b)


def sum_of_logs(context_a, log_a, context_b, log_b):
    share = (log_a - log_b).sigmoid()[:, None]
    return share * context_a + (1 - share) * context_b, log_a + log_b


def no_new_axis(context_a, log_a, context_b, log_b):
    log = torch.logaddexp(log_a, log_b)
    a, b = (log_a - log).exp(), (log_b - log).exp()
    return a * context_a + b * context_b, log


def never_divided(context_a, log_a, context_b, log_b):
    largest = torch.maximum(log_a, log_b)
    a, b = torch.exp(log_a - largest), torch.exp(log_b - largest)
    context = a[:, None] * context_a + b[:, None] * context_b
    return context, largest + (a + b).log()


def largest_forgotten(context_a, log_a, context_b, log_b):
    largest = torch.maximum(log_a, log_b)
    a, b = torch.exp(log_a - largest), torch.exp(log_b - largest)
    context = (a[:, None] * context_a + b[:, None] * context_b) / (a + b)[:, None]
    return context, (a + b).log()


def exchanged(context_a, log_a, context_b, log_b):
    logs = torch.stack([log_a, log_b])
    first, second = logs.softmax(dim=0)
    return second[:, None] * context_a + first[:, None] * context_b, logs.logsumexp(0)


def softmax_along_the_text(context_a, log_a, context_b, log_b):
    a, b = log_a.softmax(0)[:, None], log_b.softmax(0)[:, None]
    return a * context_a + b * context_b, torch.logaddexp(log_a, log_b)


RIGHT = [by_logaddexp, by_softmax_of_two, by_largest, by_loops, by_interpolation]
WRONG = [
    (naive_powers, "exponentials that overflow"),
    (plain_mean, "the mean of the two contexts"),
    (sum_of_logs, "the sum of the logs"),
    (no_new_axis, "shares along the features"),
    (never_divided, "contexts corrected, but not divided"),
    (largest_forgotten, "a log that lacks the largest"),
    (exchanged, "the shares exchanged"),
    (softmax_along_the_text, "a softmax over the queries"),
]
