"""Answers to padding_mask by hand a."""

import torch


def right_loop_per_text(lengths, S):
    """right: loop over the texts, the first n keys of each are True."""
    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)
    for b, n in enumerate(lengths.tolist()):
        mask[b, 0, :n] = True
    return mask


def right_broadcast(lengths, S):
    """right: positions 0 .. S - 1 compared with lengths as (B, 1, 1)."""
    return torch.arange(S, device=lengths.device) < lengths.reshape(-1, 1, 1)


def right_table_of_rows(lengths, S):
    """right: makes the rows for each possible length 0 .. S once and picks one row per text."""
    table = torch.ones(S + 1, S).tril(-1) > 0.5
    return table[lengths.long()].unsqueeze(1)


def wrong_no_query_axis(lengths, S):
    """wrong: forgets the axis of the queries, the shape is (B, S)."""
    mask = torch.zeros(len(lengths), S, dtype=torch.bool)
    for b in range(len(lengths)):
        mask[b, : int(lengths[b])] = True
    return mask


def wrong_true_at_padding(lengths, S):
    """wrong: inverted, True at the padding and False at the words."""
    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)
    for b in range(len(lengths)):
        for s in range(S):
            if s >= lengths[b]:
                mask[b, 0, s] = True
    return mask


def wrong_less_or_equal(lengths, S):
    """wrong: off by one, <= in place of <, so the first padding place of each text is True."""
    pos = torch.arange(S)[None, None, :]
    return pos <= lengths[:, None, None]


def wrong_axis_of_one_last(lengths, S):
    """wrong: the axis of 1 is the last one, shape (B, S, 1), so it would mask queries and not keys."""
    pos = torch.arange(S)
    return (pos[None, :] < lengths[:, None]).unsqueeze(-1)


def wrong_padding_in_front(lengths, S):
    """wrong: takes the padding to be in front, so the LAST n keys are True."""
    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)
    for b, n in enumerate(lengths.tolist()):
        for s in range(S - n, S):
            mask[b, 0, s] = True
    return mask


def wrong_first_length_for_all(lengths, S):
    """wrong: inside the loop it uses lengths[0] for each text, so all texts get the first one's mask."""
    rows = []
    for _ in range(len(lengths)):
        rows.append(torch.arange(S) < lengths[0])
    return torch.stack(rows)[:, None, :]


def wrong_minus_zero(lengths, S):
    """wrong: sets the last S - n places to False with the slice [-(S - n):]; for a text of full length this is [0:], so its row is all False."""
    mask = torch.ones(len(lengths), 1, S, dtype=torch.bool)
    for b in range(len(lengths)):
        pad = S - int(lengths[b])
        mask[b, 0, -pad:] = False
    return mask


def wrong_sorted_lengths(lengths, S):
    """wrong: sorts the lengths, longest first (as for packing), so the rows belong to other texts unless they are sorted already."""
    lengths, _ = torch.sort(lengths, descending=True)
    return torch.arange(S).expand(len(lengths), 1, S) < lengths[:, None, None]


def wrong_inverted_and_off_by_one(lengths, S):
    """wrong: two mistakes, inverted (True at padding) and off by one (> in place of >=, so the first padding place is False)."""
    return torch.arange(S).view(1, 1, S) > lengths.view(-1, 1, 1)


ANSWERS = [
    right_loop_per_text,
    right_broadcast,
    right_table_of_rows,
    wrong_no_query_axis,
    wrong_true_at_padding,
    wrong_less_or_equal,
    wrong_axis_of_one_last,
    wrong_padding_in_front,
    wrong_first_length_for_all,
    wrong_minus_zero,
    wrong_sorted_lengths,
    wrong_inverted_and_off_by_one,
]
