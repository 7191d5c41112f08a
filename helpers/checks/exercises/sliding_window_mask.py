"""Exercise of chapter 4: the sliding window."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


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
        Case("200 tokens, a window of 150", {"T": 200, "window": 150}),
        Case("four tokens, after more", {"T": 4, "window": 3}),
    ]


EXERCISE = Exercise(
    name="sliding_window_mask",
    stub="my_sliding_window_mask(T, window)",
    asks=(
        "a function of the number of tokens and of the window's width in tokens that "
        "returns a (T, T) boolean mask, True at the query's own key and at the "
        "``window - 1`` keys before it."
    ),
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
