"""Answers to inverted_dropout by hand h."""

import torch


def right_rand_and_where(weights, p, training):
    """right: draws a uniform number for each weight, keeps it where that is at least p; a copy in eval mode."""
    if not training:
        return weights.clone()
    kept = torch.rand(weights.shape, device=weights.device) >= p
    return torch.where(kept, weights / (1 - p), torch.zeros_like(weights))


def right_bernoulli(weights, p, training):
    """right: a Bernoulli tensor of kept ones, scaled itself; eval mode is a mask of ones."""
    keep = 1.0 - p if training else 1.0
    mask = torch.empty_like(weights, requires_grad=False).bernoulli_(keep)
    return weights * mask.div_(keep)


def right_python_loop(weights, p, training):
    """right: walks over the flat weights one by one, with torch's random numbers."""
    if p == 0 or not training:
        return weights + 0
    flat = weights.reshape(-1)
    draws = torch.rand(flat.numel(), dtype=torch.float64).tolist()
    out = [flat[n] * 0.0 if u < p else flat[n] / (1 - p) for n, u in enumerate(draws)]
    return torch.stack(out).reshape(weights.shape)


def wrong_not_scaled_up(weights, p, training):
    """wrong: the kept weights aren't divided by 1 - p."""
    if not training:
        return weights
    return weights * (torch.rand_like(weights) >= p)


def wrong_keeps_with_p(weights, p, training):
    """wrong: a weight is KEPT with probability p (dropped with 1 - p); the kept ones are divided by 1 - p."""
    if not training:
        return weights.clone()
    mask = (torch.rand_like(weights) < p).to(weights.dtype)
    return weights * mask / (1 - p)


def wrong_training_ignored(weights, p, training):
    """wrong: it never looks at training, and drops and scales in eval mode as well."""
    mask = torch.bernoulli(torch.full_like(weights, 1 - p))
    return weights * mask / (1 - p)


def wrong_one_mask_for_the_batch(weights, p, training):
    """wrong: one (T, S) mask is drawn and used for all leading axes, so all texts and heads lose the same weights (with no leading axes it's right)."""
    if not training:
        return weights
    T, S = weights.shape[-2:]
    keep = torch.rand(T, S, device=weights.device) >= p
    return weights * keep / (1 - p)


def wrong_writes_into_weights(weights, p, training):
    """wrong: it works in place: the caller's weights are changed."""
    if training:
        weights[torch.rand_like(weights) < p] = 0
        weights /= 1 - p
    return weights


def wrong_rows_normalised_again(weights, p, training):
    """wrong: instead of dividing by 1 - p, each row is divided by its own sum after dropping, so it sums to 1 again (an all-dropped row stays 0)."""
    if not training:
        return weights.clone()
    dropped = weights * (torch.rand_like(weights) >= p)
    return dropped / dropped.sum(dim=-1, keepdim=True).clamp_min(1e-12)


def wrong_exact_number(weights, p, training):
    """wrong: always exactly round(p * n) of all n weights are dropped, by a random permutation, instead of each by its own chance; the number of dropped ones never varies."""
    if not training:
        return weights.clone()
    n = weights.numel()
    mask = torch.ones(n, dtype=weights.dtype)
    mask[torch.randperm(n)[: round(p * n)]] = 0
    return weights * mask.view_as(weights) / (1 - p)


def wrong_whole_keys_dropped(weights, p, training):
    """wrong: one draw for each key, shared by all queries of a text or head: whole columns of (T, S) are dropped."""
    if not training:
        return weights.clone()
    shape = (*weights.shape[:-2], 1, weights.shape[-1])
    keep = torch.rand(shape) >= p
    return weights.masked_fill(~keep, 0.0) / (1 - p)


def wrong_same_mask_every_call(weights, p, training):
    """wrong: a generator seeded anew in each call: for a given shape every call drops the same weights."""
    if not training:
        return weights.clone()
    generator = torch.Generator().manual_seed(123)
    keep = torch.rand(weights.shape, generator=generator) >= p
    return weights * keep / (1 - p)


def wrong_half_and_in_eval_scaled(weights, p, training):
    """wrong: two mistakes: the mask is a coin toss, so half are dropped whatever p is, and the division by 1 - p happens in eval mode, too."""
    if training:
        mask = torch.randint(0, 2, weights.shape)
    else:
        mask = torch.ones(weights.shape)
    return weights * mask / (1 - p)


def wrong_scaled_in_eval_instead(weights, p, training):
    """wrong: the old, not inverted dropout: no division in train mode, and in eval mode all weights are multiplied by 1 - p."""
    if training:
        return weights * torch.bernoulli(torch.ones_like(weights) * (1 - p))
    return weights * (1 - p)


ANSWERS = [
    right_rand_and_where,
    right_bernoulli,
    right_python_loop,
    wrong_not_scaled_up,
    wrong_keeps_with_p,
    wrong_training_ignored,
    wrong_one_mask_for_the_batch,
    wrong_writes_into_weights,
    wrong_rows_normalised_again,
    wrong_exact_number,
    wrong_whole_keys_dropped,
    wrong_same_mask_every_call,
    wrong_half_and_in_eval_scaled,
    wrong_scaled_in_eval_instead,
]
