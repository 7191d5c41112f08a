"""Answers to cross_entropy_backward by hand n."""

import math

import torch
import torch.nn.functional as F


def right_softmax_minus_one_hot(logits, targets):
    """right: softmax minus one-hot, divided by the number of targets."""
    one_hot = F.one_hot(targets, logits.shape[-1])
    return (logits.softmax(-1) - one_hot) / targets.numel()


def right_flat_indices(logits, targets):
    """right: flattens to (positions, vocab_size), takes 1 from the target's place in
    each row by index, and puts the shape back."""
    probs = torch.softmax(logits.reshape(-1, logits.shape[-1]), dim=1)
    count = len(probs)
    probs[torch.arange(count), targets.reshape(-1)] -= 1.0
    return (probs / count).reshape(logits.shape)


def right_loop_over_positions(logits, targets):
    """right: a loop over the positions in plain Python, with math.exp of the logits
    minus the row's largest."""
    rows = logits.reshape(-1, logits.shape[-1]).tolist()
    ids = targets.flatten().tolist()
    result = []
    for row, target in zip(rows, ids, strict=True):
        top = max(row)
        powers = [math.exp(v - top) for v in row]
        total = sum(powers)
        new = [p / total / len(ids) for p in powers]
        new[target] = (powers[target] / total - 1) / len(ids)
        result.append(new)
    return torch.tensor(result, dtype=logits.dtype).reshape(logits.shape)


def right_log_softmax_jacobian(logits, targets):
    """right: the gradient that arrives at the log-probabilities, -1 / positions at each
    target, times the Jacobian of log-softmax, (..., V, V), by einsum."""
    V = logits.shape[-1]
    arriving = torch.zeros_like(logits)
    arriving.scatter_(-1, targets.unsqueeze(-1), -1.0 / targets.numel())
    jacobian = torch.eye(V) - logits.softmax(-1).unsqueeze(-2)
    return torch.einsum("...i,...ij->...j", arriving, jacobian)


def right_func_grad(logits, targets):
    """right: torch.func.grad of F.cross_entropy on flattened logits and targets."""

    def loss(z):
        return F.cross_entropy(z.reshape(-1, z.shape[-1]), targets.reshape(-1))

    return torch.func.grad(loss)(logits)


def right_double_mask(logits, targets):
    """right: in float64, probabilities from logsumexp, the target's 1 from a comparison
    of ids, and a cast back at the end."""
    z = logits.double()
    probs = (z - z.logsumexp(-1, keepdim=True)).exp()
    ids = torch.arange(z.shape[-1])
    difference = torch.where(ids == targets[..., None], probs - 1, probs)
    return (difference / math.prod(targets.shape)).to(logits.dtype)


def wrong_no_division(logits, targets):
    """wrong: forgets the mean: softmax minus one-hot, not divided by the number of
    positions; right for one position."""
    return logits.softmax(-1) - F.one_hot(targets, logits.shape[-1])


def wrong_divides_by_length(logits, targets):
    """wrong: divides by T only, not by the number of positions of all texts; right
    without a batch or for a batch of one."""
    one_hot = F.one_hot(targets, logits.shape[-1])
    return (logits.softmax(-1) - one_hot) / targets.shape[-1]


def wrong_divides_by_first_axis(logits, targets):
    """wrong: divides by the length of the first axis, len(logits); right for logits
    (T, vocab_size)."""
    one_hot = F.one_hot(targets, logits.shape[-1])
    return (logits.softmax(-1) - one_hot) / len(logits)


def wrong_divides_by_all_numbers(logits, targets):
    """wrong: divides by logits.numel(), so by the number of positions times
    vocab_size."""
    one_hot = F.one_hot(targets, logits.shape[-1])
    return (logits.softmax(-1) - one_hot) / logits.numel()


def wrong_sign(logits, targets):
    """wrong: one-hot minus softmax: the sign of the whole gradient is turned."""
    one_hot = F.one_hot(targets, logits.shape[-1])
    return (one_hot - logits.softmax(-1)) / targets.numel()


def wrong_naive_exp(logits, targets):
    """wrong: softmax as exp over the sum of exp without taking the largest logit away:
    nan for logits above 88, and for rows far below zero."""
    powers = logits.exp()
    probs = powers / powers.sum(-1, keepdim=True)
    return (probs - F.one_hot(targets, logits.shape[-1])) / targets.numel()


def wrong_global_max(logits, targets):
    """wrong: takes the largest logit of the whole tensor away instead of each row's: a
    row far below it has only zeros as exp, and becomes nan."""
    powers = torch.exp(logits - logits.max())
    probs = powers / powers.sum(-1, keepdim=True)
    return (probs - F.one_hot(targets, logits.shape[-1])) / targets.numel()


def wrong_softmax_axis_one(logits, targets):
    """wrong: softmax over dim=1, which is the vocabulary only for (T, vocab_size); with
    a batch it goes over the positions."""
    one_hot = F.one_hot(targets, logits.shape[-1])
    return (torch.softmax(logits, dim=1) - one_hot) / targets.numel()


def wrong_one_after_dividing(logits, targets):
    """wrong: divides only the softmax by the number of positions, and then takes a
    whole 1 away at the target; right for one position."""
    gradient = logits.softmax(-1) / targets.numel()
    index = targets.unsqueeze(-1)
    return gradient.scatter_add(-1, index, -torch.ones_like(index, dtype=logits.dtype))


def wrong_only_the_target(logits, targets):
    """wrong: gives a gradient only to the target's logit, (p - 1) / positions, and zero
    to all others."""
    index = targets.unsqueeze(-1)
    chosen = logits.softmax(-1).gather(-1, index)
    return torch.zeros_like(logits).scatter(-1, index, (chosen - 1) / targets.numel())


def wrong_forgets_logarithm(logits, targets):
    """wrong: the gradient of minus the mean probability of the targets: each row has a
    factor, the target's probability, too much."""
    probs = logits.softmax(-1)
    chosen = probs.gather(-1, targets.unsqueeze(-1))
    one_hot = F.one_hot(targets, logits.shape[-1])
    return chosen * (probs - one_hot) / targets.numel()


def wrong_one_over_probability(logits, targets):
    """wrong: chains -1 / p with the Jacobian of softmax, with p clamped to at least
    1e-8 so as not to divide by zero: a row whose target has a smaller probability gets
    a gradient too small, zero in the end."""
    probs = logits.softmax(-1)
    one_hot = F.one_hot(targets, logits.shape[-1]).to(logits.dtype)
    grad_probs = -one_hot / probs.clamp(min=1e-8) / targets.numel()
    inner = (grad_probs * probs).sum(-1, keepdim=True)
    return probs * (grad_probs - inner)


def wrong_index_all_targets(logits, targets):
    """wrong: probs[..., targets] -= 1 takes 1 away in every row at the targets of all
    positions, not only at the row's own; right for one position."""
    probs = logits.softmax(-1)
    probs[..., targets] -= 1
    return probs / targets.numel()


def wrong_shifts_logits_in_place(logits, targets):
    """wrong: two mistakes: logits -= max changes the argument, and the division is by T
    only instead of by all positions; the result is right without a batch."""
    logits -= logits.max(dim=-1, keepdim=True).values
    powers = logits.exp()
    probs = powers / powers.sum(dim=-1, keepdim=True)
    one_hot = F.one_hot(targets, logits.shape[-1])
    return (probs - one_hot) / targets.shape[-1]


ANSWERS = [
    right_softmax_minus_one_hot,
    right_flat_indices,
    right_loop_over_positions,
    right_log_softmax_jacobian,
    right_func_grad,
    right_double_mask,
    wrong_no_division,
    wrong_divides_by_length,
    wrong_divides_by_first_axis,
    wrong_divides_by_all_numbers,
    wrong_sign,
    wrong_naive_exp,
    wrong_global_max,
    wrong_softmax_axis_one,
    wrong_one_after_dividing,
    wrong_only_the_target,
    wrong_forgets_logarithm,
    wrong_one_over_probability,
    wrong_index_all_targets,
    wrong_shifts_logits_in_place,
]
