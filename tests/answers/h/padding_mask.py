"""Answers to padding_mask by hand h."""

import torch


def right_broadcast(lengths, S):
    """right: positions below the length, with both new axes made by None."""
    lengths = torch.as_tensor(lengths)
    return torch.arange(S, device=lengths.device)[None, None, :] < lengths[:, None, None]


def right_rows_of_a_triangle(lengths, S):
    """right: looks the rows up in a table of all S + 1 possible rows."""
    table = torch.ones(S + 1, S, dtype=torch.bool).tril(-1)
    return table[torch.as_tensor(lengths).long()].unsqueeze(-2)


def right_concatenated_rows(lengths, S):
    """right: a row of n True and S - n False for each text, stacked."""
    rows = [torch.tensor([True] * int(n) + [False] * (S - int(n))) for n in lengths]
    return torch.stack(rows)[:, None]


def wrong_one_padding_let_in(lengths, S):
    """wrong: <= for <: the first padding behind each text counts as a word."""
    return (torch.arange(S) <= lengths[:, None])[:, None, :]


def wrong_inverted(lengths, S):
    """wrong: inverted: True at the padding."""
    return (torch.arange(S).expand(len(lengths), S) >= lengths.unsqueeze(1)).unsqueeze(1)


def wrong_shape_without_query_axis(lengths, S):
    """wrong: the axis of the queries is missing: the shape is (B, S), not (B, 1, S)."""
    mask = torch.zeros(len(lengths), S, dtype=torch.bool)
    for b, n in enumerate(lengths):
        mask[b, :n] = True
    return mask


def wrong_queries_instead_of_keys(lengths, S):
    """wrong: the new axis stands last: the shape is (B, S, 1), which masks queries and not keys."""
    return (torch.arange(S)[None, :] < lengths[:, None])[..., None]


def wrong_padding_in_front(lengths, S):
    """wrong: it takes the padding to stand in front: the LAST n keys are True, not the first n."""
    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)
    for b in range(len(lengths)):
        mask[b, 0, S - int(lengths[b]) :] = True
    return mask


def wrong_as_long_as_the_longest_text(lengths, S):
    """wrong: S is ignored: the last axis is as long as the longest text, so the shape is wrong where no text fills S."""
    longest = int(lengths.max())
    return torch.arange(longest).lt(lengths.view(-1, 1)).unsqueeze(1)


def wrong_full_texts_all_false(lengths, S):
    """wrong: clears the last S - n keys by the slice -(S - n):, which for a text of full length (n = S) is 0: and clears the whole row."""
    mask = torch.ones(len(lengths), 1, S, dtype=torch.bool)
    for b, n in enumerate(lengths.tolist()):
        padding = S - n
        mask[b, :, -padding:] = False
    return mask


def wrong_reshaped_not_transposed(lengths, S):
    """wrong: the comparison is made as (S, B), and reshaped to (B, 1, S) instead of transposed, so the values of the texts are mixed up."""
    ok = torch.arange(S).unsqueeze(1) < lengths
    return ok.reshape(lengths.shape[0], 1, S)


def wrong_sorted_by_length(lengths, S):
    """wrong: the lengths are sorted, longest first, so the rows belong to other texts (unless they came in that order)."""
    ordered, _ = torch.sort(lengths, descending=True)
    return (torch.arange(S)[None, None] < ordered[:, None, None])


def wrong_last_word_lost_and_additive(lengths, S):
    """wrong: two mistakes: the last word of each text counts as padding (lengths - 1), and the mask is a float one of 0 and -inf instead of booleans."""
    mask = torch.full((len(lengths), 1, S), float("-inf"))
    for b, n in enumerate(lengths.tolist()):
        mask[b, 0, : n - 1] = 0.0
    return mask


ANSWERS = [
    right_broadcast,
    right_rows_of_a_triangle,
    right_concatenated_rows,
    wrong_one_padding_let_in,
    wrong_inverted,
    wrong_shape_without_query_axis,
    wrong_queries_instead_of_keys,
    wrong_padding_in_front,
    wrong_as_long_as_the_longest_text,
    wrong_full_texts_all_false,
    wrong_reshaped_not_transposed,
    wrong_sorted_by_length,
    wrong_last_word_lost_and_additive,
]
