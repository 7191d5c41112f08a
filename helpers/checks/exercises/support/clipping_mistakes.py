"""Mistakes in the clipping of gradients."""

import math

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.clips import (
    by_a_growing_length,
    count,
    each_alone,
    each_row,
    each_to_longest,
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


def _to_one(longest, length):
    return 1 / length


_ONE_FACTOR = (
    "There is one length, that of all numbers of all tensors together, and one factor "
    "for all."
)
_ALL_COUNT = "All numbers of all tensors count: add all squares, then take the root."
_UPSIDE_DOWN = (
    "It makes long gradients longer still, or short ones shorter. The factor is "
    "longest / length."
)
_NOT_LONGEST = "The factor is longest / length: with it, the new length is longest."
_ZEROS = (
    "Where all gradients are 0, their length is 0, and you divide by it. Compare "
    "before you divide, or add a little to the length as PyTorch does."
)
_MEANS = (
    "The length is the root of the sum of the squares; a mean makes large models look "
    "calm."
)

WHICH_LENGTH = (
    Mistake(
        "each tensor clipped alone",
        each_alone,
        "So the long ones are shortened, the short ones are not, and the step turns "
        "into another direction. There is one length, that of all numbers together, "
        "and one factor for all tensors.",
    ),
    *_with_zeros(
        "each tensor brought to the longest length alone",
        each_to_longest,
        f"{_ONE_FACTOR} And it is 1 where they are short enough.",
    ),
    Mistake(
        "each tensor brought to the longest length alone",
        lambda gradients, longest: (
            each_to_longest(gradients, longest)
            if length_of(gradients) > longest
            else scaled(gradients, 1.0)
        ),
        _ONE_FACTOR,
    ),
    Mistake("each row clipped alone", each_row, _ONE_FACTOR),
    Mistake(
        "each number cut off at ±longest",
        lambda gradients, longest: [one.clamp(-longest, longest) for one in gradients],
        "That is clipping by value, which turns the step into another direction. Here "
        "all numbers are multiplied by one factor, so that the direction stays.",
    ),
    Mistake(
        "each number cut off at longest",
        lambda gradients, longest: [one.clamp(max=longest) for one in gradients],
        "That turns the step into another direction, and a negative number may stay as "
        "large as it is. Here all numbers are multiplied by one factor.",
    ),
    Mistake(
        "the square of the length in place of the length",
        shorten(lambda gradients: length_of(gradients) ** 2),
        "The length is the root of the sum of the squares.",
    ),
    Mistake(
        "the square of the length compared with longest",
        where(_to_longest, lambda longest, length: length**2 > longest),
        "The factor is right, but what you compare with longest is the sum of the "
        "squares: take the root first.",
    ),
    Mistake(
        "the square of the length as what is divided by",
        where(lambda longest, length: longest / length**2),
        "The comparison is right, but the factor is divided by the sum of the squares: "
        "take the root first.",
    ),
    Mistake(
        "the lengths of the tensors added up",
        shorten(lambda gradients: sum(map(norm, gradients))),
        "Lengths of parts that stand at right angles don't add up: 3 and 4 make 5. Add "
        "the squares of all numbers, then take one root.",
    ),
    Mistake(
        "the root of the tensors' lengths",
        shorten(lambda gradients: math.sqrt(sum(map(norm, gradients)))),
        "What is to be added up under the root is squares: those of all numbers, or "
        "of the tensors' lengths.",
    ),
    Mistake(
        "the mean length of the tensors",
        shorten(lambda gradients: sum(map(norm, gradients)) / len(gradients)),
        _ALL_COUNT,
    ),
    Mistake(
        "the length divided by the number of tensors",
        shorten(lambda gradients: length_of(gradients) / len(gradients)),
        "It is the length itself that is to be at most longest, however many tensors "
        "there are.",
    ),
    Mistake(
        "the length of the longest tensor",
        shorten(lambda gradients: max(map(norm, gradients))),
        _ALL_COUNT,
    ),
    Mistake(
        "the length of the first tensor",
        shorten(lambda gradients: norm(gradients[0])),
        _ALL_COUNT,
    ),
    Mistake(
        "the length of the last tensor",
        shorten(lambda gradients: norm(gradients[-1])),
        "Only the last tensor's squares are left in your length. Add each tensor's to "
        "those before, with +=, then take the root.",
    ),
    Mistake(
        "a length that grows from tensor to tensor",
        by_a_growing_length,
        "You clip each tensor before the next ones are counted. It takes two loops: "
        "the first for the length of all, the second for one factor times each.",
    ),
    Mistake(
        "the sum of the absolute values as the length",
        shorten(lambda gradients: sum(float(one.abs().sum()) for one in gradients)),
        "The length is the root of the sum of the squares.",
    ),
    Mistake(
        "the sum of the numbers as the length",
        shorten(lambda gradients: abs(sum(float(one.sum()) for one in gradients))),
        "There positive and negative numbers cancel. Square each number before you "
        "add.",
    ),
    Mistake(
        "the sum of the numbers as the length",
        shorten(
            lambda gradients: math.sqrt(
                sum(float(one.sum().square()) for one in gradients)
            )
        ),
        "You square a tensor's sum, in which positive and negative numbers cancel. "
        "Square each number before you add.",
    ),
    Mistake(
        "the largest number as the length",
        shorten(lambda gradients: max(float(one.abs().max()) for one in gradients)),
        "The length is the root of the sum of all squares.",
    ),
    Mistake(
        "the mean of the squares in place of their sum",
        shorten(lambda gradients: length_of(gradients) / math.sqrt(count(gradients))),
        _MEANS,
    ),
    Mistake(
        "the mean of the squares in place of their sum",
        shorten(
            lambda gradients: math.sqrt(
                sum(float(one.square().mean()) for one in gradients)
            )
        ),
        _MEANS,
    ),
    Mistake(
        "the mean of the squares in place of their sum",
        shorten(lambda gradients: length_of(gradients) / math.sqrt(len(gradients))),
        _MEANS,
    ),
)

WHICH_FACTOR = (
    *_with_zeros(
        "gradients brought to the longest length, short ones too",
        where(_to_longest, _always),
        "A gradient that is short enough stays as it is: near a minimum the steps are "
        "to become small. Compare the length with longest first.",
    ),
    Mistake(
        "a length that is compared with 1",
        where(_to_longest, lambda longest, length: length > 1),
        "Whether the gradients are too long is a question of longest, which may be "
        "another number than 1.",
    ),
    *_with_zeros(
        "short gradients made longer, and long ones left",
        where(_to_longest, lambda longest, length: length < longest),
        "It is turned round: scale where the length is above longest. What you "
        "multiply by is at most 1, and what you divide by is at least 1.",
    ),
    Mistake(
        "gradients divided by their length",
        where(_to_one),
        "That makes the length 1. It is to become longest.",
    ),
    *_with_zeros(
        "gradients divided by their length, short ones too",
        where(_to_one, _always),
        "So the length is always 1. Where it is above longest, it is to become "
        "longest; where it is not, all numbers stay as they are.",
    ),
    Mistake(
        "gradients that are at most 1 long, whatever longest is",
        where(_to_one, lambda longest, length: length > 1),
        "The longest that they may be is longest, which may be another number than 1: "
        "compare with it, and multiply by it.",
    ),
    Mistake(
        "the factor turned upside down",
        where(lambda longest, length: length / longest),
        _UPSIDE_DOWN,
    ),
    Mistake(
        "the factor turned upside down",
        where(lambda longest, length: length / longest, _always),
        _UPSIDE_DOWN,
    ),
    Mistake(
        "the factor turned upside down",
        where(lambda longest, length: min(1, length / longest), _always),
        _UPSIDE_DOWN,
    ),
    Mistake(
        "the square of the factor",
        where(lambda longest, length: (longest / length) ** 2),
        "The length becomes as many times shorter as the factor says: longest / "
        "length, without a square.",
    ),
    Mistake(
        "longest under the root, too",
        where(
            lambda longest, length: math.sqrt(longest) / length,
            lambda longest, length: length**2 > longest,
        ),
        "The root is of the sum of the squares alone. Take it first, then compare, and "
        "then divide.",
    ),
    Mistake(
        "gradients divided by longest",
        where(lambda longest, length: 1 / longest),
        _NOT_LONGEST,
    ),
    Mistake(
        "gradients divided by longest",
        where(lambda longest, length: 1 / longest, _always),
        f"{_NOT_LONGEST} It is 1 where they are short enough.",
    ),
    Mistake(
        "gradients multiplied by longest",
        where(lambda longest, length: longest),
        f"{_NOT_LONGEST} Multiplied by longest alone, they stay too long.",
    ),
    Mistake(
        "gradients multiplied by longest",
        where(lambda longest, length: longest, _always),
        f"{_NOT_LONGEST} It is 1 where they are short enough.",
    ),
    Mistake(
        "gradients that are dropped where they are too long",
        where(lambda longest, length: 0.0),
        "A long gradient still shows the way: it is shortened, not thrown away. If you "
        "divide by //, that is why: it cuts longest // length down to 0.",
    ),
    Mistake(
        "a division that cuts off what comes after the point",
        lambda gradients, longest: (
            [one * longest // max(length_of(gradients), longest) for one in gradients]
            if length_of(gradients) > longest
            else scaled(gradients, 1.0)
        ),
        "// gives whole numbers. Divide by /.",
    ),
    Mistake(
        "a function that clips nothing",
        lambda gradients, longest: scaled(gradients, 1.0),
        "The gradients come out as they went in. What a loop assigns to its own "
        "variable gets into no list, and clip_grad_norm_() looks for the .grad of "
        "parameters: put the new tensors into a list of your own.",
    ),
    *_with_zeros(
        "a clip that fails where nothing is to be learned",
        shorten(length_of),
        _ZEROS,
    )[1:],
)
