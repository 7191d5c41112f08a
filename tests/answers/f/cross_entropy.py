"""Answers to cross-entropy that stays finite: cross_entropy."""

import math

import torch
import torch.nn.functional as F


def right_logsumexp(logits, targets):
    """right: logsumexp minus the target's logit, the mean over all positions."""
    chosen = logits.gather(-1, targets.long().unsqueeze(-1)).squeeze(-1)
    return (torch.logsumexp(logits, dim=-1) - chosen).mean()


def right_python_number(logits, targets):
    """right: loops over rows in plain Python, the largest logit taken off; returns a Python float."""
    losses = []
    for rows, ts in zip(logits.tolist(), targets.tolist()):
        for row, t in zip(rows, ts):
            m = max(row)
            s = math.fsum(math.exp(v - m) for v in row)
            losses.append(math.log(s) + m - row[t])
    return math.fsum(losses) / len(losses)


def right_log_softmax_flat(logits, targets):
    """right: log_softmax in float64 on (B T, vocab_size), indexed by row and target, the mean cast back."""
    V = logits.shape[-1]
    logp = F.log_softmax(logits.reshape(-1, V).double(), dim=1)
    t = targets.reshape(-1).long()
    picked = logp[torch.arange(len(t), device=t.device), t]
    return -picked.mean().to(logits.dtype)


def wrong_no_minus(logits, targets):
    """wrong: forgets the minus, so the loss is below 0."""
    lp = torch.log_softmax(logits, dim=-1)
    return lp.gather(2, targets[:, :, None]).mean()


def wrong_averages_over_vocabulary(logits, targets):
    """wrong: multiplies by one-hot targets and takes the mean over everything, so it divides by B T vocab_size."""
    log_probs = F.log_softmax(logits, dim=-1)
    one_hot = F.one_hot(targets, logits.shape[-1]).to(logits.dtype)
    return -(one_hot * log_probs).mean()


def wrong_axis_of_positions(logits, targets):
    """wrong: normalises over the positions (axis 1), not over the vocabulary."""
    logp = logits - torch.logsumexp(logits, dim=1, keepdim=True)
    total = 0
    B, T = targets.shape
    for b in range(B):
        for t in range(T):
            total = total - logp[b, t, targets[b, t]]
    return total / (B * T)


def wrong_log_of_mean(logits, targets):
    """wrong: averages the targets' probabilities first and takes minus the logarithm of that mean, not the mean of the logarithms."""
    logp = torch.log_softmax(logits, dim=-1).gather(-1, targets.unsqueeze(-1)).flatten()
    return -(torch.logsumexp(logp, 0) - math.log(logp.numel()))


def wrong_small_number_added(logits, targets):
    """wrong: adds 1e-9 to the probabilities before the logarithm, so the loss of an improbable target stops near 20.7."""
    probs = torch.softmax(logits, dim=-1)
    p = probs.gather(-1, targets[..., None]).squeeze(-1)
    return -torch.log(p + 1e-9).mean()


def wrong_one_maximum_for_all(logits, targets):
    """wrong: subtracts the largest logit of the whole batch, not of each position, so a position far below it underflows to log 0."""
    top = logits.max()
    shifted = logits - top
    lse = shifted.exp().sum(dim=-1).log()
    picked = torch.gather(shifted, -1, targets.unsqueeze(-1)).squeeze(-1)
    return torch.mean(lse - picked)


def wrong_id_0_is_padding(logits, targets):
    """wrong: leaves positions whose target is 0 out of the mean, as if id 0 were padding."""
    lse = logits.logsumexp(-1)
    nll = lse - logits.gather(-1, targets.unsqueeze(-1))[..., 0]
    mask = (targets != 0).to(nll.dtype)
    return (nll * mask).sum() / mask.sum().clamp(min=1)


def wrong_stops_at_100(logits, targets):
    """wrong: clamps the log-probabilities at -100, so no position's loss is larger than 100."""
    logp = F.log_softmax(logits, dim=-1).clamp(min=-100)
    logp = logp.view(-1, logits.size(-1))
    return F.nll_loss(logp, targets.reshape(-1))


def wrong_bits_per_text(logits, targets):
    """wrong: two mistakes: the logarithm has base 2, and the sum is divided by B, the number of texts, not by B T."""
    nats = torch.logsumexp(logits, -1) - logits.gather(-1, targets[..., None]).squeeze(-1)
    bits = nats / math.log(2)
    return bits.sum() / logits.shape[0]


ANSWERS = [
    right_logsumexp,
    right_python_number,
    right_log_softmax_flat,
    wrong_no_minus,
    wrong_averages_over_vocabulary,
    wrong_axis_of_positions,
    wrong_log_of_mean,
    wrong_small_number_added,
    wrong_one_maximum_for_all,
    wrong_id_0_is_padding,
    wrong_stops_at_100,
    wrong_bits_per_text,
]
