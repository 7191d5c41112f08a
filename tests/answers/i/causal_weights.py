"""Answers to causal_weights by hand i."""

import torch
import torch.nn.functional as F


def right_prefix_rows(scores):
    """right: a loop over rows, each softmax runs over the slice up to the row's own position; the rest stays 0."""
    weights = torch.zeros_like(scores)
    for t in range(scores.shape[-1]):
        weights[..., t, : t + 1] = F.softmax(scores[..., t, : t + 1], dim=-1)
    return weights


def right_logcumsumexp(scores):
    """right: float64, each row's log-denominator is the diagonal of logcumsumexp; tril takes off the future at the end."""
    wide = scores.double()
    total = torch.logcumsumexp(wide, dim=-1).diagonal(dim1=-2, dim2=-1)
    return torch.exp(wide - total.unsqueeze(-1)).tril().to(scores.dtype)


def right_additive_mask(scores):
    """right: a float mask with -inf above the diagonal is added, then library softmax."""
    T = scores.size(-1)
    mask = torch.full((T, T), float("-inf")).triu(diagonal=1)
    return torch.softmax(scores + mask, dim=-1)


def wrong_masked_after_softmax(scores):
    """wrong: softmax over all keys first, then the future is set to 0 without normalising again; rows sum to less than 1 and depend on the future."""
    return torch.softmax(scores, dim=-1).tril()


def wrong_zero_instead_of_inf(scores):
    """wrong: the future's scores are set to 0 instead of -inf before softmax, so the future keeps weight."""
    mask = torch.tril(torch.ones(scores.shape[-2:]))
    return F.softmax(scores * mask, dim=-1)


def wrong_sees_one_ahead(scores):
    """wrong: the mask starts one place too late (triu with diagonal=2), so each row sees the next position too."""
    T = scores.shape[-1]
    hidden = torch.triu(torch.ones(T, T), diagonal=2).bool()
    return scores.masked_fill(hidden, -torch.inf).softmax(-1)


def wrong_hides_itself(scores):
    """wrong: the diagonal is masked as well (triu with diagonal=0), so no position sees itself; nan_to_num makes the first row all 0."""
    T = scores.shape[-1]
    hidden = torch.triu(torch.ones(T, T, dtype=torch.bool))
    weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
    return torch.nan_to_num(weights)


def wrong_minus_inf_times_mask(scores):
    """wrong: builds the mask as triu(ones) * -inf, where 0 * -inf is NaN, and adds it: all weights are NaN."""
    T = scores.shape[-1]
    mask = torch.triu(torch.ones(T, T), diagonal=1) * float("-inf")
    return torch.softmax(scores + mask, dim=-1)


def wrong_looks_ahead_only(scores):
    """wrong: the mask is the wrong way round: the past is hidden, and each row sees itself and the future."""
    past = torch.ones_like(scores).tril(-1).bool()
    return scores.masked_fill(past, float("-inf")).softmax(dim=-1)


def wrong_mask_value_too_small(scores):
    """wrong: the future is filled with -1000 instead of -inf, so it keeps (or takes) weight where the row's own scores are near or below -1000."""
    T = scores.shape[-1]
    allowed = torch.tril(torch.ones(T, T)) == 1
    return torch.where(allowed, scores, torch.tensor(-1e3)).softmax(-1)


def wrong_row_max_with_future(scores):
    """wrong: the max taken off each row includes the future's scores, and the denominator is clamped at 1e-9: a row whose future is far above (more than about 20) loses weight and becomes 0 instead of summing to 1."""
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    powers = torch.tril(powers)
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-9)


def wrong_mask_sized_by_first_axis(scores):
    """wrong: the mask's rows are counted by len(scores), the first axis, which is T only without a batch: one sentence in a batch gets a mask of one row (every position sees only position 0), other batch sizes than T crash."""
    hidden = torch.triu(torch.ones(len(scores), scores.shape[-1]), diagonal=1).bool()
    return scores.masked_fill(hidden, float("-inf")).softmax(-1)


def wrong_filled_with_lowest_score(scores):
    """wrong: the future is filled with the lowest score of the whole tensor instead of -inf, so it keeps weight (the more the closer the scores are)."""
    T = scores.shape[-1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    filled = scores.masked_fill(hidden, scores.min().item())
    return F.softmax(filled, dim=-1)


def wrong_columns_and_scaled_again(scores):
    """wrong: two mistakes: the scores, scaled already, are divided by sqrt(T) once more, and softmax runs over dim=-2, so columns sum to 1 (masking is right)."""
    T = scores.shape[-1]
    scores = scores / T**0.5
    hidden = torch.ones(T, T).triu(1).bool()
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-2)


def wrong_exp_overflows(scores):
    """wrong: exp without taking off a max, then tril and division: right for small scores, but NaN where exp overflows or a whole row underflows (scores in the hundreds and more, above or below 0)."""
    powers = scores.exp().tril()
    return powers / powers.sum(dim=-1, keepdim=True)


ANSWERS = [
    right_prefix_rows,
    right_logcumsumexp,
    right_additive_mask,
    wrong_masked_after_softmax,
    wrong_zero_instead_of_inf,
    wrong_sees_one_ahead,
    wrong_hides_itself,
    wrong_minus_inf_times_mask,
    wrong_looks_ahead_only,
    wrong_mask_value_too_small,
    wrong_row_max_with_future,
    wrong_mask_sized_by_first_axis,
    wrong_filled_with_lowest_score,
    wrong_columns_and_scaled_again,
    wrong_exp_overflows,
]
