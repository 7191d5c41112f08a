"""Attention by loops."""

import math

import torch
import torch.nn.functional as F


def score_table(inputs):
    T = len(inputs)
    scores = torch.zeros(T, T)
    for i in range(T):
        for j in range(T):
            for d in range(inputs.shape[1]):
                scores[i, j] += inputs[i, d] * inputs[j, d]
    return scores


def loops_all_the_way(inputs):
    T, D = inputs.shape
    weights = torch.softmax(score_table(inputs), dim=-1)
    context = torch.zeros(T, D)
    for i in range(T):
        for j in range(T):
            for d in range(D):
                context[i, d] += weights[i, j] * inputs[j, d]
    return context, weights


def loops_row_by_row(inputs):
    weights, context = [], []
    for query in inputs:
        row = torch.stack([query.dot(key) for key in inputs]).softmax(0)
        weights.append(row)
        context.append(sum(w * word for w, word in zip(row, inputs, strict=True)))
    return torch.stack(context), torch.stack(weights)


def loops_in_plain_python(inputs):
    table = inputs.tolist()
    weights, context = [], []
    for query in table:
        scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in table]
        powers = [math.exp(score - max(scores)) for score in scores]
        weights.append([power / sum(powers) for power in powers])
        pairs = list(zip(weights[-1], table, strict=True))
        context.append([sum(w * row[d] for w, row in pairs) for d in range(len(query))])
    return torch.tensor(context), torch.tensor(weights)


def no_loops_but_matrices(inputs):
    weights = F.softmax(torch.einsum("id,jd->ij", inputs, inputs).double(), dim=-1)
    return [weights.to(inputs.dtype) @ inputs, weights]


def loops_over_columns(inputs):
    T = len(inputs)
    weights = score_table(inputs).softmax(-1)
    context = torch.zeros_like(inputs)
    for i in range(T):
        for j in range(T):
            context[i] += weights[j, i] * inputs[j]
    return context, weights


def loops_with_softmax_of_columns(inputs):
    weights = F.softmax(score_table(inputs), dim=0)
    return weights @ inputs, weights


def loops_with_quotients(inputs):
    scores = score_table(inputs)
    weights = torch.stack([row / row.sum() for row in scores])
    return weights @ inputs, weights


def loops_that_overflow(inputs):
    weights = torch.stack([row.exp() / row.exp().sum() for row in score_table(inputs)])
    return weights @ inputs, weights


def loops_with_one_maximum(inputs):
    scores = score_table(inputs)
    powers = torch.exp(scores - scores.max())
    weights = torch.stack([row / row.sum() for row in powers])
    return weights @ inputs, weights


def loops_scaled(inputs):
    weights = torch.softmax(score_table(inputs) / math.sqrt(inputs.shape[1]), dim=-1)
    return weights @ inputs, weights


def loops_weights_first(inputs):
    context, weights = loops_all_the_way(inputs)
    return weights, context


def loops_without_self(inputs):
    T = len(inputs)
    weights, context = score_table(inputs).softmax(-1), torch.zeros_like(inputs)
    for i in range(T):
        for j in range(T):
            if i != j:
                context[i] += weights[i, j] * inputs[j]
    return context, weights


RIGHT = [
    loops_all_the_way,
    loops_row_by_row,
    loops_in_plain_python,
    no_loops_but_matrices,
]
WRONG = [
    (loops_over_columns, "a context that uses column i of the weights"),
    (loops_with_softmax_of_columns, "softmax over the columns"),
    (loops_with_quotients, "scores divided by their sum"),
    (loops_that_overflow, "softmax without subtracting the maximum"),
    (loops_with_one_maximum, "softmax with one maximum for all rows"),
    (loops_scaled, "attention with scaled scores"),
    (loops_weights_first, "attention with its two results exchanged"),
    (loops_without_self, None),
]
