"""Answers to padding_mask by hand d."""

import numpy as np
import torch


def right_table_lookup(lengths, S):
    """right: row n of a strict (S + 1, S) lower triangle has n Trues; looks the lengths up in it."""
    return torch.ones(S + 1, S, dtype=torch.bool).tril(-1)[lengths.long()][:, None]


def right_numpy(lengths, S):
    """right: compares positions with lengths in NumPy, with the axis of 1 built in by indexing."""
    n = np.asarray(lengths.tolist(), dtype=np.int64)
    return torch.from_numpy(np.arange(S)[None, None, :] < n[:, None, None])


def right_loop(lengths, S):
    """right: sets the first n places of each text's row in a loop."""
    out = torch.zeros(len(lengths), 1, S, dtype=torch.bool, device=lengths.device)
    for row, n in zip(out, lengths.tolist()):
        row[:, :n] = True
    return out


def one_pad_too_many(lengths, S):
    """wrong: position <= length, so the first place of padding is True as well."""
    return (torch.arange(S) <= lengths[:, None])[:, None]


def true_on_padding(lengths, S):
    """wrong: inverted, True at the padding and False at the words."""
    return (torch.arange(S) >= lengths[:, None]).unsqueeze(1)


def no_query_axis(lengths, S):
    """wrong: shape (B, S), the axis of the queries is missing."""
    return torch.arange(S) < lengths[:, None]


def axis_at_the_end(lengths, S):
    """wrong: shape (B, S, 1), the axis of 1 stands at the keys' place, so the words are masked as queries."""
    return (torch.arange(S) < lengths[:, None])[..., None]


def ignores_S(lengths, S):
    """wrong: the width is the longest length, not S; right only if one text fills all S words."""
    return (torch.arange(int(lengths.max())) < lengths[:, None])[:, None]


def sorted_like_pack(lengths, S):
    """wrong: sorts the lengths from long to short first, so the rows belong to other texts; right if the batch is sorted already."""
    return (torch.arange(S) < lengths.sort(descending=True).values[:, None])[:, None]


def full_text_loses_one(lengths, S):
    """wrong: clamps the lengths to S - 1 (as indices), so the last word of a text that fills all S places is False; right for shorter texts."""
    return (torch.arange(S) <= lengths.clamp(max=S - 1)[:, None] - 1)[:, None]


def reshape_for_transpose(lengths, S):
    """wrong: compares as (S, B), then reshapes to (B, 1, S) where it should transpose: the texts' entries are mixed; right for B = 1."""
    return (torch.arange(S)[:, None] < lengths).reshape(len(lengths), 1, S)


def strictly_after_the_end(lengths, S):
    """wrong: two mistakes, inverted (True at padding), and off by one (position > length, so the first place of padding is left out)."""
    return torch.stack([torch.arange(S)[None] > n for n in lengths])


ANSWERS = [
    right_table_lookup, right_numpy, right_loop,
    one_pad_too_many, true_on_padding, no_query_axis, axis_at_the_end,
    ignores_S, sorted_like_pack, full_text_loses_one, reshape_for_transpose,
    strictly_after_the_end,
]
