"""Exercises of chapter 4: the causal mask, the sliding window, the padding mask."""

import math

import torch

from helpers import attention
from helpers.checks.exercise import Case, Exercise, Mistake

# --- the causal mask ------------------------------------------------------------------


def _sizes():
    return [
        Case(name, {"T": T})
        for name, T in [("one token", 1), ("two tokens", 2), ("five tokens", 5)]
    ]


CAUSAL_MASK = Exercise(
    name="causal_mask",
    returns={"mask": "(T, T)"},
    reference=attention.causal_mask,
    cases=_sizes,
    mistakes=(
        Mistake(
            "a mask with its meaning inverted",
            lambda T: torch.ones(T, T).triu(1).bool(),
            "In this book, and in PyTorch's scaled_dot_product_attention, True means "
            "may attend. Yours is True where the key comes later.",
        ),
        Mistake(
            "the upper triangle in place of the lower one",
            lambda T: torch.ones(T, T).triu().bool(),
            "Row t is the query, column s the key. Yours lets a token see itself and "
            "the future: in row 0 every key is open.",
        ),
        Mistake(
            "a mask that hides each token from itself",
            lambda T: torch.ones(T, T).tril(-1).bool(),
            "A token may attend to itself. Without the diagonal, row 0 has nothing "
            "left to attend to, and softmax gives NaN there.",
        ),
        Mistake(
            "a mask that opens one key of the future",
            lambda T: torch.ones(T, T).tril(1).bool(),
            "Key t + 1 is the very token that row t has to predict.",
        ),
        Mistake(
            "a mask of numbers",
            lambda T: torch.ones(T, T).tril(),
            "The shape and the places are right, but the numbers 1 and 0 are not True "
            "and False: added to the scores, they hide nothing. Compare, or call "
            ".bool().",
        ),
        Mistake(
            "a mask to be added to the scores",
            lambda T: torch.zeros(T, T).masked_fill(
                torch.ones(T, T).triu(1).bool(), -math.inf
            ),
            "0 and minus infinity also work, as numbers added to the scores; this "
            "book's masks are boolean, True = may attend.",
        ),
        Mistake(
            "a mask that hides nothing",
            lambda T: torch.ones(T, T, dtype=torch.bool),
            "Every entry is True. tril returns a new tensor: was its result kept?",
        ),
    ),
)


def causal_mask(attempt):
    """Check ``my_causal_mask(T)``.

    Args:
        attempt: a function of the number of tokens that returns a (T, T) boolean
            mask, True where the key does not come after the query.

    Returns:
        verdict: a Verdict.
    """
    return CAUSAL_MASK.check(attempt)


# --- the sliding window ---------------------------------------------------------------


def _window(T, low, high):
    """True where the key lies low to high - 1 places before the query."""
    before = torch.arange(T)[:, None] - torch.arange(T)[None, :]
    return (before >= low) & (before < high)


def _windows():
    return [
        Case("a window of one", {"T": 3, "window": 1}),
        Case("a window of two", {"T": 4, "window": 2}),
        Case("a window of three", {"T": 7, "window": 3}),
        Case("a window wider than the text", {"T": 3, "window": 5}),
    ]


SLIDING_WINDOW_MASK = Exercise(
    name="sliding_window_mask",
    returns={"mask": "(T, T)"},
    reference=lambda T, window: _window(T, 0, window),
    cases=_windows,
    mistakes=(
        Mistake(
            "a window that is one key too wide",
            lambda T, window: _window(T, 0, window + 1),
            "The window counts the token itself: with a window of 1, a token sees "
            "itself and nothing else.",
        ),
        Mistake(
            "a window that is one key too narrow",
            lambda T, window: _window(T, 0, window - 1),
            "The window counts the token itself: with a window of 1, each row still "
            "has its own key.",
        ),
        Mistake(
            "a window without the token itself",
            lambda T, window: _window(T, 1, window + 1),
            "Each token may attend to itself; row 0 has nobody else.",
        ),
        Mistake(
            "a window to both sides",
            lambda T, window: _window(T, -window + 1, window),
            "The window looks back only: a key to the right of the diagonal is the "
            "future.",
        ),
        Mistake(
            "a window into the future",
            lambda T, window: _window(T, -window + 1, 1),
            "Rows are queries, columns keys: yours is the transpose of the right mask.",
        ),
        Mistake(
            "a causal mask without a window",
            lambda T, window: _window(T, 0, T),
            "The future is hidden, but no key is ever too far back.",
        ),
        Mistake(
            "the keys that the window should hide",
            lambda T, window: ~_window(T, 0, window),
            "True means may attend. Yours is True outside the window.",
        ),
        Mistake(
            "windows laid side by side",
            lambda T, window: (
                _window(T, 0, T)
                & (
                    torch.arange(T)[:, None] // window
                    == torch.arange(T)[None, :] // window
                )
            ),
            "The window slides: it ends at each token. Yours cuts the text into "
            "pieces, and the first token of a piece has no memory.",
        ),
    ),
)


def sliding_window_mask(attempt):
    """Check ``my_sliding_window_mask(T, window)``.

    Args:
        attempt: a function of the number of tokens and of the window's width in
            tokens that returns a (T, T) boolean mask, True at the query's own key and
            at the ``window - 1`` keys before it.

    Returns:
        verdict: a Verdict.
    """
    return SLIDING_WINDOW_MASK.check(attempt)


# --- the padding mask -----------------------------------------------------------------


def _lengths():
    return [
        Case("one full sequence", {"lengths": torch.tensor([2]), "S": 2}),
        Case("one padded sequence", {"lengths": torch.tensor([1]), "S": 3}),
        Case("three sequences", {"lengths": torch.tensor([4, 1, 3]), "S": 5}),
        Case("two keys, two sequences", {"lengths": torch.tensor([2, 1]), "S": 2}),
    ]


def _keys(S):
    return torch.arange(S)[None, None, :]


PADDING_MASK = Exercise(
    name="padding_mask",
    returns={"mask": "(B, 1, S)"},
    reference=attention.padding_mask,
    cases=_lengths,
    mistakes=(
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
            "a mask that hides the last key of each sequence",
            lambda lengths, S: _keys(S) < lengths[:, None, None] - 1,
            "Positions count from 0: a sequence of length 3 has keys 0, 1 and 2.",
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
            "Here the padding stands behind the text.",
        ),
        Mistake(
            "one mask for all sequences",
            lambda lengths, S: (_keys(S) < lengths.max()).expand(len(lengths), 1, S),
            "Each sequence has its own length; yours takes the longest for all.",
        ),
        Mistake(
            "a mask of numbers",
            lambda lengths, S: (_keys(S) < lengths[:, None, None]).float(),
            "The places are right, but 1 and 0 are not True and False.",
        ),
    ),
)


def padding_mask(attempt):
    """Check ``my_padding_mask(lengths, S)``.

    Args:
        attempt: a function of (B,) lengths and of the number of keys that returns a
            (B, 1, S) boolean mask, True at the keys that are no padding.

    Returns:
        verdict: a Verdict.
    """
    return PADDING_MASK.check(attempt)
