"""Mistakes in the clipping of gradients."""

import math

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.clips import (
    by_a_growing_length,
    each_alone,
    length_of,
    norm,
    scaled,
    shorten,
    where,
)


def _with_zeros(name, function, why):
    """A mistake in its forms: all work alike, but where all gradients are 0.

    There one keeps the zeros; one divides a number by 0, which is an error; and one
    divides a tensor by 0, which gives nan.
    """

    def fails(gradients, longest):
        if length_of(gradients) == 0:
            raise ZeroDivisionError
        return function(gradients, longest)

    def gives_nan(gradients, longest):
        if length_of(gradients) == 0:
            return scaled(gradients, math.nan)
        return function(gradients, longest)

    return [Mistake(name, one, why) for one in (function, fails, gives_nan)]


def _always(longest, length):
    return True


def _to_longest(longest, length):
    return longest / length


_ZEROS = (
    "Where all gradients are 0, their length is 0, and you divide by it. Compare "
    "before you divide, or add a little to the length as PyTorch does."
)

WHICH_LENGTH = (
    Mistake(
        "each tensor clipped alone",
        each_alone,
        "So the long ones are shortened, the short ones are not, and the step turns "
        "into another direction. There is one length, that of all numbers together, "
        "and one factor for all tensors.",
    ),
    Mistake(
        "each number cut off at ±longest",
        lambda gradients, longest: [one.clamp(-longest, longest) for one in gradients],
        "That is clipping by value, which turns the step into another direction. Here "
        "all numbers are multiplied by one factor, so that the direction stays.",
    ),
    Mistake(
        "the square of the length in place of the length",
        shorten(lambda gradients: length_of(gradients) ** 2),
        "The length is the root of the sum of the squares.",
    ),
    Mistake(
        "the lengths of the tensors added up",
        shorten(lambda gradients: sum(map(norm, gradients))),
        "Lengths of parts that stand at right angles don't add up: 3 and 4 make 5. Add "
        "the squares of all numbers, then take one root.",
    ),
    Mistake(
        "a length that grows from tensor to tensor",
        by_a_growing_length,
        "You clip each tensor before the next ones are counted. It takes two loops: "
        "the first for the length of all, the second for one factor times each.",
    ),
)

WHICH_FACTOR = (
    *_with_zeros(
        "gradients brought to the longest length, short ones too",
        where(_to_longest, _always),
        "A gradient that is short enough stays as it is: near a minimum the steps are "
        "to become small. Compare the length with longest first.",
    ),
    *_with_zeros(
        "a clip that fails where nothing is to be learned",
        shorten(length_of),
        _ZEROS,
    )[1:],
)
