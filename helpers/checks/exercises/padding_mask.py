"""Exercise of chapter 4: the padding mask."""

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _lengths():
    return [
        Case("one full sequence", {"lengths": torch.tensor([2]), "S": 2}),
        Case("one padded sequence", {"lengths": torch.tensor([1]), "S": 3}),
        Case("three sequences", {"lengths": torch.tensor([4, 1, 3]), "S": 5}),
        Case("two keys, two sequences", {"lengths": torch.tensor([2, 1]), "S": 2}),
        Case("the longest last", {"lengths": torch.tensor([1, 3]), "S": 3}),
    ]


def _keys(S):
    return torch.arange(S)[None, None, :]


EXERCISE = Exercise(
    name="padding_mask",
    stub="my_padding_mask(lengths, S)",
    asks=(
        "a function of (B,) lengths and of the number of keys that returns a (B, 1, S) "
        "boolean mask, True at the keys that are no padding."
    ),
    returns={"mask": "(B, 1, S)"},
    reference=attention.padding_mask,
    cases=_lengths,
    mistakes=(
        Mistake(
            "lengths that were sorted first",
            lambda lengths, S: (
                _keys(S) < lengths.sort(descending=True).values[:, None, None]
            ),
            "Row b belongs to sequence b. Sorting the lengths gives the rows to other "
            "sequences, unless they were sorted already.",
        ),
        Mistake(
            "a mask as wide as the longest sequence",
            lambda lengths, S: _keys(int(lengths.max())) < lengths[:, None, None],
            "The mask has S columns, one for each key, also where no sequence of the "
            "batch is that long.",
        ),
        Mistake(
            "a mask of (S, B) that was reshaped",
            lambda lengths, S: (torch.arange(S)[:, None] < lengths).reshape(
                len(lengths), 1, S
            ),
            "reshape leaves the entries in their order and cuts them into other rows. "
            "Compare a column of lengths with a row of positions, or transpose.",
        ),
        Mistake(
            "the padding but its first key, and not what is real",
            lambda lengths, S: _keys(S) > lengths[:, None, None],
            "True means may attend, so it stands at the keys that are no padding; and "
            "the padding begins at the position that equals the length.",
        ),
        Mistake(
            "a mask that is True at the padding",
            lambda lengths, S: _keys(S) >= lengths[:, None, None],
            "True means may attend. PyTorch's nn.MultiheadAttention takes this "
            "inverted mask as key_padding_mask; this book does not.",
        ),
        Mistake(
            "a mask that opens one key too many",
            lambda lengths, S: _keys(S) <= lengths[:, None, None],
            "Positions count from 0: a sequence of length 1 has a key at 0, and "
            "position 1 is padding.",
        ),
        Mistake(
            "a mask without an axis for the queries",
            lambda lengths, S: torch.arange(S) < lengths[:, None],
            "(B, S) would meet scores of shape (B, T, S) as (1, B, S): where B equals "
            "T, each sequence gets the masks of all of them, row by row.",
        ),
        Mistake(
            "a mask that hides queries instead of keys",
            lambda lengths, S: (_keys(S) < lengths[:, None, None]).transpose(1, 2),
            "A row with no key left gives NaN. What a padded position looks at "
            "matters to nobody; that nobody looks at it is the point.",
        ),
        Mistake(
            "a mask with the padding in front",
            lambda lengths, S: _keys(S) >= S - lengths[:, None, None],
            "Here the padding comes after the text.",
        ),
        Mistake(
            "the first sequence's mask for all",
            lambda lengths, S: (_keys(S) < lengths[0]).expand(len(lengths), 1, S),
            "Each sequence has its own length; yours takes that of the first for all.",
        ),
    ),
)
