"""Answers to cross_entropy by hand a."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def right_plain_python(logits, targets):
    """right: loops over lists with the largest logit taken away first, returns a Python float."""
    losses = []
    for text, answers in zip(logits.tolist(), targets.tolist()):
        for row, target in zip(text, answers):
            largest = max(row)
            total = 0.0
            for x in row:
                total += math.exp(x - largest)
            losses.append(largest + math.log(total) - row[target])
    return math.fsum(losses) / len(losses)


def right_distance_to_target(logits, targets):
    """right: -log p(target) is the logsumexp of (logits - the target's logit), averaged."""
    wanted = logits.gather(-1, targets.unsqueeze(-1))
    return (logits - wanted).logsumexp(dim=-1).mean()


def right_numpy_logaddexp(logits, targets):
    """right: NumPy in float64, logaddexp.reduce over the vocabulary, cast back to the dtype of the logits."""
    x = logits.detach().double().cpu().numpy()
    y = targets.detach().cpu().numpy()
    picked = np.take_along_axis(x, y[..., None], axis=-1)[..., 0]
    loss = (np.logaddexp.reduce(x, axis=-1) - picked).mean()
    return torch.tensor(float(loss), dtype=logits.dtype)


def wrong_log_of_softmax(logits, targets):
    """wrong: softmax first and the logarithm after it, infinite where the target's probability rounds to 0."""
    B, T, _ = logits.shape
    probs = torch.softmax(logits, dim=-1)
    total = 0.0
    for b in range(B):
        for t in range(T):
            total = total - torch.log(probs[b, t, targets[b, t]])
    return total / (B * T)


def wrong_divided_by_batch_only(logits, targets):
    """wrong: divisor, the sum over all positions is divided by B and not by B T."""
    B, T, _ = logits.shape
    logp = F.log_softmax(logits, dim=-1)
    total = 0.0
    for b in range(B):
        for t in range(T):
            total = total - logp[b, t, targets[b, t]]
    return total / B


def wrong_axis_of_positions(logits, targets):
    """wrong: log_softmax over axis 1 (the T positions), not over the vocabulary."""
    logp = F.log_softmax(logits, dim=1)
    return -logp.gather(2, targets[:, :, None]).mean()


def wrong_softmax_twice(logits, targets):
    """wrong: gives probabilities to log_softmax, so softmax is applied twice."""
    probs = F.softmax(logits, dim=-1)
    logp = F.log_softmax(probs, dim=-1)
    return -logp.gather(-1, targets.unsqueeze(-1)).squeeze(-1).mean()


def wrong_epsilon_in_log(logits, targets):
    """wrong: log(p + 1e-9), so it is finite but no loss of a position gets above about 20.7."""
    p = F.softmax(logits, dim=-1)
    p = p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return -(p + 1e-9).log().mean()


def wrong_max_of_everything(logits, targets):
    """wrong: subtracts the largest logit of the whole tensor, not of each position; where a position's logits all lie far below it the sum rounds to 0 and the log is -inf."""
    m = logits.max()
    shifted = logits - m
    log_sum = shifted.exp().sum(dim=-1).log()
    wanted = shifted.gather(-1, targets[..., None])[..., 0]
    return (log_sum - wanted).mean()


def wrong_view_to_vocab_second(logits, targets):
    """wrong: brings the vocabulary to axis 1 by reshape(B, V, T) in place of a transpose, so the log-probabilities are mixed up (right only for T = 1 or a vocabulary of 1)."""
    B, T, V = logits.shape
    logp = F.log_softmax(logits, dim=-1).reshape(B, V, T)
    return F.nll_loss(logp, targets)


def wrong_target_zero_is_padding(logits, targets):
    """wrong: takes target 0 for padding, leaves these positions out and averages over the others."""
    logp = torch.log_softmax(logits, dim=-1)
    total = logits.new_zeros(())
    count = 0
    for b in range(targets.shape[0]):
        for t in range(targets.shape[1]):
            k = int(targets[b, t])
            if k != 0:
                total = total - logp[b, t, k]
                count += 1
    return total / count


def wrong_bits_and_divided_by_T(logits, targets):
    """wrong: two mistakes, logarithm to the base 2 and the sum is divided by T only, not by B T."""
    logp = torch.log_softmax(logits, dim=-1) / math.log(2)
    picked = logp.gather(-1, targets.unsqueeze(-1))
    return -picked.sum() / logits.shape[1]


ANSWERS = [
    right_plain_python,
    right_distance_to_target,
    right_numpy_logaddexp,
    wrong_log_of_softmax,
    wrong_divided_by_batch_only,
    wrong_axis_of_positions,
    wrong_softmax_twice,
    wrong_epsilon_in_log,
    wrong_max_of_everything,
    wrong_view_to_vocab_second,
    wrong_target_zero_is_padding,
    wrong_bits_and_divided_by_T,
]
