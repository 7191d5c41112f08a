"""Answers to context by loops."""

import math

import torch


def right_python_numbers(inputs):
    """right: nothing but lists and Python's own numbers, made a tensor at the end."""
    T, D = inputs.shape
    rows = inputs.tolist()
    weights, context = [], []
    for t in range(T):
        scores = []
        for s in range(T):
            score = 0.0
            for d in range(D):
                score += rows[t][d] * rows[s][d]
            scores.append(score)
        top = max(scores)
        powers = [math.exp(score - top) for score in scores]
        total = sum(powers)
        weights.append([power / total for power in powers])
        context.append([sum(w * row[d] for w, row in zip(weights[t], rows)) for d in range(D)])
    make = {"dtype": inputs.dtype, "device": inputs.device}
    return (torch.tensor(context, **make).reshape(T, D),
            torch.tensor(weights, **make).reshape(T, T))


def right_each_pair_once(inputs):
    """right: scores are symmetric, so it multiplies each pair once and writes the product to both places; float64 inside."""
    x = inputs.double()
    T = len(x)
    scores = torch.zeros(T, T, dtype=x.dtype)
    for t in range(T):
        for s in range(t + 1):
            scores[t, s] = scores[s, t] = (x[t] * x[s]).sum()
    weights = torch.softmax(scores, dim=1)
    context = torch.zeros_like(x)
    for t in range(T):
        for s in range(T):
            context[t] += weights[t, s] * x[s]
    return context.to(inputs.dtype), weights.to(inputs.dtype)


def right_running_maximum(inputs):
    """right: goes through the words once for each query, with a running maximum, a running total and a running sum that are shrunk when a greater score comes."""
    T = inputs.shape[0]
    context, weights = torch.zeros_like(inputs), inputs.new_zeros(T, T)
    for t in range(T):
        top, total = -math.inf, 0.0
        for s in range(T):
            score = torch.dot(inputs[t], inputs[s]).item()
            new_top = max(top, score)
            shrink = math.exp(top - new_top)
            power = math.exp(score - new_top)
            weights[t, :s] *= shrink
            weights[t, s] = power
            context[t] = context[t] * shrink + power * inputs[s]
            total = total * shrink + power
            top = new_top
        weights[t] /= total
        context[t] /= total
    return context, weights


def _scores(inputs):
    T = len(inputs)
    scores = inputs.new_zeros(T, T)
    for t in range(T):
        for s in range(T):
            scores[t, s] = inputs[t] @ inputs[s]
    return scores


def _average(weights, inputs):
    context = torch.zeros_like(inputs)
    for t in range(len(inputs)):
        for s in range(len(inputs)):
            context[t] += weights[t, s] * inputs[s]
    return context


def wrong_columns_sum_to_one(inputs):
    """wrong: softmax over the first axis, so the columns of the weights sum to 1 and not the rows."""
    weights = torch.softmax(_scores(inputs), dim=0)
    return _average(weights, inputs), weights


def wrong_results_swapped(inputs):
    """wrong: returns the weights first, then the context."""
    weights = torch.softmax(_scores(inputs), dim=-1)
    return weights, _average(weights, inputs)


def wrong_with_scale(inputs):
    """wrong: divides the scores by the root of D, which this chapter doesn't."""
    T, D = inputs.shape
    w = torch.zeros(T, T)
    for i in range(T):
        for j in range(T):
            for d in range(D):
                w[i, j] += inputs[i, d] * inputs[j, d]
    w = torch.softmax(w / D ** 0.5, dim=-1)
    return _average(w, inputs), w


def wrong_score_over_sum(inputs):
    """wrong: divides each score by the sum of its row, without exp."""
    scores = _scores(inputs)
    weights = torch.stack([row / row.sum() for row in scores])
    return _average(weights, inputs), weights


def wrong_cuts_scores_at_80(inputs):
    """wrong: cuts scores at 80 so that exp doesn't overflow: all words above it get the same weight; right for scores up to 80."""
    scores = _scores(inputs)
    weights = torch.zeros_like(scores)
    for t in range(len(inputs)):
        powers = torch.exp(scores[t].clamp(max=80))
        weights[t] = powers / powers.sum()
    return _average(weights, inputs), weights


def wrong_overwrites_while_reading(inputs):
    """wrong: writes each context over the word's own row of the inputs, so that later words average rows that have changed already (and the argument is changed); the first row and the weights are right."""
    T, D = inputs.shape
    weights = torch.softmax(_scores(inputs), dim=1)
    context = inputs
    for t in range(T):
        row = torch.zeros_like(inputs[t])
        for s in range(T):
            row = row + weights[t, s] * inputs[s]
        context[t] = row
    return context, weights


def wrong_zero_is_missing(inputs):
    """wrong: takes a score of exactly 0 for one that wasn't computed, and gives that word no weight (and even weights where all of a row's scores are 0); right where no two words are orthogonal."""
    scores = _scores(inputs)
    weights = torch.zeros_like(scores)
    for t, row in enumerate(scores):
        if (row == 0).all():
            weights[t] = 1 / len(row)
        else:
            weights[t] = row.masked_fill(row == 0, -torch.inf).softmax(0)
    return _average(weights, inputs), weights


def wrong_largest_of_all(inputs):
    """wrong: subtracts the largest of all scores and not that of the row; rows whose scores lie far below it (a hundred and more) become 0 / 0."""
    scores = _scores(inputs)
    top = -math.inf
    for t in range(len(scores)):
        for s in range(len(scores)):
            top = max(top, float(scores[t, s]))
    weights = torch.zeros_like(scores)
    for t in range(len(scores)):
        powers = torch.exp(scores[t] - top)
        weights[t] = powers / powers.sum()
    return _average(weights, inputs), weights


def wrong_causal_and_overflow(inputs):
    """wrong: two mistakes: each word attends only to itself and to the words before it, and exp is taken without subtracting the maximum, so it overflows for large scores."""
    T, D = inputs.shape
    context = torch.zeros(T, D)
    weights = torch.zeros(T, T)
    for t in range(T):
        for s in range(t + 1):
            weights[t, s] = torch.exp(inputs[t] @ inputs[s])
        weights[t] = weights[t] / weights[t].sum()
        for s in range(t + 1):
            context[t] += weights[t, s] * inputs[s]
    return context, weights


ANSWERS = [
    right_python_numbers, right_each_pair_once, right_running_maximum,
    wrong_columns_sum_to_one, wrong_results_swapped, wrong_with_scale,
    wrong_score_over_sum, wrong_cuts_scores_at_80,
    wrong_overwrites_while_reading, wrong_zero_is_missing,
    wrong_largest_of_all, wrong_causal_and_overflow,
]
