"""Answers to prefix_matching_score by hand a."""

import torch


def right_loops(weights, n):
    """right: loops over heads and positions n + 1 .. 2n, adds the weight at t - n + 1, divides by n."""
    H = weights.shape[0]
    scores = weights.new_zeros(H)
    for h in range(H):
        for t in range(n + 1, 2 * n + 1):
            earlier = t - n
            scores[h] += weights[h, t, earlier + 1]
        scores[h] /= n
    return scores


def right_diagonal(weights, n):
    """right: the diagonal with key - query = 1 - n, its last n entries, averaged."""
    d = weights.diagonal(offset=1 - n, dim1=1, dim2=2)
    return d[:, -n:].mean(dim=1)


def right_selection_matrix(weights, n):
    """right: a (T, T) table with 1 at the n wanted places, einsum with the weights, divided by n."""
    T = weights.shape[-1]
    wanted = torch.zeros(T, T, dtype=weights.dtype, device=weights.device)
    for i in range(1, n + 1):
        wanted[n + i, i + 1] = 1
    return torch.einsum("hts,ts->h", weights, wanted) / n


def wrong_same_character(weights, n):
    """wrong: off by one, takes the weight on the earlier occurrence itself (t - n), not on the place after it."""
    total = torch.zeros(weights.shape[0], dtype=weights.dtype)
    for t in range(n + 1, 2 * n + 1):
        total = total + weights[:, t, t - n]
    return total / n


def wrong_transposed(weights, n):
    """wrong: indices exchanged, reads weights[h, t - n + 1, t], the weight from the earlier place to the later one."""
    total = torch.zeros(weights.shape[0], dtype=weights.dtype)
    for t in range(n + 1, 2 * n + 1):
        total = total + weights[:, t - n + 1, t]
    return total / n


def wrong_sum(weights, n):
    """wrong: the sum over the n positions, never divided by n."""
    total = torch.zeros(weights.shape[0], dtype=weights.dtype)
    for t in range(n + 1, 2 * n + 1):
        total = total + weights[:, t, t - n + 1]
    return total


def wrong_first_character_forgotten(weights, n):
    """wrong: forgets position 0, takes the second copy to be at n .. 2n - 1 (the key is t - n + 1 for these t), so all n rows are one too early."""
    total = torch.zeros(weights.shape[0], dtype=weights.dtype)
    for t in range(n, 2 * n):
        total = total + weights[:, t, t - n + 1]
    return total / n


def wrong_whole_diagonal(weights, n):
    """wrong: averages the whole diagonal key - query = 1 - n, which has two more entries, at the positions n - 1 and n of the first copy."""
    stripe = torch.diagonal(weights, offset=-(n - 1), dim1=-2, dim2=-1)
    return stripe.mean(dim=-1)


def wrong_last_position_dropped(weights, n):
    """wrong: leaves out the last position 2n, because its target is no longer in the first copy, and averages over n - 1 positions."""
    t = torch.arange(n + 1, 2 * n)
    return weights[:, t, t - n + 1].mean(dim=1)


def wrong_share_of_argmax(weights, n):
    """wrong: counts at how many of the n positions the LARGEST weight lies on the right place, in place of averaging the weight there."""
    H = weights.shape[0]
    hits = torch.zeros(H, dtype=weights.dtype)
    for h in range(H):
        for t in range(n + 1, 2 * n + 1):
            if int(weights[h, t].argmax()) == t - n + 1:
                hits[h] += 1
    return hits / n


def wrong_without_weight_on_first(weights, n):
    """wrong: divides each weight by the row's sum without position 0, so weight that rests on the first character is not counted."""
    total = torch.zeros(weights.shape[0], dtype=weights.dtype)
    for t in range(n + 1, 2 * n + 1):
        rest = weights[:, t, 1:].sum(dim=-1)
        total = total + weights[:, t, t - n + 1] / rest
    return total / n


def wrong_place_before_and_by_T(weights, n):
    """wrong: two mistakes, the place right BEFORE the earlier occurrence (t - n - 1), and divided by T = 2n + 1 in place of n."""
    T = weights.shape[1]
    total = torch.zeros(weights.shape[0], dtype=weights.dtype)
    for t in range(n + 1, T):
        total = total + weights[:, t, t - n - 1]
    return total / T


ANSWERS = [
    right_loops,
    right_diagonal,
    right_selection_matrix,
    wrong_same_character,
    wrong_transposed,
    wrong_sum,
    wrong_first_character_forgotten,
    wrong_whole_diagonal,
    wrong_last_position_dropped,
    wrong_share_of_argmax,
    wrong_without_weight_on_first,
    wrong_place_before_and_by_T,
]
