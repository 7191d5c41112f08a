"""Answers to context_by_loops by hand h."""

import math

import torch
import torch.nn.functional as F


def right_scalar_loops_float64(inputs):
    """right: plain Python numbers in loops, the row's own maximum subtracted before exp."""
    rows = inputs.tolist()
    T = len(rows)
    weights, context = [], []
    for i in range(T):
        scores = [sum(a * b for a, b in zip(rows[i], rows[j])) for j in range(T)]
        top = max(scores)
        exps = [math.exp(s - top) for s in scores]
        total = math.fsum(exps)
        w = [e / total for e in exps]
        weights.append(w)
        context.append([sum(w[j] * rows[j][d] for j in range(T)) for d in range(len(rows[i]))])
    return inputs.new_tensor(context), inputs.new_tensor(weights)


def right_fused_with_identity_values(inputs):
    """right: torch's fused attention with scale=1; with the identity as values it gives the weights."""
    T = inputs.shape[0]
    x = inputs[None]
    eye = torch.eye(T, dtype=inputs.dtype, device=inputs.device)[None]
    weights = F.scaled_dot_product_attention(x, x, eye, scale=1.0)[0]
    return weights @ inputs, weights


def right_log_space_rows(inputs):
    """right: one word at a time, weights as exp(score - logsumexp)."""
    context, weights = torch.zeros_like(inputs), []
    for i, query in enumerate(inputs):
        scores = (inputs * query).sum(-1)
        w = (scores - scores.logsumexp(0)).exp()
        weights.append(w)
        for j, word in enumerate(inputs):
            context[i] = context[i] + w[j] * word
    return context, torch.stack(weights)


def wrong_scaled_by_root_of_width(inputs):
    """wrong: the scores are divided by the root of D, which this chapter's attention does not do."""
    T, D = inputs.shape
    scores = torch.empty(T, T, dtype=inputs.dtype)
    for i in range(T):
        for j in range(T):
            scores[i, j] = torch.dot(inputs[i], inputs[j]) / D**0.5
    weights = torch.softmax(scores, dim=-1)
    context = torch.zeros_like(inputs)
    for i in range(T):
        for j in range(T):
            context[i] += weights[i, j] * inputs[j]
    return context, weights


def wrong_normalised_down_the_columns(inputs):
    """wrong: the softmax goes over dim 0, so that columns of the weights sum to 1 and not rows."""
    T = inputs.shape[0]
    scores = torch.zeros(T, T, dtype=inputs.dtype)
    for i, a in enumerate(inputs):
        for j, b in enumerate(inputs):
            scores[i, j] = a @ b
    weights = torch.softmax(scores, dim=0)
    context = torch.stack([sum(weights[i, j] * inputs[j] for j in range(T)) for i in range(T)])
    return context, weights


def wrong_context_reads_weights_transposed(inputs):
    """wrong: the weights are right, but the context of word i takes weights[j, i], the column, and not weights[i, j]."""
    T, D = inputs.shape
    weights = torch.softmax(inputs @ inputs.T, dim=-1)
    context = torch.zeros(T, D, dtype=inputs.dtype)
    for i in range(T):
        for j in range(T):
            for d in range(D):
                context[i, d] += weights[j, i] * inputs[j, d]
    return context, weights


def wrong_scores_over_their_sum(inputs):
    """wrong: no exponentials; each score is divided by the sum of its row's scores, so weights can be negative."""
    T = inputs.shape[0]
    weights = torch.zeros(T, T, dtype=inputs.dtype)
    for i in range(T):
        for j in range(T):
            weights[i, j] = (inputs[i] * inputs[j]).sum()
        weights[i] = weights[i] / weights[i].sum()
    context = torch.zeros_like(inputs)
    for i in range(T):
        for j in range(T):
            context[i] += weights[i, j] * inputs[j]
    return context, weights


def wrong_largest_score_of_all_rows(inputs):
    """wrong: before exp it subtracts the largest score of the whole matrix, not of each row, so rows far below it underflow to 0/0 = NaN."""
    T = inputs.shape[0]
    scores = torch.zeros(T, T, dtype=inputs.dtype)
    for i in range(T):
        for j in range(T):
            scores[i, j] = torch.dot(inputs[i], inputs[j])
    exps = torch.exp(scores - scores.max())
    weights = exps / exps.sum(dim=1, keepdim=True)
    context = torch.zeros_like(inputs)
    for i in range(T):
        for j in range(T):
            context[i] += weights[i, j] * inputs[j]
    return context, weights


def wrong_scores_capped_at_eighty(inputs):
    """wrong: to keep exp finite, scores above 80 are cut to 80, so large scores of a row become equal and share the weight."""
    T, D = inputs.shape
    weights, context = [], []
    for i in range(T):
        exps = []
        for j in range(T):
            s = sum(float(inputs[i, d]) * float(inputs[j, d]) for d in range(D))
            exps.append(math.exp(min(s, 80.0)))
        total = sum(exps)
        weights.append([e / total for e in exps])
        context.append(
            [sum(weights[i][j] * float(inputs[j, d]) for j in range(T)) for d in range(D)]
        )
    return inputs.new_tensor(context), inputs.new_tensor(weights)


def wrong_context_from_unnormalised_exponentials(inputs):
    """wrong: the context sums the words with the exponentials before they are divided by their sum; the returned weights are right."""
    T = inputs.shape[0]
    context = torch.zeros_like(inputs)
    weights = torch.zeros(T, T, dtype=inputs.dtype)
    for i in range(T):
        scores = inputs @ inputs[i]
        exps = (scores - scores.max()).exp()
        for j in range(T):
            context[i] += exps[j] * inputs[j]
        weights[i] = exps / exps.sum()
    return context, weights


def wrong_scaled_and_returned_swapped(inputs):
    """wrong: two mistakes: the scores are divided by the root of D, and the weights are returned first, the context second."""
    T, D = inputs.shape
    context, weights = torch.zeros_like(inputs), torch.zeros(T, T, dtype=inputs.dtype)
    for i in range(T):
        weights[i] = torch.softmax(torch.stack([inputs[i] @ w for w in inputs]) / math.sqrt(D), -1)
        for j in range(T):
            context[i] += weights[i, j] * inputs[j]
    return weights, context


def wrong_three_features_and_itself_left_out(inputs):
    """wrong: two mistakes: the dot product sums only the first three features, whatever the width, and a word gets no weight on itself (its own score is -inf)."""
    T, D = inputs.shape
    scores = torch.full((T, T), -math.inf, dtype=inputs.dtype)
    for i in range(T):
        for j in range(T):
            if i == j:
                continue
            scores[i, j] = sum(a * b for a, b in zip(inputs[i][:3], inputs[j][:3]))
    weights = torch.softmax(scores, dim=-1)
    context = torch.zeros(T, D, dtype=inputs.dtype)
    for i in range(T):
        for j in range(T):
            context[i] += weights[i, j] * inputs[j]
    return context, weights


ANSWERS = [
    right_scalar_loops_float64,
    right_fused_with_identity_values,
    right_log_space_rows,
    wrong_scaled_by_root_of_width,
    wrong_normalised_down_the_columns,
    wrong_context_reads_weights_transposed,
    wrong_scores_over_their_sum,
    wrong_largest_score_of_all_rows,
    wrong_scores_capped_at_eighty,
    wrong_context_from_unnormalised_exponentials,
    wrong_scaled_and_returned_swapped,
    wrong_three_features_and_itself_left_out,
]
