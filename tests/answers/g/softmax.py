"""Answers to softmax by hand g."""

import math

import torch
import torch.nn.functional as F


def right_log_space(scores):
    """right: in log space, the exponential of log_softmax."""
    return F.log_softmax(scores, dim=-1).exp()


def right_rows_in_python(scores):
    """right: flattens to rows and works on Python floats, each row less its maximum."""
    rows = scores.reshape(-1, scores.shape[-1]).tolist()
    out = []
    for row in rows:
        top = max(row)
        exps = [math.exp(s - top) for s in row]
        total = math.fsum(exps)
        out.append([e / total for e in exps])
    return torch.tensor(out, dtype=scores.dtype).reshape(scores.shape)


def right_pairwise(scores):
    """right: weight j is 1 over the sum of exp(score k - score j), overflow gives 0."""
    gaps = scores.unsqueeze(-2) - scores.unsqueeze(-1)  # (..., j, k): s_k - s_j
    return gaps.exp().sum(dim=-1).reciprocal()


def wrong_no_shift(scores):
    """wrong: exponentiates the scores without subtracting the maximum, so that scores
    in the thousands overflow (NaN), and very negative rows give 0 / 0."""
    e = scores.exp()
    return e / e.sum(dim=-1, keepdim=True)


def wrong_second_axis(scores):
    """wrong: normalizes along axis 1 instead of the last one; right for two axes only,
    and an error for a single axis."""
    e = (scores - scores.amax(dim=1, keepdim=True)).exp()
    return e / e.sum(dim=1, keepdim=True)


def wrong_sum_of_everything(scores):
    """wrong: divides by the sum over all axes, so that the whole tensor sums to 1
    instead of each row (the maximum is of each row, as it should be)."""
    e = torch.exp(scores - scores.max(-1, keepdim=True).values)
    return e / e.sum()


def wrong_clamp(scores):
    """wrong: guards against overflow by clamping the scores to [-50, 50] instead of
    subtracting the maximum, so that all scores beyond the limit count as equal."""
    e = scores.clamp(-50, 50).exp()
    return e / e.sum(-1, keepdim=True)


def wrong_softmin(scores):
    """wrong: exponentiates maximum minus score, the wrong sign: the lowest score gets
    the highest weight (overflow for a wide spread, too)."""
    largest = scores.max(dim=-1, keepdim=True).values
    e = torch.exp(largest - scores)
    return e / e.sum(dim=-1, keepdim=True)


def wrong_shift_by_mean(scores):
    """wrong: subtracts the mean of the row instead of its maximum; overflows where one
    score lies far above the row's mean, right otherwise."""
    shifted = scores - scores.mean(dim=-1, keepdim=True)
    e = shifted.exp()
    return e / e.sum(dim=-1, keepdim=True)


def wrong_shift_by_largest_magnitude(scores):
    """wrong: subtracts the largest absolute value of the row instead of its maximum; a
    row of very negative scores underflows to 0 / 0, positive rows are right."""
    bound = scores.abs().amax(dim=-1, keepdim=True)
    e = (scores - bound).exp()
    return e / e.sum(dim=-1, keepdim=True)


def wrong_global_max_and_epsilon(scores):
    """wrong: subtracts the maximum of the whole tensor instead of each row's, and adds
    1e-9 to the sum, so that a row far below another gets all zeros instead of NaN."""
    e = (scores - scores.max()).exp()
    return e / (e.sum(dim=-1, keepdim=True) + 1e-9)


def wrong_first_axis_no_shift(scores):
    """wrong: two mistakes: sums along axis 0 instead of the last, and doesn't subtract
    the maximum, so that large scores overflow."""
    return torch.exp(scores) / torch.exp(scores).sum(0)


def wrong_divide_by_max(scores):
    """wrong: divides the scores by the row's largest magnitude instead of subtracting
    the maximum: no overflow, but the differences are rescaled."""
    scaled = scores / scores.abs().amax(dim=-1, keepdim=True).clamp(min=1e-12)
    e = scaled.exp()
    return e / e.sum(dim=-1, keepdim=True)


ANSWERS = [
    right_log_space,
    right_rows_in_python,
    right_pairwise,
    wrong_no_shift,
    wrong_second_axis,
    wrong_sum_of_everything,
    wrong_clamp,
    wrong_softmin,
    wrong_shift_by_mean,
    wrong_shift_by_largest_magnitude,
    wrong_global_max_and_epsilon,
    wrong_first_axis_no_shift,
    wrong_divide_by_max,
]
