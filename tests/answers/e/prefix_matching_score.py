"""Answers to prefix matching score."""

import torch


def right_lower_diagonal(weights, n):
    """right: the diagonal n - 1 below the main one, without its first two entries (t = n - 1 and n)."""
    line = weights.diagonal(offset=1 - n, dim1=1, dim2=2)
    return line[:, 2:].mean(dim=-1)


def right_trace_of_block(weights, n):
    """right: rows n + 1 to 2n and columns 2 to n + 1 are a square whose trace is the sum; in float64, cast back."""
    block = weights[:, n + 1:, 2:n + 2].double()
    return (torch.einsum("hii->h", block) / n).to(weights.dtype)


def right_by_reading_the_text(weights, n):
    """right: writes a text of numbers, looks up where each character stood before, and takes a running mean."""
    text = [0] + list(range(1, n + 1)) * 2
    score = torch.zeros_like(weights[:, 0, 0])
    taken = 0
    for t in range(n + 1, len(text)):
        earlier = text.index(text[t])
        taken += 1
        score = score + (weights[:, t, earlier + 1] - score) / taken
    return score


def wrong_on_the_character_itself(weights, n):
    """wrong: takes the weight on the earlier occurrence itself, position t - n, and not on the place right after it."""
    t = torch.arange(n + 1, 2 * n + 1)
    return weights[:, t, t - n].mean(-1)


def wrong_keys_ask(weights, n):
    """wrong: reads the weights transposed, weights[h, s, t] for weights[h, t, s]."""
    score = 0
    for t in range(n + 1, 2 * n + 1):
        score = score + weights[:, t - n + 1, t]
    return score / n


def wrong_forgets_first_character(weights, n):
    """wrong: forgets that position 0 holds an extra character: takes the positions t = n to 2n - 1, with the weight on t - n + 1."""
    picked = [weights[:, t, t - n + 1] for t in range(n, 2 * n)]
    return torch.stack(picked).mean(0)


def wrong_sum(weights, n):
    """wrong: returns the sum over the n positions, not their mean."""
    t = torch.arange(n) + n + 1
    return weights[:, t, t - n + 1].sum(dim=1)


def wrong_leaves_out_the_last(weights, n):
    """wrong: leaves out the last position, t = 2n, and averages over n - 1 positions (for n = 1, where none is left, 0)."""
    if n == 1:
        return weights.new_zeros(weights.shape[0])
    t = torch.arange(n + 1, 2 * n)
    return weights[:, t, t - n + 1].mean(dim=1)


def wrong_wraps_around(weights, n):
    """wrong: at the last position, t = 2n, it goes back to position 1 instead of on to n + 1; all other positions are right."""
    t = torch.arange(n + 1, 2 * n + 1)
    s = 1 + (t - n) % n
    return weights[:, t, s].mean(dim=1)


def wrong_without_position_zero(weights, n):
    """wrong: leaves the weight on position 0 out of the account: divides each row by the sum of its other weights first."""
    rest = weights.clone()
    rest[:, :, 0] = 0
    rest = rest / rest.sum(-1, keepdim=True).clamp(min=1e-9)
    line = torch.arange(1, n + 1)
    return rest[:, n + line, line + 1].mean(-1)


def wrong_whole_diagonal(weights, n):
    """wrong: averages the whole diagonal t - s = n - 1, with the positions t = n - 1 and t = n, which are not in the second copy: n + 2 numbers instead of n."""
    return torch.diagonal(weights, 1 - n, 1, 2).mean(-1)


def wrong_before_and_divisor(weights, n):
    """wrong: two mistakes: takes the place right before the earlier occurrence, t - n - 1, and divides the sum by n + 1 instead of n."""
    score = weights.new_zeros(len(weights))
    for t in range(n + 1, 2 * n + 1):
        score += weights[:, t, t - n - 1]
    return score / (n + 1)


ANSWERS = [
    right_lower_diagonal, right_trace_of_block, right_by_reading_the_text,
    wrong_on_the_character_itself, wrong_keys_ask,
    wrong_forgets_first_character, wrong_sum, wrong_leaves_out_the_last,
    wrong_wraps_around, wrong_without_position_zero, wrong_whole_diagonal,
    wrong_before_and_divisor,
]
