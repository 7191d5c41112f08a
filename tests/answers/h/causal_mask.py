"""Answers to causal_mask by hand h."""

import torch


def right_compare_positions(T):
    """right: broadcasts query positions against key positions."""
    t = torch.arange(T)
    return t.unsqueeze(1) >= t.unsqueeze(0)


def right_nested_lists(T):
    """right: a nested list of Python booleans."""
    return torch.tensor([[key <= query for key in range(T)] for query in range(T)]).reshape(T, T)


def right_cumulated_identity(T):
    """right: a running sum of the identity along the rows, upside up, turned to bool."""
    return torch.eye(T, dtype=torch.long).flip(1).cumsum(1).flip(1).bool()


def wrong_true_means_blocked(T):
    """wrong: inverted: True marks the later keys, which are to be blocked."""
    return torch.triu(torch.ones(T, T), diagonal=1).bool()


def wrong_not_itself(T):
    """wrong: the diagonal is False: a word may attend only to those before it, not to itself."""
    i = torch.arange(T)
    return i[:, None] > i[None, :]


def wrong_one_ahead(T):
    """wrong: off by one: each word may also attend to the word after it."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for i in range(T):
        mask[i, : i + 2] = True
    return mask


def wrong_transposed(T):
    """wrong: transposed: each word may attend to itself and to those after it."""
    i, j = torch.meshgrid(torch.arange(T), torch.arange(T), indexing="xy")
    return j <= i


def wrong_floats(T):
    """wrong: the places are right, but it's a float tensor of ones and zeros, not a boolean one."""
    return torch.tril(torch.ones(T, T))


def wrong_first_row_empty(T):
    """wrong: the loop starts with the second word, so the first row is all False; the other rows are right."""
    mask = torch.zeros(T, T).bool()
    for query in range(1, T):
        for key in range(query + 1):
            mask[query, key] = True
    return mask


def wrong_only_itself_and_the_one_before(T):
    """wrong: each word may attend to itself and to the one word before it alone; earlier words are False (to be seen from three words on)."""
    return torch.eye(T).bool() | torch.diag(torch.ones(max(T - 1, 0)), -1)[:T, :T].bool()


def wrong_additive_and_diagonal_blocked(T):
    """wrong: two mistakes: it's a float mask to be added (0 and -inf) instead of booleans, and its -inf includes the diagonal, so a word may not attend to itself."""
    return torch.full((T, T), float("-inf")).triu()


def wrong_counted_from_the_end(T):
    """wrong: mirrored left to right: the query may attend to the LAST query+1 keys and not to the first ones."""
    mask = torch.zeros(T, T, dtype=torch.bool)
    for query in range(T):
        mask[query, T - 1 - query :] = True
    return mask


ANSWERS = [
    right_compare_positions,
    right_nested_lists,
    right_cumulated_identity,
    wrong_true_means_blocked,
    wrong_not_itself,
    wrong_one_ahead,
    wrong_transposed,
    wrong_floats,
    wrong_first_row_empty,
    wrong_only_itself_and_the_one_before,
    wrong_additive_and_diagonal_blocked,
    wrong_counted_from_the_end,
]
