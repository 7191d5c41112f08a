"""An MLP whose hidden features are shared by several processes."""

import torch
import torch.nn.functional as F


def by_sum(x, W1_parts, b1_parts, W2_parts, b2):
    parts = zip(W1_parts, b1_parts, W2_parts, strict=True)
    return sum(F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in parts) + b2


def by_loop(x, W1_parts, b1_parts, W2_parts, b2):
    whole = torch.zeros(len(x), len(b2))
    for n in range(len(W1_parts)):
        whole += F.gelu(torch.addmm(b1_parts[n], x, W1_parts[n])) @ W2_parts[n]
    return whole + b2


def by_stack(x, W1_parts, b1_parts, W2_parts, b2):
    hidden = [F.gelu(x @ W + b) for W, b in zip(W1_parts, b1_parts, strict=True)]
    parts = [h @ W for h, W in zip(hidden, W2_parts, strict=True)]
    return torch.stack(parts).sum(dim=0).add(b2)


def bias_in_the_first(x, W1_parts, b1_parts, W2_parts, b2):
    total = 0
    for n, (W1, b1, W2) in enumerate(zip(W1_parts, b1_parts, W2_parts, strict=True)):
        part = F.gelu(x @ W1 + b1) @ W2
        total = total + (part + b2 if n == 0 else part)
    return total


def bias_everywhere(x, W1_parts, b1_parts, W2_parts, b2):
    parts = zip(W1_parts, b1_parts, W2_parts, strict=True)
    return sum(F.gelu(x @ W1 + b1) @ W2 + b2 for W1, b1, W2 in parts)


def bias_forgotten(x, W1_parts, b1_parts, W2_parts, b2):
    parts = zip(W1_parts, b1_parts, W2_parts, strict=True)
    return sum(F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in parts)


def averaged(x, W1_parts, b1_parts, W2_parts, b2):
    parts = zip(W1_parts, b1_parts, W2_parts, strict=True)
    return torch.stack([F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in parts]).mean(0) + b2


def assigned(x, W1_parts, b1_parts, W2_parts, b2):
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts, strict=True):
        out = F.gelu(x @ W1 + b1) @ W2
    return out + b2


def late(x, W1_parts, b1_parts, W2_parts, b2):
    parts = zip(W1_parts, b1_parts, W2_parts, strict=True)
    return F.gelu(sum((x @ W1 + b1) @ W2 for W1, b1, W2 in parts) + b2)


def relu(x, W1_parts, b1_parts, W2_parts, b2):
    parts = zip(W1_parts, b1_parts, W2_parts, strict=True)
    return sum((x @ W1 + b1).relu() @ W2 for W1, b1, W2 in parts) + b2


RIGHT = [by_sum, by_loop, by_stack, bias_in_the_first]
WRONG = [
    (bias_everywhere, "the last bias in every process"),
    (bias_forgotten, "no last bias"),
    (averaged, "the mean over processes"),
    (assigned, "the last process's part alone"),
    (late, "an activation behind the sum"),
    (relu, "another activation, ReLU"),
]
