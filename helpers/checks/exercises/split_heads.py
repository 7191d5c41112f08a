"""Exercise of chapter 6: split into heads."""

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise

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


def numbered(B, T, C):
    """Each number says where it stands: 100 x sequence + 10 x token + feature."""
    sequences, tokens = torch.arange(B)[:, None, None], torch.arange(T)[:, None]
    return (100 * sequences + 10 * tokens + torch.arange(C)).float()


def _whole_tokens():
    return [
        Case(name, {"x": numbered(B, T, H * D), "num_heads": H})
        for name, (B, T, H, D) in SIZES
    ]


def _cut(x, num_heads):
    return x.unflatten(-1, (num_heads, -1))  # (B, T, H, D)


def _view_alone(x, num_heads):
    B, T, C = x.shape
    return x.reshape(B, num_heads, T, C // num_heads)


EXERCISE = Exercise(
    name="split_heads",
    stub="my_split_heads(x, num_heads)",
    asks=(
        "a function of (B, T, C) tokens and of the number of heads that returns (B, H, "
        "T, D) with D = C / H: head h holds features hD to (h+1)D - 1."
    ),
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
            "heads that overlap",
            lambda x, num_heads: torch.stack(
                [x[..., h : h + x.shape[-1] // num_heads] for h in range(num_heads)],
                1,
            ),
            "Head h begins at feature h times D, not at feature h: neighbouring heads "
            "would share all features but one.",
        ),
    ),
)
