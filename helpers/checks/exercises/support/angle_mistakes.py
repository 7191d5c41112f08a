"""Angles of pairs of features at their places, and mistakes in the pairs' speeds."""

import torch

from helpers.checks.cases import Mistake


def right(pairs, width):
    """How far each pair turns from one place to the next, in radians."""
    return 10_000.0 ** (-2 * pairs / width)


def angles_of(T, width, *, speeds=right, first=0, device=None):
    """Places times speeds, (T, width / 2).

    Args:
        T: number of places.
        width: number of features.
        speeds: ``speeds(pairs, width)`` returns the speed of each pair.
        first: the first place.
        device: where they are made.
    """
    found = speeds(torch.arange(width // 2, device=device), width)
    places = torch.arange(first, first + T, device=device)
    return torch.outer(places.to(found.dtype), found)


def angle_mistakes(letter, made):
    """Mistakes in the speeds alone.

    Args:
        letter: of the number of features, "C" or "D".
        made: ``made(speeds)`` returns what the exercise asks for, but for its speeds.

    Returns:
        mistakes: a tuple.
    """
    listed = (
        ("one speed for all pairs", _at_one_speed, _ONE_SPEED),
        ("pairs that slow down half as fast", _half_as_fast, _HALF),
        ("pairs that slow down twice as fast", _twice_as_fast, _TWICE),
        ("pairs that speed up", _speeding_up, _UP),
        ("pairs that speed up", _speeding_up_in_double, _UP),
        ("pairs counted from 1", _from_one, _FROM_ONE),
        ("speeds that end at 1/10000", _to_the_end, _TO_THE_END),
        ("exponents rounded to whole numbers", _whole_exponents, _WHOLE),
        ("log10 in place of the natural logarithm", _log10, _LOG10),
    )
    return tuple(
        Mistake(name, made(speeds), why.format(width=letter))
        for name, speeds, why in listed
    )


def _at_one_speed(pairs, width):
    return 10_000.0 ** (0.0 * pairs)


def _half_as_fast(pairs, width):
    return 10_000.0 ** (-pairs / width)


def _twice_as_fast(pairs, width):
    return 10_000.0 ** (-4 * pairs / width)


def _speeding_up(pairs, width):
    return 10_000.0 ** (2 * pairs / width)


def _speeding_up_in_double(pairs, width):
    # Angles in the thousands, of which single precision leaves another part.
    return 10_000.0 ** (2 * pairs.double() / width)


def _from_one(pairs, width):
    return right(pairs + 1, width)


def _to_the_end(pairs, width):
    return right(pairs, max(width - 2, 1))


def _whole_exponents(pairs, width):
    return 10_000.0 ** (-2 * pairs // width)


def _log10(pairs, width):
    return torch.exp(-2 * pairs / width * 4)


_ONE_SPEED = (
    "Every pair of yours turns by one radian a place. Pair n is slower by the factor "
    "10000^(-2n / {width}). Did you divide with //? That makes each exponent 0."
)
_HALF = (
    "The exponent is -2n / {width} for pair n, not -n / {width}: there are {width} / 2 "
    "pairs."
)
_TWICE = (
    "The exponent is -2n / {width} for pair n. Yours is twice that: did you divide by "
    "the number of pairs, or count features by twos, and double once more?"
)
_UP = (
    "The sign of the exponent is wrong: the later pairs must be slower, and yours are "
    "faster and faster."
)
_FROM_ONE = (
    "Pair 0 turns by one radian a place, because its exponent is 0. Yours begins with "
    "the exponent -2 / {width}: the pairs are counted from 0."
)
_TO_THE_END = (
    "Your exponents are -n / ({width} / 2 - 1), so that the last is -1. By the formula "
    "they are -2n / {width}, and the last stops one step before."
)
_WHOLE = (
    "-2 * n // {width} is rounded down, to 0 for the first pair and to -1 for all "
    "others. Divide with a single /."
)
_LOG10 = (
    "exp belongs to the natural logarithm: log(10000) is about 9.2. With log10(10000), "
    "which is 4, the base is e^4, about 55."
)
