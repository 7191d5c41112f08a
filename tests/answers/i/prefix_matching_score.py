"""Answers to prefix_matching_score by hand i."""

import torch


def right_diagonal(weights, n):
    """right: a diagonal below the main one, its last n entries, mean."""
    return weights.diagonal(offset=1 - n, dim1=1, dim2=2)[:, -n:].mean(dim=-1)


def right_loops_over_characters(weights, n):
    """right: for each character its first place is looked up in a made-up text, the weight right after it is added in float64."""
    text = [-1, *range(n), *range(n)]
    scores = []
    for head in weights:
        total = 0.0
        for t in range(n + 1, 2 * n + 1):
            total += float(head[t, text.index(text[t]) + 1])
        scores.append(total / n)
    return torch.tensor(scores, dtype=weights.dtype)


def right_mask_product(weights, n):
    """right: a 0/1 matrix marks the n places, einsum sums over both axes."""
    t = torch.arange(2 * n + 1)[:, None]
    s = torch.arange(2 * n + 1)[None]
    place = ((s == t - n + 1) & (t > n)).to(weights.dtype)
    return torch.einsum("hts,ts->h", weights, place) / n


def wrong_earlier_occurrence_itself(weights, n):
    """wrong: takes the weight on the earlier occurrence itself (s = t - n) instead of on the place right after it."""
    t = torch.arange(n + 1, 2 * n + 1)
    return weights[:, t, t - n].mean(dim=1)


def wrong_place_before(weights, n):
    """wrong: takes the weight on the place right before the earlier occurrence (s = t - n - 1) instead of after it."""
    t = torch.arange(n + 1, 2 * n + 1)
    return weights[:, t, t - n - 1].mean(-1)


def wrong_first_character_forgotten(weights, n):
    """wrong: forgets that position 0 holds the first character: the second copy is taken as positions n to 2n - 1 (the place n - 1 back is right for each), so one position before the copy is in and the last one is left out."""
    scores = torch.zeros(weights.shape[0])
    for t in range(n, 2 * n):
        scores += weights[:, t, t - n + 1]
    return scores / n


def wrong_sum(weights, n):
    """wrong: the sum over the n positions instead of the mean."""
    rows = torch.arange(n + 1, 2 * n + 1).view(1, n, 1).expand(len(weights), n, 1)
    return weights[:, n + 1 :].gather(2, rows - n + 1).sum(dim=(1, 2))


def wrong_query_and_key_swapped(weights, n):
    """wrong: the two last axes are swapped: reads weights[h, s, t], what the earlier place gives to the later one (0 under a causal mask for n > 1)."""
    t = torch.arange(n + 1, 2 * n + 1)
    s = t - n + 1
    return weights[:, s, t].mean(dim=-1)


def wrong_heads_averaged(weights, n):
    """wrong: averages over the heads as well and returns a single number, shape (), instead of one for each head."""
    t = torch.arange(n + 1, 2 * n + 1)
    return weights[:, t, t - n + 1].mean()


def wrong_whole_diagonal(weights, n):
    """wrong: the mean runs over the whole diagonal s = t - n + 1, which also has the positions n - 1 and n of before the second copy (n + 2 entries instead of n)."""
    return torch.diagonal(weights, offset=-(n - 1), dim1=-2, dim2=-1).mean(dim=-1)


def wrong_last_position_left_out(weights, n):
    """wrong: the last position 2n is left out, because the place after its earlier occurrence is in the second copy already: mean over n - 1 positions (0 for n = 1)."""
    if n == 1:
        return weights.new_zeros(len(weights))
    t = torch.arange(n + 1, 2 * n)
    return weights[:, t, t - n + 1].mean(dim=-1)


def wrong_share_of_hits(weights, n):
    """wrong: counts at how many of the n positions the right place has the largest weight of its row (share of hits), instead of averaging the weight."""
    t = torch.arange(n + 1, 2 * n + 1)
    hit = weights[:, n + 1 :].argmax(dim=-1) == t - n + 1
    return hit.float().mean(dim=-1)


def wrong_previous_place_and_divided_by_length(weights, n):
    """wrong: two mistakes: takes the weight on the position just before (s = t - 1) instead of after the earlier occurrence, and divides by T = 2n + 1 instead of n."""
    T = 2 * n + 1
    total = torch.zeros(weights.shape[0])
    for t in range(n + 1, T):
        total = total + weights[:, t, t - 1]
    return total / T


def wrong_median(weights, n):
    """wrong: the median over the n positions instead of the mean."""
    t = torch.arange(n + 1, 2 * n + 1)
    return weights[:, t, t - n + 1].median(dim=-1).values


def wrong_first_copy_as_queries(weights, n):
    """wrong: two mistakes in one index: the positions taken are those of the first copy (1 to n), and the place is the one right after the same character in the second copy, so it looks ahead (the last one, beyond the text, is left out; mean over n - 1, 0 for n = 1)."""
    t = torch.arange(1, n)
    if n == 1:
        return torch.zeros(len(weights))
    return weights[:, t, t + n + 1].mean(dim=-1)


ANSWERS = [
    right_diagonal,
    right_loops_over_characters,
    right_mask_product,
    wrong_earlier_occurrence_itself,
    wrong_place_before,
    wrong_first_character_forgotten,
    wrong_sum,
    wrong_query_and_key_swapped,
    wrong_heads_averaged,
    wrong_whole_diagonal,
    wrong_last_position_left_out,
    wrong_share_of_hits,
    wrong_previous_place_and_divided_by_length,
    wrong_median,
    wrong_first_copy_as_queries,
]
