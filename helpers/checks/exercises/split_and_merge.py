"""Exercises of chapter 6: split into heads, and merge again."""

import torch

from helpers import attention
from helpers.checks.exercise import Case, Exercise, Mistake

SIZES = [
    ("one sequence, two tokens, two heads of width 2", (1, 2, 2, 2)),
    ("three tokens, two heads of width 2", (1, 3, 2, 2)),
    ("two sequences, one token", (2, 1, 3, 2)),
    ("one head", (2, 3, 1, 4)),
    ("heads of width 1", (2, 3, 4, 1)),
    ("as many heads as tokens", (2, 3, 3, 2)),
    ("as many sequences as heads", (2, 3, 2, 4)),
    ("heads as wide as there are tokens", (2, 3, 2, 3)),
    ("five sizes that all differ", (2, 5, 3, 4)),
]


def _numbered(B, T, C):
    """Each number says where it stands: 100 x sequence + 10 x token + feature."""
    sequences, tokens = torch.arange(B)[:, None, None], torch.arange(T)[:, None]
    return (100 * sequences + 10 * tokens + torch.arange(C)).float()


# --- split ----------------------------------------------------------------------------


def _whole_tokens():
    return [
        Case(name, {"x": _numbered(B, T, H * D), "num_heads": H})
        for name, (B, T, H, D) in SIZES
    ]


def _cut(x, num_heads):
    return x.unflatten(-1, (num_heads, -1))  # (B, T, H, D)


def _view_alone(x, num_heads):
    B, T, C = x.shape
    return x.reshape(B, num_heads, T, C // num_heads)


SPLIT_HEADS = Exercise(
    name="split_heads",
    returns={"heads": "(B, H, T, D)"},
    reference=attention.split_heads,
    cases=_whole_tokens,
    mistakes=(
        Mistake(
            "view without the transpose",
            _view_alone,
            "The shape is right and nothing complains, but view keeps the numbers in "
            "their order: a head gets whole tokens, cut into rows. Cut the last axis "
            "first, (B, T, H, D), then swap tokens and heads.",
        ),
        Mistake(
            "heads that take every H-th feature",
            lambda x, num_heads: x.unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2),
            "Head 0 holds the first D features, head 1 the next D. In a view the axis "
            "that comes last runs fastest: write (B, T, H, D), not (B, T, D, H).",
        ),
        Mistake(
            "a cut without a transpose",
            _cut,
            "(B, T, H, D) lists the heads of each token. A matrix product works on the "
            "last two axes, so tokens and features must stand there: swap T and H.",
        ),
        Mistake(
            "a transpose of heads and features",
            lambda x, num_heads: _cut(x, num_heads).transpose(2, 3),
            "After the cut the axes are (B, T, H, D). The heads have to change places "
            "with the tokens, axis 1, and not with the features.",
        ),
        Mistake(
            "a transpose of tokens and features",
            lambda x, num_heads: _cut(x, num_heads).transpose(1, 3),
            "After the cut the axes are (B, T, H, D). Axes 1 and 2 change places; the "
            "features stay last.",
        ),
        Mistake(
            "heads in front of the batch",
            lambda x, num_heads: _cut(x, num_heads).permute(2, 0, 1, 3),
            "(H, B, T, D) has all the right numbers, but the batch comes first. "
            "torch.stack puts its new axis in front unless it gets dim=1.",
        ),
        Mistake(
            "num_heads taken for the width of a head",
            lambda x, num_heads: x.unflatten(-1, (-1, num_heads)).transpose(1, 2),
            "You get D heads of width H. There are num_heads heads, and each is "
            "C // num_heads wide.",
        ),
        Mistake(
            "a split without a batch",
            lambda x, num_heads: x.reshape(x.shape[1], num_heads, -1).transpose(0, 1),
            "x has three axes, (B, T, C), and B stays in front: the result has four. "
            "Yours leaves the batch out of the view.",
        ),
        Mistake(
            "all features for every head",
            lambda x, num_heads: x.unsqueeze(1).expand(-1, num_heads, -1, -1),
            "Each head gets its own D of the C features, and together they hold each "
            "feature once. Yours repeats all C for each head.",
        ),
    ),
)


def split_heads(attempt):
    """Check ``my_split_heads(x, num_heads)``.

    Args:
        attempt: a function of (B, T, C) tokens and of the number of heads that returns
            (B, H, T, D) with D = C / H: head h holds features hD to (h+1)D - 1.

    Returns:
        verdict: a Verdict.
    """
    return SPLIT_HEADS.check(attempt)


# --- merge ----------------------------------------------------------------------------


def _tokens_by_head():
    return [
        Case(
            name,
            {"heads": attention.split_heads(_numbered(B, T, H * D), H).contiguous()},
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


MERGE_HEADS = Exercise(
    name="merge_heads",
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
            "The axes are (B, H, T, D). The heads have to stand behind the tokens, so "
            "axes 1 and 2 change places; the features stay last.",
        ),
        Mistake(
            "a transpose of heads and features",
            _merged_from(lambda heads: heads.transpose(1, 3)),
            "The axes are (B, H, T, D). The heads have to change places with the "
            "tokens, axis 2, and not with the features.",
        ),
        Mistake(
            "heads one below the other",
            lambda heads: heads.flatten(1, 2),
            "(B, H T, D) makes the sequence longer. The heads stand side by side, so "
            "that each token has one row of C = H D features.",
        ),
        Mistake(
            "a transpose without a merge",
            lambda heads: heads.transpose(1, 2),
            "(B, T, H, D) is the right order. What is missing: join the last two axes "
            "into one of width C.",
        ),
        Mistake(
            "a merge of sequences, too",
            lambda heads: heads.transpose(1, 2).reshape(-1, heads[0, :, 0].numel()),
            "(B T, C) puts all sequences below each other. Only heads and features "
            "join; B and T stay two axes.",
        ),
        Mistake(
            "heads added up",
            lambda heads: heads.sum(1),
            "A sum loses which head found what. The heads stand side by side, and each "
            "number is kept.",
        ),
    ),
)


def merge_heads(attempt):
    """Check ``my_merge_heads(heads)``.

    Args:
        attempt: a function of (B, H, T, D) heads that returns (B, T, C) with C = H D:
            what ``split_heads`` was given.

    Returns:
        verdict: a Verdict.
    """
    return MERGE_HEADS.check(attempt)
