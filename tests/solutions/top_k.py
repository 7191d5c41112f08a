"""Top-k."""

import torch
import torch.nn.functional as F


def top_k_by_scatter(logits, k, temperature):
    values, ids = (logits / temperature).topk(k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, ids, values.softmax(dim=-1))


def top_k_by_mask(logits, k, temperature):
    mask = torch.ones_like(logits, dtype=torch.bool)
    mask.scatter_(1, torch.topk(logits, k).indices, False)
    return F.softmax((logits / temperature).masked_fill(mask, -torch.inf), dim=1)


def top_k_by_loops(logits, k, temperature):
    rows = []
    for row in logits.double():
        order = sorted(range(len(row)), key=lambda i: -row[i].item())[:k]
        weights = ((row - row.max()) / temperature).exp()
        rows.append([weights[i].item() if i in order else 0.0 for i in range(len(row))])
    table = torch.tensor(rows)
    return table / table.sum(1, keepdim=True)


def top_k_by_ranks(logits, k, temperature):
    ranks = logits.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
    probabilities = (logits / temperature).softmax(-1).where(ranks < k, 0.0)
    return probabilities / probabilities.sum(-1, keepdim=True)


def top_k_by_comparison(logits, k, temperature):
    smallest = torch.topk(logits, k).values[:, [-1]]
    logits = logits.masked_fill(logits < smallest, -float("inf"))
    return torch.softmax(logits / temperature, dim=-1)


def top_k_with_a_low_number(logits, k, temperature):
    places = logits.topk(k).indices
    kept = torch.zeros_like(logits).scatter(-1, places, 1.0)
    return (logits / temperature).masked_fill(kept == 0, -1000.0).softmax(-1)


def top_k_zeros(logits, k, temperature):
    kept = torch.zeros_like(logits)
    values, ids = logits.topk(k)
    kept.scatter_(-1, ids, values)
    return (kept / temperature).softmax(-1)


def top_k_undivided(logits, k, temperature):
    probabilities = torch.softmax(logits / temperature, dim=-1)
    smallest = probabilities.topk(k).values[:, -1:]
    return torch.where(probabilities >= smallest, probabilities, 0.0)


def top_k_multiplied(logits, k, temperature):
    values, ids = logits.topk(k)
    probabilities = (values * temperature).softmax(-1)
    return torch.zeros_like(logits).scatter(-1, ids, probabilities)


def top_k_late_temperature(logits, k, temperature):
    smallest = logits.topk(k).values[:, -1:]
    weights = logits.masked_fill(logits < smallest, -torch.inf).softmax(-1)
    weights = weights / temperature
    return weights / weights.sum(-1, keepdim=True)


def top_k_sorted(logits, k, temperature):
    ordered = logits.sort(descending=True).values
    ordered[:, k:] = -torch.inf
    return (ordered / temperature).softmax(-1)


RIGHT = [top_k_by_scatter, top_k_by_mask, top_k_by_loops, top_k_by_ranks]
WRONG = [
    (top_k_by_comparison, "top-k that keeps more where logits are equal"),
    (top_k_with_a_low_number, None),
    (top_k_zeros, "top-k with logits set to 0 where they are cut"),
    (top_k_undivided, "top-k that is not divided by its sum"),
    (top_k_multiplied, "logits multiplied by the temperature"),
    (top_k_late_temperature, "a temperature without effect"),
    (top_k_sorted, "probabilities in sorted order"),
]
