"""Answers to causal_weights by hand d."""

import math

import torch


def _past(s):
    return torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).tril()


def right_finfo_min(scores):
    """right: the future gets the dtype's smallest finite number, beside the diagonal's score its exp is exactly 0; then softmax over the keys."""
    return torch.where(_past(scores), scores, torch.finfo(scores.dtype).min).softmax(-1)


def right_logcumsumexp(scores):
    """right: row t's normaliser is the t-th entry of the running logsumexp of that row; computed in float64 and cast back, the future is set to exp(-inf)."""
    s = scores.double()
    z = torch.logcumsumexp(s, -1).diagonal(dim1=-2, dim2=-1)[..., None]
    return torch.where(_past(s), s - z, -math.inf).exp().to(scores.dtype)


def right_prefix_by_prefix(scores):
    """right: no mask at all, row t is the softmax of its first t + 1 scores, the rest stays 0."""
    out = torch.zeros_like(scores)
    for t in range(scores.shape[-1]):
        out[..., t, : t + 1] = scores[..., t, : t + 1].softmax(-1)
    return out


def mask_after_softmax(scores):
    """wrong: softmax over all keys first, the future set to 0 after it and the rows not normalised again, so they sum to less than 1 and depend on the future."""
    return scores.softmax(-1).tril()


def upper_triangle(scores):
    """wrong: mask transposed, each row sees itself and the future, the past is masked."""
    return scores.masked_fill(~_past(scores).T, -math.inf).softmax(-1)


def scales_once_more(scores):
    """wrong: divides the scores, which are scaled already, by sqrt(T) once more."""
    s = scores / math.sqrt(scores.size(-1))
    return s.masked_fill(~_past(s), -math.inf).softmax(dim=-1)


def softmax_dim_one(scores):
    """wrong: softmax over dim 1, which is the keys only for (T, T); with one axis in front it normalises over the queries, with two over an axis of the batch."""
    return torch.softmax(scores.masked_fill(~_past(scores), -math.inf), dim=1)


def minus_a_thousand(scores):
    """wrong: the future gets -1000 in place of -inf; where the scores themselves are about -1000 or lower, the weight goes to the future."""
    return torch.where(_past(scores), scores, -1000.0).softmax(-1)


def zero_marks_the_future(scores):
    """wrong: tril sets the future to 0 and then every 0 becomes -inf, also a score of the past that happens to be exactly 0 (its weight is lost, or the row is nan)."""
    s = scores.tril()
    return s.masked_fill(s == 0, -math.inf).softmax(-1)


def renormalised_with_epsilon(scores):
    """wrong: softmax over all keys, mask, and division by the row's sum + 1e-9; where a future score is much larger the past has underflowed, and the row comes out as zeros (or sums to less than 1)."""
    w = scores.softmax(-1).tril()
    return w / (w.sum(-1, keepdim=True) + 1e-9)


def clamped_to_fifty(scores):
    """wrong: clamps the scores to -50..50 to stay finite, so larger scores become equal and share the weight; right for small scores."""
    return scores.clamp(-50, 50).masked_fill(~_past(scores), -math.inf).softmax(-1)


def multiplied_mask_over_queries(scores):
    """wrong: two mistakes, the future's scores are set to 0 in place of -inf (multiplied by the mask), and softmax runs over the queries (dim -2)."""
    return (scores * _past(scores)).softmax(-2)


ANSWERS = [
    right_finfo_min, right_logcumsumexp, right_prefix_by_prefix,
    mask_after_softmax, upper_triangle, scales_once_more, softmax_dim_one,
    minus_a_thousand, zero_marks_the_future, renormalised_with_epsilon,
    clamped_to_fifty, multiplied_mask_over_queries,
]
