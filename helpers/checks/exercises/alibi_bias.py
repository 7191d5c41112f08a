"""Exercise of chapter 12: what ALiBi adds to the scores."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _sizes():
    sizes = {
        "two heads, three words": (2, 3),
        "one head, two words": (1, 2),
        "four heads, one word": (4, 1),
        "four heads, four words": (4, 4),
        "four heads, five words": (4, 5),
        "eight heads, six words": (8, 6),
        "sixteen heads, 40 words": (16, 40),
    }
    return [Case(name, {"num_heads": H, "T": T}) for name, (H, T) in sizes.items()]


def _slopes(num_heads, *, first=1):
    heads = torch.arange(first, num_heads + first)
    return 2.0 ** (-8 * heads / num_heads)


def _distances(T):
    """How far each key stands before its query; negative where it comes later."""
    places = torch.arange(T)
    return places[:, None] - places


def _bias(slopes, distances, hidden=-math.inf):
    """(H, T, T), with one number wherever the key comes later."""
    added = -slopes[:, None, None] * distances
    future = torch.ones(distances.shape, dtype=torch.bool).triu(1)
    return added.masked_fill(future, hidden)


def _made(make_slopes, make_distances=_distances):
    """A mistake in the slopes or in the distances."""
    return lambda num_heads, T: _bias(make_slopes(num_heads), make_distances(T))


def _slopes_along_keys(num_heads, T):
    """(T, T), or (T, H) where T is 1."""
    distances = _distances(T)
    return (-_slopes(num_heads) * distances).masked_fill(distances < 0, -math.inf)


_WHOLE = (
    "A division by // leaves whole exponents, and with sixteen heads, neighbours share "
    "a slope. Divide with a single /."
)
_ALONG_KEYS = (
    "The H slopes lie along the last axis, that of the keys. slopes[:, None, None] "
    "puts them in front, with two axes of length 1 behind."
)


EXERCISE = Exercise(
    name="alibi_bias",
    stub="my_alibi_bias(num_heads, T)",
    asks=(
        "a function of the number of heads, a power of two, and of the number of words "
        "that returns what is added to the scores: minus the distance times the "
        "head's slope, and minus infinity where the key comes later."
    ),
    returns={"bias": "(H, T, T)"},
    reference=_made(_slopes),
    cases=_sizes,
    constants=(8,),
    mistakes=(
        Mistake(
            "slopes that begin at 1",
            _made(lambda num_heads: _slopes(num_heads, first=0)),
            "Head h, counted from 0, has the exponent -8 (h + 1) / H: of eight heads, "
            "head 0 has the slope 1/2 and head 7 has 1/256. Yours has 1 for head 0.",
        ),
        Mistake(
            "the slopes of eight heads",
            _made(lambda num_heads: 2.0 ** -torch.arange(1.0, num_heads + 1)),
            "Halving from head to head is right for eight heads only. Whatever H is, "
            "the last slope is 2^-8, so the exponent is -8 (h + 1) / H.",
        ),
        Mistake(
            "slopes that halve from head to head",
            _made(lambda H: 2.0 ** (-8 / H) * 0.5 ** torch.arange(H)),
            "The first slope is right. From head to head the exponent falls by 8 / H, "
            "and that halves the slope for eight heads only.",
        ),
        Mistake(
            "exponents rounded to whole numbers",
            _made(lambda H: 2.0 ** (-8 * torch.arange(1, H + 1) // H)),
            _WHOLE,
        ),
        Mistake(
            "exponents rounded to whole numbers",
            _made(lambda H: 0.5 ** (8 * torch.arange(1, H + 1) // H)),
            _WHOLE,
        ),
        Mistake(
            "powers of e in place of powers of 2",
            _made(lambda H: torch.exp(-8 * torch.arange(1, H + 1) / H)),
            "The slope is 2 to the exponent, and exp gives e to the exponent: "
            "2.0 ** exponents, or torch.exp2.",
        ),
        Mistake(
            "slopes of 2^-8 times (h + 1) / H",
            _made(lambda H: 2.0**-8 * torch.arange(1, H + 1) / H),
            "A power comes before a product: 2**-8 * (h + 1) / H is 2^-8 times "
            "(h + 1) / H. All of -8 * (h + 1) / H is the exponent, so it needs its "
            "brackets.",
        ),
        Mistake(
            "slopes in equal steps",
            _made(lambda H: torch.linspace(2 ** (-8 / H), 2**-8, H)),
            "The first slope and the last are right. In between they form a geometric "
            "sequence, 2^(-8 (h + 1) / H): each is the one before times the same "
            "fraction.",
        ),
        Mistake(
            "slopes that go along the keys",
            lambda num_heads, T: _slopes_along_keys(num_heads, T).expand(
                num_heads, T, T
            ),
            _ALONG_KEYS,
        ),
        Mistake(
            "a bias that rewards distance",
            lambda num_heads, T: _bias(-_slopes(num_heads), _distances(T)),
            "The sign is the wrong one: a key that stands far back must lose, so the "
            "bias is at most 0.",
        ),
        Mistake(
            "a bias that counts from the first word",
            _made(_slopes, lambda T: -torch.arange(T).expand(T, T)),
            "Each row differs from the right one by a constant, so softmax would give "
            "the same weights. But the task asks for minus the distance: 0 where a "
            "word meets itself.",
        ),
        Mistake(
            "a bias that doesn't hide the future",
            lambda num_heads, T: (
                -_slopes(num_heads)[:, None, None] * _distances(T).abs()
            ),
            "A later key is treated like one that is as far back. It must get minus "
            "infinity.",
        ),
        *(
            Mistake(
                "a low number in place of minus infinity",
                lambda num_heads, T, low=low: _bias(
                    _slopes(num_heads), _distances(T), low
                ),
                "A low number hides the future only as long as no score is as low. "
                "Minus infinity, which the task asks for, lies below every score.",
            )
            for low in (-1e4, -1e9, torch.finfo(torch.float32).min)
        ),
        Mistake(
            "plus infinity for the future",
            lambda num_heads, T: _bias(_slopes(num_heads), _distances(T), math.inf),
            "Minus infinity times minus the slope is plus infinity. Hide the future in "
            "the product, not in the distances.",
        ),
        Mistake(
            "minus infinity times 0",
            lambda num_heads, T: (
                _bias(_slopes(num_heads), _distances(T))
                + torch.ones(T, T).triu(1) * -math.inf
            ),
            "Infinity times 0 is not a number, so that nothing is left but NaN and "
            "minus infinity. masked_fill and torch.where need no product.",
        ),
        Mistake(
            "a bias that hides each word from itself",
            lambda num_heads, T: _bias(_slopes(num_heads), _distances(T)).masked_fill(
                torch.eye(T, dtype=torch.bool), -math.inf
            ),
            "A word may attend to itself. Without the diagonal, row 0 has nothing "
            "left, and softmax gives NaN there.",
        ),
        Mistake(
            "rows and columns exchanged",
            lambda num_heads, T: _bias(_slopes(num_heads), _distances(T)).mT,
            "Row t is the query, column s the key. Yours shows each word the future "
            "and hides the past.",
        ),
        Mistake(
            "the heads on the last axis",
            lambda num_heads, T: _bias(_slopes(num_heads), _distances(T)).permute(
                1, 2, 0
            ),
            "The scores are (B, H, T, T), so the bias is (H, T, T): heads in front.",
        ),
    ),
)
