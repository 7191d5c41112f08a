import math
import torch
import torch.nn.functional as F


def right_1(gradients, counts):
    """right: weights tensor and tensordot"""
    share = torch.tensor([float(c) for c in counts])
    share = share / share.sum()
    return torch.tensordot(share, torch.stack(list(gradients)), dims=1)


def right_2(gradients, counts):
    """right: running mean"""
    mean, n = gradients[0].clone(), counts[0]
    for g, c in zip(gradients[1:], counts[1:]):
        n = n + c
        if n > 0:
            mean = mean + (g - mean) * (c / n)
    return mean


def wrong_1(gradients, counts):
    """wrong: plain mean of the parts' gradients"""
    return torch.stack(gradients).mean(dim=0)


def wrong_2(gradients, counts):
    """wrong: in place on the first gradient"""
    total = gradients[0]
    total *= counts[0]
    for g, c in zip(gradients[1:], counts[1:]):
        total += g * c
    return total / sum(counts)


def wrong_3(gradients, counts):
    """wrong: forgets to divide by all characters"""
    return sum(c * g for g, c in zip(gradients, counts))


def wrong_4(gradients, counts):
    """wrong: divides by the number of parts, not of characters"""
    total = torch.zeros_like(gradients[0])
    for i in range(len(gradients)):
        total = total + counts[i] * gradients[i]
    return total / len(counts)


def wrong_5(gradients, counts):
    """wrong: sum of gradients divided by sum of counts (not weighted)"""
    total = torch.zeros_like(gradients[0])
    for g in gradients:
        total += g
    return total / sum(counts)


def wrong_6(gradients, counts):
    """wrong: returns the given tensor itself if there is only one part"""
    if len(gradients) == 1:
        return gradients[0]
    n = sum(counts)
    return sum((c / n) * g for g, c in zip(gradients, counts))


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
