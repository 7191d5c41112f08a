"""Cross-entropy."""

import math

import torch
import torch.nn.functional as F


def loss_by_pytorch(logits, targets):
    return F.cross_entropy(logits.transpose(1, 2), targets)


def loss_by_gather(logits, targets):
    logs = torch.log_softmax(logits, dim=-1)
    return -logs.gather(2, targets.unsqueeze(2)).mean()


def loss_by_loops(logits, targets):
    B, T, _ = logits.shape
    total = 0.0
    for b in range(B):
        for t in range(T):
            row = logits[b, t].tolist()
            largest = max(row)
            scale = sum(math.exp(one - largest) for one in row)
            total += math.log(scale) + largest - row[int(targets[b, t])]
    return total / (B * T)


def loss_by_logsumexp(logits, targets):
    right = torch.take_along_dim(logits, targets[..., None], dim=-1).squeeze(-1)
    return (logits.logsumexp(dim=-1) - right).double().mean()


def loss_by_one_hot(logits, targets):
    one_hot = F.one_hot(targets, logits.shape[-1]).to(logits.dtype)
    logits = logits - logits.max(dim=-1, keepdim=True).values
    logs = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    return -torch.einsum("btv,btv->bt", one_hot, logs).mean()


def loss_like_the_chapter(logits, targets):
    B, T, _ = logits.shape
    total = 0.0
    for b in range(B):
        for t in range(T):
            probabilities = torch.softmax(logits[b, t], dim=0)
            total = total - probabilities[targets[b, t]].log()
    return total / (B * T)


def loss_of_doubles(logits, targets):
    probabilities = logits.double().softmax(-1)
    return -probabilities.gather(-1, targets[..., None]).log().mean()


def loss_that_overflows(logits, targets):
    exponentials = torch.exp(logits)
    probabilities = exponentials / exponentials.sum(-1, keepdim=True)
    return -torch.log(probabilities.gather(-1, targets[..., None])).mean()


def loss_that_overflows_later(logits, targets):
    right = logits.gather(-1, targets[..., None])[..., 0]
    return (torch.log(torch.exp(logits).sum(-1)) - right).mean()


def loss_with_one_maximum(logits, targets):
    logits = logits - logits.max()
    right = logits.gather(-1, targets[..., None]).squeeze(-1)
    return (logits.exp().sum(-1).log() - right).mean()


def loss_less_the_mean(logits, targets):
    logits = logits - logits.mean(dim=-1, keepdim=True)
    right = logits.gather(-1, targets[..., None]).squeeze(-1)
    return (logits.exp().sum(-1).log() - right).mean()


def loss_with_a_ceiling(logits, targets):
    right = logits.softmax(-1).gather(-1, targets[..., None])
    return -torch.log(right + 1e-9).mean()


def loss_of_a_table(logits, targets):
    one_hot = F.one_hot(targets, logits.shape[-1])
    return -(one_hot * logits.log_softmax(-1)).mean()


def loss_of_texts(logits, targets):
    logs = logits.log_softmax(-1).gather(-1, targets[..., None]).squeeze(-1)
    return -logs.sum(dim=1).mean()


def loss_positive(logits, targets):
    return logits.log_softmax(-1).gather(-1, targets[..., None]).mean()


def loss_over_positions(logits, targets):
    logs = F.log_softmax(logits, dim=1)
    return -logs.gather(-1, targets[..., None]).mean()


def loss_of_the_mean(logits, targets):
    probabilities = logits.softmax(-1).gather(-1, targets[..., None])
    return -probabilities.mean().log()


RIGHT = [
    loss_by_pytorch,
    loss_by_gather,
    loss_by_loops,
    loss_by_logsumexp,
    loss_by_one_hot,
]
WRONG = [
    (loss_like_the_chapter, "the logarithm of a probability that has become 0"),
    (loss_of_doubles, "the logarithm of a probability that has become 0"),
    (loss_that_overflows, "exponentials that overflow"),
    (loss_that_overflows_later, "exponentials that overflow"),
    (loss_with_one_maximum, "one maximum for all rows"),
    (loss_less_the_mean, None),
    (loss_with_a_ceiling, "a probability that a small number keeps from 0"),
    (loss_of_a_table, "the mean over all entries of a one-hot table"),
    (loss_of_texts, "the sum over a text, averaged over the batch"),
    (loss_positive, "a loss with the wrong sign"),
    (loss_over_positions, "softmax over the positions"),
    (loss_of_the_mean, None),
]
