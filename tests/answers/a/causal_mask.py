"""Answers to causal_mask by hand a."""

import torch


def right_two_loops(T):
    """right: two loops, one entry at a time, True where the key's index is at most the query's."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for query in range(T):
        for key in range(T):
            if key <= query:
                mask[query, key] = True
    return mask


def right_cumsum_of_eye(T):
    """right: adds up the rows of the unit matrix from top to bottom, which leaves ones at and below the diagonal."""
    return torch.eye(T).cumsum(dim=0).bool()


def right_compare_positions(T):
    """right: broadcasting, a column of query positions against a row of key positions."""
    pos = torch.arange(T)
    return pos.unsqueeze(1) >= pos.unsqueeze(0)


def wrong_triu(T):
    """wrong: transposed, upper triangle: True at the query itself and at the keys AFTER it."""
    return torch.triu(torch.ones(T, T)).bool()


def wrong_without_itself(T):
    """wrong: the diagonal is False, each word attends only to those before it and not to itself."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        for j in range(i):
            mask[i, j] = True
    return mask


def wrong_true_means_forbidden(T):
    """wrong: inverted, True = may NOT attend (True only at keys after the query)."""
    may = torch.tril(torch.ones(T, T, dtype=torch.bool))
    return ~may


def wrong_ones_and_zeros(T):
    """wrong: the right pattern, but as float ones and zeros, not as a boolean tensor."""
    return torch.tril(torch.ones(T, T))


def wrong_one_ahead(T):
    """wrong: off by one, each word may also attend to the one word right after it."""
    m = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        m[i, : i + 2] = True
    return m


_kept = None


def wrong_kept_buffer(T):
    """wrong: keeps the largest mask made so far and returns it uncropped, so a smaller T after a larger one gets the larger shape."""
    global _kept
    if _kept is None or _kept.shape[0] < T:
        _kept = torch.tril(torch.ones(T, T, dtype=torch.bool))
    return _kept


def wrong_block_size(T):
    """wrong: crops a fixed mask of 32 x 32 (the lecture's block size), so for T above 32 the shape is only (32, 32)."""
    block_size = 32
    tril = torch.tril(torch.ones(block_size, block_size))
    return tril[:T, :T] == 1


def wrong_first_row_empty(T):
    """wrong: the loop over queries starts at 1, so the first word may attend to nothing, not even itself."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for q in range(1, T):
        for k in range(0, q + 1):
            mask[q, k] = True
    return mask


def wrong_transposed_and_one_off(T):
    """wrong: two mistakes, transposed (True at the keys after the query) and off by one (also the one key right before the query)."""
    return torch.triu(torch.ones(T, T), diagonal=-1) > 0


ANSWERS = [
    right_two_loops,
    right_cumsum_of_eye,
    right_compare_positions,
    wrong_triu,
    wrong_without_itself,
    wrong_true_means_forbidden,
    wrong_ones_and_zeros,
    wrong_one_ahead,
    wrong_kept_buffer,
    wrong_block_size,
    wrong_first_row_empty,
    wrong_transposed_and_one_off,
]
