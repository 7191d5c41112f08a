"""Softmax."""

import math

import torch


def softmax_of_torch(scores):
    return torch.softmax(scores, dim=scores.dim() - 1)


def softmax_by_hand(scores):
    largest, _ = torch.max(scores, dim=-1, keepdim=True)
    powers = torch.exp(scores - largest)
    return powers / torch.sum(powers, dim=-1, keepdim=True)


def softmax_by_logarithms(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


def softmax_by_rows(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]).tolist():
        largest = max(row)
        powers = [math.exp(score - largest) for score in row]
        rows.append([power / sum(powers) for power in powers])
    return torch.tensor(rows).reshape(scores.shape)


def softmax_in_place_on_a_copy(scores):
    scores = scores.double().clone()
    scores -= scores.amax(-1).unsqueeze(-1)
    scores.exp_()
    scores /= scores.sum(-1)[..., None]
    return scores


def softmax_by_differences(scores):
    return 1 / (scores[..., None, :] - scores[..., :, None]).exp().sum(-1)


def softmax_less_the_mean(scores):
    powers = torch.exp(scores - scores.mean(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


def softmax_less_the_smallest(scores):
    powers = torch.exp(scores - scores.amin(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


def softmax_that_overflows(scores):
    powers = torch.exp(scores)
    return powers / powers.sum(dim=-1, keepdim=True)


def softmax_with_one_maximum(scores):
    powers = torch.exp(scores - torch.max(scores))
    return powers / powers.sum(dim=-1, keepdim=True)


def softmax_down_the_columns(scores):
    powers = torch.exp(scores - scores.max(dim=0, keepdim=True).values)
    return powers / powers.sum(dim=0, keepdim=True)


def softmax_of_everything(scores):
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum()


def softmax_without_any_keepdim(scores):
    powers = torch.exp(scores - scores.max(dim=-1).values)
    return powers / powers.sum(dim=-1)


RIGHT = [
    softmax_of_torch,
    softmax_by_hand,
    softmax_by_logarithms,
    softmax_by_rows,
    softmax_by_differences,
    softmax_in_place_on_a_copy,
]
WRONG = [
    (
        softmax_less_the_mean,
        "softmax that subtracts another number than the maximum",
    ),
    (
        softmax_less_the_smallest,
        "softmax that subtracts another number than the maximum",
    ),
    (softmax_that_overflows, "softmax without subtracting the maximum"),
    (softmax_with_one_maximum, "softmax with one maximum for all rows"),
    (softmax_down_the_columns, "softmax over the first axis"),
    (softmax_of_everything, "one softmax over all numbers together"),
    (softmax_without_any_keepdim, None),
]
