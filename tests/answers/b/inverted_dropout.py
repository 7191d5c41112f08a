"""Answers to inverted_dropout by hand b."""

import numpy as np
import torch


def right_where(weights, p, training):
    """right: where rand >= p the weight over 1 - p, else 0; in eval mode the weights themselves."""
    if not training:
        return weights
    return torch.where(torch.rand_like(weights) < p, torch.zeros_like(weights), weights / (1 - p))


def right_numpy_generator(weights, p, training):
    """right: the keep mask comes from NumPy's unseeded generator; in eval mode a copy."""
    if training:
        u = np.random.default_rng().random(tuple(weights.shape))
        keep = torch.from_numpy(u >= p).to(weights.device)
        return weights * keep / (1.0 - p)
    return weights.clone()


def right_on_a_clone(weights, p, training):
    """right: in place on a clone: fills 0 where a Bernoulli(p) draw is 1, then divides by 1 - p."""
    out = weights.clone()
    if training and p > 0:
        drop = torch.bernoulli(torch.full(weights.shape, float(p), device=weights.device)).bool()
        out.masked_fill_(drop, 0)
        out /= 1 - p
    return out


def wrong_not_scaled(weights, p, training):
    """wrong: drops with probability p in train mode, but never divides the rest by 1 - p."""
    if not training:
        return weights.clone()
    mask = torch.rand_like(weights) >= p
    return weights * mask


def wrong_keeps_with_p(weights, p, training):
    """wrong: the mask is inverted: a weight is kept with probability p and dropped with 1 - p (still divided by 1 - p)."""
    if not training:
        return weights
    mask = (torch.rand_like(weights) < p).to(weights.dtype)
    return weights * mask / (1 - p)


def wrong_divides_by_p(weights, p, training):
    """wrong: drops with probability p, but divides the rest by p, not by 1 - p (and leaves them as they are for p = 0)."""
    if not training:
        return weights
    mask = torch.rand_like(weights) >= p
    return weights * mask / (p if p > 0 else 1)


def wrong_shrinks_in_eval(weights, p, training):
    """wrong: right in train mode, but in eval mode multiplies by 1 - p."""
    if training:
        return weights * (torch.rand_like(weights) >= p) / (1 - p)
    return weights * (1 - p)


def wrong_rows_to_one(weights, p, training):
    """wrong: after dropping, divides each row by what is left of it, so it keeps its old sum, in place of dividing by 1 - p."""
    if not training:
        return weights
    kept = weights * (torch.rand_like(weights) >= p)
    before = weights.sum(dim=-1, keepdim=True)
    after = kept.sum(dim=-1, keepdim=True)
    return torch.where(after == 0, torch.zeros_like(kept), kept * before / after)


def wrong_fraction_kept(weights, p, training):
    """wrong: divides by the fraction that happened to be kept in this call (the mask's mean), not by 1 - p."""
    if not training:
        return weights
    mask = (torch.rand_like(weights) >= p).to(weights.dtype)
    share = mask.mean()
    if share == 0:
        return torch.zeros_like(weights)
    return weights * mask / share


def wrong_whole_columns(weights, p, training):
    """wrong: draws one number for each column and uses it in all rows (and all sequences), so whole columns are dropped together."""
    if not training:
        return weights
    S = weights.shape[-1]
    mask = torch.rand(S, device=weights.device) >= p
    return weights * mask / (1 - p)


def wrong_fixed_number(weights, p, training):
    """wrong: drops exactly int(p * S) weights of each row, not each with probability p (none at all where p * S < 1)."""
    if not training:
        return weights
    n = int(p * weights.shape[-1])
    rank = torch.rand_like(weights).argsort(dim=-1).argsort(dim=-1)
    return weights * (rank >= n) / (1 - p)


def wrong_in_place_always(weights, p, training):
    """wrong: two mistakes: changes the argument in place, and drops in eval mode, too."""
    weights *= torch.rand_like(weights) >= p
    weights /= 1 - p
    return weights


ANSWERS = [
    right_where,
    right_numpy_generator,
    right_on_a_clone,
    wrong_not_scaled,
    wrong_keeps_with_p,
    wrong_divides_by_p,
    wrong_shrinks_in_eval,
    wrong_rows_to_one,
    wrong_fraction_kept,
    wrong_whole_columns,
    wrong_fixed_number,
    wrong_in_place_always,
]
