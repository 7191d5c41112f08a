"""Exercise of chapter 6: merge the heads."""

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.split_heads import SIZES, numbered


def _tokens_by_head():
    return [
        Case(
            name,
            {"heads": attention.split_heads(numbered(B, T, H * D), H).contiguous()},
        )
        for name, (B, T, H, D) in SIZES
    ]


def _merged_from(back):
    """Flatten what should be (B, T, H, D), whatever it is, into B x T rows."""

    def merge(heads):
        B, _, T, _ = heads.shape
        return back(heads).reshape(B, T, -1)

    return merge


def _merged_without_a_copy(heads):
    B, H, T, D = heads.shape
    return heads.transpose(1, 2).view(B, T, H * D)


EXERCISE = Exercise(
    name="merge_heads",
    stub="my_merge_heads(heads)",
    asks=(
        "a function of (B, H, T, D) heads that returns (B, T, C) with C = H D: what "
        "``split_heads`` was given."
    ),
    returns={"x": "(B, T, C)"},
    reference=attention.merge_heads,
    cases=_tokens_by_head,
    mistakes=(
        Mistake(
            "a merge that doesn't transpose back",
            _merged_from(lambda heads: heads),
            "The shape is right and nothing complains, but a row now holds several "
            "tokens of one head. Swap heads and tokens first, (B, T, H, D), then join "
            "the last two axes.",
        ),
        Mistake(
            "a view of transposed axes without a copy",
            _merged_without_a_copy,
            "After transpose the numbers still lie in memory in their old order, and "
            "view cannot join such axes. contiguous() copies them into the new order; "
            "reshape and flatten do it by themselves.",
        ),
        Mistake(
            "features of different heads in turn",
            _merged_from(lambda heads: heads.permute(0, 2, 3, 1)),
            "A token's row holds all features of head 0, then all of head 1. The axis "
            "that comes last runs fastest: join (B, T, H, D), not (B, T, D, H).",
        ),
        Mistake(
            "a transpose of tokens and features",
            _merged_from(lambda heads: heads.transpose(2, 3)),
            "The axes are (B, H, T, D). The heads have to come after the tokens, so "
            "axes 1 and 2 change places; the features stay last.",
        ),
        Mistake(
            "heads one below the other",
            lambda heads: heads.flatten(1, 2),
            "(B, H T, D) makes the sequence longer. The heads stand side by side, so "
            "that each token has one row of C = H D features.",
        ),
        Mistake(
            "heads added up",
            lambda heads: heads.sum(1),
            "A sum loses which head found what. The heads stand side by side, and each "
            "number is kept.",
        ),
    ),
)
