"""Answers to softmax."""

import torch


def right_one_over_sum_of_ratios(scores):
    """right: weight j is 1 / sum_i exp(s_i - s_j); an exp that overflows gives 1 / inf = 0, which is what the weight rounds to."""
    ratios = torch.exp(scores.unsqueeze(-2) - scores.unsqueeze(-1))
    return 1 / ratios.sum(dim=-1)


def right_axis_by_axis(scores):
    """right: calls itself for each entry of the first axis until one axis is left."""
    if scores.dim() == 1:
        powers = (scores - scores.max()).exp()
        return powers / powers.sum()
    weights = torch.empty_like(scores)
    for i in range(scores.shape[0]):
        weights[i] = right_axis_by_axis(scores[i])
    return weights


def right_logaddexp(scores):
    """right: gathers the logarithm of the sum along the last axis with logaddexp, in float64, and subtracts it."""
    s = scores.double()
    total = s[..., 0]
    for i in range(1, s.shape[-1]):
        total = torch.logaddexp(total, s[..., i])
    return torch.exp(s - total[..., None]).to(scores.dtype)


def wrong_overflows(scores):
    """wrong: exp of the scores themselves, no maximum subtracted: overflows for scores in the thousands."""
    powers = torch.exp(scores)
    return powers / powers.sum(dim=-1, keepdim=True)


def wrong_first_axis(scores):
    """wrong: normalises along the first axis, not the last; right with one axis."""
    shifted = scores - scores.amax(dim=0, keepdim=True)
    e = shifted.exp()
    return e / e.sum(0, keepdim=True)


def wrong_total_of_everything(scores):
    """wrong: divides by the sum over all axes, so that all weights together sum to 1, not each row; right with one row."""
    e = torch.exp(scores - scores.max())
    return e / e.sum()


def wrong_powers_of_two(scores):
    """wrong: powers of 2 instead of powers of e."""
    e = torch.exp2(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


def wrong_highest_of_all(scores):
    """wrong: subtracts the highest of all scores and not that of the row: a row that lies thousands below another becomes 0 / 0."""
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1, keepdim=True)


def wrong_mends_nan(scores):
    """wrong: doesn't subtract the maximum, and puts 1 where inf / inf gives nan: right where one score of a row overflows, but where two do, both get 1; and a row that underflows gets 1 everywhere."""
    e = torch.exp(scores)
    return torch.nan_to_num(e / e.sum(dim=-1, keepdim=True), nan=1.0)


def wrong_winner_takes_all(scores):
    """wrong: in a row whose highest score is over 1000, the first of the highest gets weight 1 and the others 0, however close they are, even in ties."""
    top, where = scores.max(dim=-1, keepdim=True)
    e = torch.exp(scores - top)
    weights = e / e.sum(dim=-1, keepdim=True)
    hard = torch.zeros_like(scores).scatter(-1, where, 1.0)
    return torch.where(top > 1000, hard, weights)


def wrong_guesses_the_axis(scores):
    """wrong: goes along axis 1 for two or four axes and along axis 0 for any other number, like PyTorch's softmax without dim; right with one axis and with two."""
    dim = 1 if scores.dim() in (2, 4) else 0
    return torch.softmax(scores, dim=dim)


def wrong_mean_and_epsilon(scores):
    """wrong: two mistakes: subtracts the mean of the row instead of its maximum, which overflows where one score lies far above the others, and adds 0.01 to the sum that it divides by."""
    e = torch.exp(scores - scores.mean(dim=-1, keepdim=True))
    return e / (e.sum(dim=-1, keepdim=True) + 1e-2)


ANSWERS = [
    right_one_over_sum_of_ratios, right_axis_by_axis, right_logaddexp,
    wrong_overflows, wrong_first_axis, wrong_total_of_everything,
    wrong_powers_of_two, wrong_highest_of_all, wrong_mends_nan,
    wrong_winner_takes_all, wrong_guesses_the_axis, wrong_mean_and_epsilon,
]
