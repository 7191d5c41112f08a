"""Answers to context_by_loops by hand a."""

import math

import numpy as np
import torch


def soft(row):
    """Softmax of a list, with the largest taken away."""
    largest = max(row)
    e = [math.exp(x - largest) for x in row]
    total = sum(e)
    return [x / total for x in e]


def right_lists_only(inputs):
    """right: four nested loops over Python lists, in double precision, cast to the dtype of inputs at the end."""
    T, D = inputs.shape
    x = inputs.tolist()
    weights, context = [], []
    for t in range(T):
        row = []
        for s in range(T):
            score = 0.0
            for d in range(D):
                score += x[t][d] * x[s][d]
            row.append(score)
        w = soft(row)
        c = [0.0] * D
        for s in range(T):
            for d in range(D):
                c[d] += w[s] * x[s][d]
        weights.append(w)
        context.append(c)
    return (
        torch.tensor(context, dtype=inputs.dtype).reshape(T, D),
        torch.tensor(weights, dtype=inputs.dtype).reshape(T, T),
    )


def right_dot_and_fill(inputs):
    """right: preallocated tensors, torch.dot for each pair, softmax of each row, then the weighted sum."""
    T, D = inputs.shape
    scores = inputs.new_zeros(T, T)
    weights = inputs.new_zeros(T, T)
    context = inputs.new_zeros(T, D)
    for i in range(T):
        for j in range(T):
            scores[i, j] = torch.dot(inputs[i], inputs[j])
        weights[i] = torch.softmax(scores[i], dim=0)
        for j in range(T):
            context[i] += weights[i, j] * inputs[j]
    return context, weights


def right_running_logsum(inputs):
    """right: NumPy in float64, a running logaddexp over the keys, then exp(score - logsum); cast back."""
    x = inputs.detach().double().numpy()
    T, D = x.shape
    weights = np.zeros((T, T))
    context = np.zeros((T, D))
    for t in range(T):
        logsum = -np.inf
        for s in range(T):
            logsum = np.logaddexp(logsum, x[t].dot(x[s]))
        for s in range(T):
            weights[t, s] = np.exp(x[t].dot(x[s]) - logsum)
            context[t] += weights[t, s] * x[s]
    return (
        torch.from_numpy(context).to(inputs.dtype),
        torch.from_numpy(weights).to(inputs.dtype),
    )


def wrong_order(inputs):
    """wrong: order of the results, weights first and context second."""
    T, D = inputs.shape
    weights = inputs.new_zeros(T, T)
    context = inputs.new_zeros(T, D)
    for t in range(T):
        row = [float(torch.dot(inputs[t], inputs[s])) for s in range(T)]
        weights[t] = torch.tensor(soft(row), dtype=inputs.dtype)
        for s in range(T):
            context[t] += weights[t, s] * inputs[s]
    return weights, context


def wrong_scaled(inputs):
    """wrong: divides each score by sqrt(D), which this chapter doesn't."""
    T, D = inputs.shape
    weights = inputs.new_zeros(T, T)
    context = inputs.new_zeros(T, D)
    for t in range(T):
        scores = inputs.new_zeros(T)
        for s in range(T):
            scores[s] = (inputs[t] * inputs[s]).sum() / math.sqrt(D)
        weights[t] = torch.softmax(scores, dim=0)
        for s in range(T):
            context[t] += weights[t, s] * inputs[s]
    return context, weights


def wrong_softmax_down_the_columns(inputs):
    """wrong: softmax over axis 0 of the scores, so the columns of the weights sum to 1 and not the rows."""
    T, D = inputs.shape
    scores = inputs.new_zeros(T, T)
    for t in range(T):
        for s in range(T):
            scores[t, s] = torch.dot(inputs[t], inputs[s])
    weights = torch.softmax(scores, dim=0)
    context = inputs.new_zeros(T, D)
    for t in range(T):
        for s in range(T):
            context[t] += weights[t, s] * inputs[s]
    return context, weights


def wrong_indices_turned_in_average(inputs):
    """wrong: the weights are right, but the average uses weights[s, t] in place of weights[t, s]."""
    T, D = inputs.shape
    scores = inputs.new_zeros(T, T)
    for t in range(T):
        for s in range(T):
            scores[t, s] = torch.dot(inputs[t], inputs[s])
    weights = torch.softmax(scores, dim=1)
    context = inputs.new_zeros(T, D)
    for t in range(T):
        for s in range(T):
            context[t] += weights[s, t] * inputs[s]
    return context, weights


def wrong_product_too_short(inputs):
    """wrong: the dot product's loop runs over min(T, D) components only; right when there are at least as many words as the width."""
    T, D = inputs.shape
    weights = inputs.new_zeros(T, T)
    context = inputs.new_zeros(T, D)
    for t in range(T):
        scores = inputs.new_zeros(T)
        for s in range(T):
            for d in range(min(T, D)):
                scores[s] += inputs[t, d] * inputs[s, d]
        weights[t] = torch.softmax(scores, dim=0)
        for s in range(T):
            context[t] += weights[t, s] * inputs[s]
    return context, weights


def wrong_same_row_list(inputs):
    """wrong: weights is built as [[0.0] * T] * T, T times the same list, so all rows returned are the last word's; the context is right."""
    T, D = inputs.shape
    x = inputs.tolist()
    weights = [[0.0] * T] * T
    context = [[0.0 for _ in range(D)] for _ in range(T)]
    for t in range(T):
        row = [sum(a * b for a, b in zip(x[t], x[s])) for s in range(T)]
        w = soft(row)
        for s in range(T):
            weights[t][s] = w[s]
            for d in range(D):
                context[t][d] += weights[t][s] * x[s][d]
    return (
        torch.tensor(context, dtype=inputs.dtype),
        torch.tensor(weights, dtype=inputs.dtype),
    )


def wrong_words_overwritten(inputs):
    """wrong: writes each context into the same copy it reads the words from, so later words attend to earlier words' contexts; only the first row is right."""
    T, D = inputs.shape
    words = inputs.clone()
    weights = inputs.new_zeros(T, T)
    for t in range(T):
        scores = torch.stack([torch.dot(words[t], words[s]) for s in range(T)])
        weights[t] = torch.softmax(scores, dim=0)
        mixed = inputs.new_zeros(D)
        for s in range(T):
            mixed = mixed + weights[t, s] * words[s]
        words[t] = mixed
    return words, weights


def wrong_exp_overflows(inputs):
    """wrong: exp of the raw scores divided by their sum, without taking the largest away; overflows to nan for scores in the thousands."""
    T, D = inputs.shape
    weights = inputs.new_zeros(T, T)
    context = inputs.new_zeros(T, D)
    for t in range(T):
        for s in range(T):
            weights[t, s] = torch.exp(torch.dot(inputs[t], inputs[s]))
        weights[t] = weights[t] / weights[t].sum()
        for s in range(T):
            context[t] += weights[t, s] * inputs[s]
    return context, weights


def wrong_past_only_and_never_reset(inputs):
    """wrong: two mistakes, each word attends only to itself and the words before it, and the running sum of the context is not set back to 0 for the next word."""
    T, D = inputs.shape
    weights = inputs.new_zeros(T, T)
    context = inputs.new_zeros(T, D)
    c = inputs.new_zeros(D)
    for t in range(T):
        row = torch.stack([torch.dot(inputs[t], inputs[s]) for s in range(t + 1)])
        weights[t, : t + 1] = torch.softmax(row, dim=0)
        for s in range(t + 1):
            c = c + weights[t, s] * inputs[s]
        context[t] = c
    return context, weights


ANSWERS = [
    right_lists_only,
    right_dot_and_fill,
    right_running_logsum,
    wrong_order,
    wrong_scaled,
    wrong_softmax_down_the_columns,
    wrong_indices_turned_in_average,
    wrong_product_too_short,
    wrong_same_row_list,
    wrong_words_overwritten,
    wrong_exp_overflows,
    wrong_past_only_and_never_reset,
]
