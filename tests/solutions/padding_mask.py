"""The padding mask."""

import torch


def padding_by_comparison(lengths, S):
    return (torch.arange(S) < lengths.unsqueeze(1)).unsqueeze(1)


def padding_by_loops(lengths, S):
    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)
    for b, length in enumerate(lengths.tolist()):
        mask[b, 0, :length] = True
    return mask


def padding_from_lists(lengths, S):
    rows = [[[s < length for s in range(S)]] for length in lengths.tolist()]
    return torch.tensor(rows)


def padding_by_negation(lengths, S):
    is_padding = torch.arange(S)[None, :] >= lengths[:, None]
    return ~is_padding[:, None, :]


def padding_for_pytorch_mha(lengths, S):
    return (torch.arange(S)[None, :] >= lengths[:, None])[:, None, :]


def padding_off_by_one(lengths, S):
    return (torch.arange(S)[None, :] <= lengths[:, None])[:, None, :]


def padding_without_axis(lengths, S):
    mask = torch.zeros(len(lengths), S, dtype=torch.bool)
    for b, length in enumerate(lengths.tolist()):
        mask[b, :length] = True
    return mask


def padding_of_queries(lengths, S):
    return (torch.arange(S)[None, :] < lengths[:, None])[:, :, None]


def padding_on_the_left(lengths, S):
    return padding_by_comparison(lengths, S).flip(-1)


RIGHT = [
    padding_by_comparison,
    padding_by_loops,
    padding_from_lists,
    padding_by_negation,
]
WRONG = [
    (padding_for_pytorch_mha, "a mask that is True at the padding"),
    (padding_off_by_one, "a mask that opens one key too many"),
    (padding_without_axis, "a mask without an axis for the queries"),
    (padding_of_queries, "a mask that hides queries instead of keys"),
    (padding_on_the_left, "a mask with the padding in front"),
]
