"""Answers to mean gradient by hand c."""

import numpy as np
import torch


def right_weighted_sum(gradients, counts):
    """right: the sum of count / total times gradient in float64, cast back; a new tensor."""
    total = sum(int(c) for c in counts)
    out = torch.zeros_like(gradients[0], dtype=torch.float64)
    for g, c in zip(gradients, counts):
        out += g.double() * (int(c) / total)
    return out.to(gradients[0].dtype)


def right_numpy_average(gradients, counts):
    """right: np.average over the parts with the counts as weights, in float64, and back to the dtype of the gradients."""
    stack = np.stack([g.detach().double().cpu().numpy() for g in gradients])
    mean = np.average(stack, axis=0, weights=[int(c) for c in counts])
    return torch.tensor(mean).to(gradients[0])


def right_running_mean(gradients, counts):
    """right: a running mean: each part with characters moves it by count / seen so far of the difference; parts without characters are passed over."""
    mean, seen = torch.zeros_like(gradients[0]), 0
    for g, c in zip(gradients, counts):
        if int(c) == 0:
            continue
        seen += int(c)
        mean = mean + (g - mean) * (int(c) / seen)
    return mean


def wrong_plain_mean(gradients, counts):
    """wrong: the plain mean over the parts, the counts are ignored."""
    return torch.stack(gradients).mean(0)


def wrong_no_division(gradients, counts):
    """wrong: sums count times gradient but doesn't divide by the total of the counts."""
    return sum(g * c for g, c in zip(gradients, counts))


def wrong_divides_by_parts(gradients, counts):
    """wrong: sums count times gradient and divides by the number of parts in place of the total of the counts."""
    acc = torch.zeros_like(gradients[0])
    for g, c in zip(gradients, counts):
        acc.add_(g, alpha=int(c))
    return acc / len(gradients)


def wrong_view_for_transpose(gradients, counts):
    """wrong: reshapes the stack (P, n) to (n, P) in place of transposing it before it multiplies by the weights, which mixes the numbers; right for one part or one number."""
    w = torch.tensor([float(c) for c in counts], dtype=gradients[0].dtype)
    w = w / w.sum()
    stack = torch.stack(gradients)
    return (stack.reshape(-1, len(gradients)) @ w).reshape(gradients[0].shape)


def wrong_same_tensor_for_one(gradients, counts):
    """wrong: with a single part it returns the very tensor that it got, not a new one."""
    if len(gradients) == 1:
        return gradients[0]  # nothing to average
    n = sum(counts)
    return sum(g * (c / n) for g, c in zip(gradients, counts))


def wrong_empty_part_counts_one(gradients, counts):
    """wrong: takes a count of 0 as 1 (clamp to at least 1), so the total is too large where a part is empty."""
    cs = [max(1, int(c)) for c in counts]
    n = sum(cs)
    return sum(g * (c / n) for g, c in zip(gradients, cs))


def wrong_mean_of_nonempty(gradients, counts):
    """wrong: leaves out the parts without characters and takes the plain mean of the others, unweighted; right where the nonempty parts have equal counts."""
    return torch.stack([g for g, c in zip(gradients, counts) if c > 0]).mean(dim=0)


def wrong_rounded_weights(gradients, counts):
    """wrong: rounds the weights count / total to one decimal place."""
    n = sum(int(c) for c in counts)
    ws = [round(int(c) / n, 1) for c in counts]
    return sum(w * g for w, g in zip(ws, gradients))


def wrong_inplace_and_off_by_one(gradients, counts):
    """wrong: two mistakes: accumulates into gradients[0] itself and returns it, so it changes the argument and makes no new tensor, and divides by the total plus 1."""
    out = gradients[0]
    out.mul_(int(counts[0]))
    for g, c in zip(gradients[1:], counts[1:]):
        out.add_(g, alpha=int(c))
    return out.div_(sum(int(c) for c in counts) + 1)


ANSWERS = [
    right_weighted_sum, right_numpy_average, right_running_mean,
    wrong_plain_mean, wrong_no_division, wrong_divides_by_parts,
    wrong_view_for_transpose, wrong_same_tensor_for_one,
    wrong_empty_part_counts_one, wrong_mean_of_nonempty, wrong_rounded_weights,
    wrong_inplace_and_off_by_one,
]
