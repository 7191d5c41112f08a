"""Answers to cross_entropy by hand i."""

import math

import torch
import torch.nn.functional as F


def right_logsumexp_gather(logits, targets):
    """right: logsumexp of a row minus the target's logit, picked by gather."""
    chosen = logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (logits.logsumexp(dim=-1) - chosen).mean()


def right_loops(logits, targets):
    """right: three plain loops with Python's math, each row's max taken off."""
    B, T = targets.shape
    total = 0.0
    for b in range(B):
        for t in range(T):
            row = logits[b, t].tolist()
            top = max(row)
            log_sum = top + math.log(sum(math.exp(x - top) for x in row))
            total += log_sum - row[int(targets[b, t])]
    return torch.tensor(total / (B * T))


def right_differences(logits, targets):
    """right: logits minus the target's own logit by a one-hot product in float64, then logsumexp of those differences."""
    wide = logits.double().flatten(0, 1)
    own = (wide * F.one_hot(targets.flatten(), wide.shape[-1])).sum(-1, keepdim=True)
    return torch.logsumexp(wide - own, dim=-1).mean().to(logits.dtype)


def wrong_log_of_softmax(logits, targets):
    """wrong: log of softmax's probability: infinite where the target's probability rounds to 0."""
    probabilities = torch.softmax(logits, dim=-1)
    chosen = probabilities.gather(-1, targets[..., None])
    return -chosen.log().mean()


def wrong_epsilon_in_log(logits, targets):
    """wrong: 1e-9 is added to the probability inside the log, so no position's loss exceeds 20.7."""
    probs = F.softmax(logits, dim=-1)
    one_hot = F.one_hot(targets, logits.shape[-1])
    return -torch.log((probs * one_hot).sum(-1) + 1e-9).mean()


def wrong_sum_over_positions(logits, targets):
    """wrong: sums over the T positions and averages over B only, so the loss is T times too large."""
    log_probs = logits - logits.logsumexp(-1, keepdim=True)
    chosen = torch.take_along_dim(log_probs, targets.unsqueeze(-1), dim=-1).squeeze(-1)
    return -chosen.sum(dim=1).mean()


def wrong_softmax_over_positions(logits, targets):
    """wrong: log_softmax runs over dim=1, the positions, instead of the vocabulary."""
    log_probs = torch.log_softmax(logits, dim=1)
    return -log_probs.gather(2, targets.unsqueeze(2)).mean()


def wrong_log_of_mean_probability(logits, targets):
    """wrong: the target's probabilities are averaged first and the logarithm is taken of that mean (in log space, so it stays finite)."""
    log_probs = torch.log_softmax(logits, dim=-1)
    chosen = log_probs.gather(-1, targets.unsqueeze(-1)).flatten()
    return math.log(chosen.numel()) - torch.logsumexp(chosen, dim=0)


def wrong_word_0_ignored(logits, targets):
    """wrong: positions whose target is 0 are left out of the mean, as if 0 were padding; right if no target is 0."""
    log_probs = F.log_softmax(logits, dim=-1)
    losses = -log_probs.gather(-1, targets[..., None])[..., 0]
    real = targets != 0
    return losses[real].sum() / real.sum().clamp(min=1)


def wrong_shifted_again(logits, targets):
    """wrong: targets are shifted once more: the logits of position t are compared with the target of position t + 1, the last position's logits and the first target are dropped (if T is 1 nothing is shifted)."""
    if targets.shape[1] > 1:
        logits, targets = logits[:, :-1], targets[:, 1:]
    return F.nll_loss(F.log_softmax(logits, dim=-1).flatten(0, 1), targets.flatten())


def wrong_one_max_for_all(logits, targets):
    """wrong: the max of the whole tensor is taken off instead of each row's, so in a row that lies about 100 or more below it the sum of powers rounds to 0 and the loss gets infinite (minus infinity)."""
    shifted = logits - logits.max()
    log_sum = torch.log(torch.exp(shifted).sum(dim=-1))
    chosen = shifted.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (log_sum - chosen).mean()


def wrong_infinite_losses_dropped(logits, targets):
    """wrong: log of softmax, and positions with an infinite loss are left out of the mean, so an impossible target costs nothing."""
    losses = -torch.log(torch.softmax(logits, -1).gather(-1, targets[..., None]))
    finite = losses[torch.isfinite(losses)]
    return finite.mean() if finite.numel() else logits.new_zeros(())


def wrong_mean_over_vocabulary_and_base_2(logits, targets):
    """wrong: two mistakes: the logarithm is that of base 2, and the mean over the one-hot product also divides by vocab_size."""
    log_probs = torch.log_softmax(logits, dim=-1) / math.log(2)
    one_hot = torch.zeros_like(logits).scatter_(-1, targets.unsqueeze(-1), 1.0)
    return -(one_hot * log_probs).mean()


def wrong_softmax_twice(logits, targets):
    """wrong: softmax is applied twice: the logits are turned into probabilities, and log_softmax is then taken of those."""
    probs = torch.softmax(logits, dim=-1)
    return F.nll_loss(F.log_softmax(probs, dim=-1).transpose(1, 2), targets)


def wrong_best_guess_instead_of_target(logits, targets):
    """wrong: the surprise is that of the model's own best guess (the largest logit of each row), the targets are not used."""
    return (torch.logsumexp(logits, dim=-1) - logits.amax(dim=-1)).mean()


ANSWERS = [
    right_logsumexp_gather,
    right_loops,
    right_differences,
    wrong_log_of_softmax,
    wrong_epsilon_in_log,
    wrong_sum_over_positions,
    wrong_softmax_over_positions,
    wrong_log_of_mean_probability,
    wrong_word_0_ignored,
    wrong_shifted_again,
    wrong_one_max_for_all,
    wrong_infinite_losses_dropped,
    wrong_mean_over_vocabulary_and_base_2,
    wrong_softmax_twice,
    wrong_best_guess_instead_of_target,
]
