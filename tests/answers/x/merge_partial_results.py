import math
import torch
import torch.nn.functional as F


def right_1(context_a, log_a, context_b, log_b):
    """right: logaddexp and exp of differences"""
    log = torch.logaddexp(log_a, log_b)
    a = (log_a - log).exp().unsqueeze(1)
    b = (log_b - log).exp().unsqueeze(1)
    return a * context_a + b * context_b, log


def right_2(context_a, log_a, context_b, log_b):
    """right: sigmoid of the difference, logs by max"""
    share = torch.sigmoid(log_a - log_b)[:, None]
    top = torch.maximum(log_a, log_b)
    log = top + torch.log(torch.exp(log_a - top) + torch.exp(log_b - top))
    return torch.lerp(context_b, context_a, share), log


def wrong_1(context_a, log_a, context_b, log_b):
    """wrong: exp without protection: overflows"""
    a, b = log_a.exp(), log_b.exp()
    total = a + b
    context = (a[:, None] * context_a + b[:, None] * context_b) / total[:, None]
    return context, total.log()


def wrong_2(context_a, log_a, context_b, log_b):
    """wrong: adds contexts weighted by the logs themselves, not exponentials"""
    a, b = log_a[:, None], log_b[:, None]
    context = (a * context_a + b * context_b) / (a + b)
    return context, torch.logaddexp(log_a, log_b)


def wrong_3(context_a, log_a, context_b, log_b):
    """wrong: new log is the sum of the logs"""
    share = torch.softmax(torch.stack([log_a, log_b]), dim=0)
    context = share[0].unsqueeze(-1) * context_a + share[1].unsqueeze(-1) * context_b
    return context, log_a + log_b


def wrong_4(context_a, log_a, context_b, log_b):
    """wrong: softmax over the wrong axis (queries)"""
    logs = torch.stack([log_a, log_b])
    shares = logs.softmax(dim=-1)[:, :, None]
    return shares[0] * context_a + shares[1] * context_b, logs.logsumexp(dim=0)


def wrong_5(context_a, log_a, context_b, log_b):
    """wrong: plain mean of the two contexts"""
    context = (context_a + context_b) / 2
    return context, torch.logaddexp(log_a, log_b)


def wrong_6(context_a, log_a, context_b, log_b):
    """wrong: always subtracts log_a: nan if log_a is -inf, inf if log_b far above"""
    ratio = torch.exp(log_b - log_a)
    total = 1 + ratio
    context = (context_a + ratio[:, None] * context_b) / total[:, None]
    return context, log_a + total.log()


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
