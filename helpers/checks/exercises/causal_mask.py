"""Exercise of chapter 4: the causal mask."""

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _sizes():
    sizes = {"one token": 1, "two tokens": 2, "five tokens": 5, "200 tokens": 200}
    sizes["four tokens, after more"] = 4  # for masks that are kept from call to call
    return [Case(name, {"T": T}) for name, T in sizes.items()]


EXERCISE = Exercise(
    name="causal_mask",
    stub="my_causal_mask(T)",
    asks=(
        "a function of the number of tokens that returns a (T, T) boolean mask, True "
        "where the key does not come after the query."
    ),
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
    ),
)
