import torch


def dropout_rand(weights, p, training):
    """right: keeps a weight where a uniform random number is at least p, and divides by 1 - p; returns the weights in eval mode."""
    if not training:
        return weights
    keep = torch.rand_like(weights) >= p
    return weights * keep / (1 - p)


def dropout_bernoulli(weights, p, training):
    """right: a coin of chance 1 - p for each weight with torch.bernoulli, and torch.where."""
    if training:
        coin = torch.bernoulli(torch.full(weights.shape, 1.0 - p))
        out = torch.where(coin == 1, weights / (1.0 - p), torch.zeros(()))
    else:
        out = weights.clone()
    return out


def dropout_keeps_p(weights, p, training):
    """wrong: takes p for the chance to keep a weight: keeps with probability p and divides by p (NaN at p = 0; right at p = 0.5)."""
    if not training:
        return weights
    mask = (torch.rand(weights.shape) < p).float()
    return mask * weights / p


def dropout_same_for_batch(weights, p, training):
    """wrong: draws one (T, S) mask for all axes in front, so all texts of a batch lose the same weights (right without such axes)."""
    if training == False:
        return weights
    T, S = weights.shape[-2:]
    mask = torch.rand(T, S) >= p
    return weights.masked_fill(~mask, 0.0) / (1 - p)


def dropout_classic(weights, p, training):
    """wrong: doesn't scale in training but multiplies by 1 - p in eval mode: the original dropout, not the inverted one."""
    if training:
        keep = torch.bernoulli(torch.ones_like(weights) * (1 - p))
        return weights * keep
    return weights * (1 - p)


def dropout_renormalised(weights, p, training):
    """wrong: divides the kept weights by their sum instead of by 1 - p, so that rows sum to 1 again (NaN for a row that lost everything)."""
    if not training:
        return weights
    dropped = torch.rand_like(weights) < p
    kept = weights.masked_fill(dropped, 0)
    # the rows have to sum to 1
    return kept / kept.sum(dim=-1, keepdim=True)


def dropout_no_return(weights, p, training):
    """wrong: returns only in train mode; in eval mode the result is None."""
    if training:
        mask = torch.empty_like(weights).uniform_() >= p
        result = weights * mask / (1.0 - p)
        return result


def dropout_changes_input(weights, p, training):
    """wrong: sets the dropped weights of the argument itself to 0, so the caller's weights change (the result is right)."""
    if not training:
        return weights
    drop = torch.rand(weights.size()) < p
    weights[drop] = 0
    return weights / (1 - p)


ANSWERS = [
    dropout_rand,
    dropout_bernoulli,
    dropout_keeps_p,
    dropout_same_for_batch,
    dropout_classic,
    dropout_renormalised,
    dropout_no_return,
    dropout_changes_input,
]
