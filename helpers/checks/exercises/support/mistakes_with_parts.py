"""Mistakes in putting a batch's gradient together from those of its parts."""

import math

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.sums_of_parts import (
    itself,
    running,
    weighted,
)


def _one(count):
    return 1.0


def _guarded(count):
    """1 / count; an empty part stays out."""
    return 1 / count if count else 0.0


def _unguarded(count):
    """1 / count of a tensor, which divides zeros by 0 in an empty part."""
    return 1 / count if count else math.nan


def _at_least_one(counts):
    return sum(max(1, count) for count in counts)


def _filled(counts):
    return sum(1 for count in counts if count)


_ONCE_MORE = (
    "The gradients belong to mean losses: each was divided by its number of characters "
    "already, and a large part is to count for more, not for less."
)
_ALL_CHARACTERS = (
    "The weights sum to the number of all characters: that is what to divide by."
)
_EACH_THE_SAME = (
    "A character of a small part would count for more than one of a large part. Weigh "
    "each part by its number of characters."
)
_WHOLE = "// gives whole numbers, and cuts off what comes after the point. Divide by /."


def _several(name, functions, why):
    return [Mistake(name, function, why) for function in functions]


HOW_THEY_ADD_UP = (
    Mistake(
        "a mean of the mean so far and the next part",
        running(lambda mean, one, *_: (mean + one) / 2),
        "So the first parts are halved again and again, and the last one makes up half "
        "of the result.",
    ),
)

WHAT_THEY_WEIGH = (
    *_several(
        "the plain mean of the parts",
        [weighted(_one, len)],
        _EACH_THE_SAME,
    ),
    *_several(
        "the plain mean of the parts that aren't empty",
        [weighted(bool, _filled)],
        _EACH_THE_SAME,
    ),
    Mistake(
        "the sum of the parts",
        weighted(_one),
        "backward() adds gradients up, so this is what the parameter holds after "
        "several of them: as many times too large as there are parts. It is the mean "
        "over all characters that is asked for.",
    ),
    Mistake(
        "a weighted sum that nothing divides",
        weighted(itself),
        "Times its number of characters, a part's gradient is that of the sum of its "
        "losses. Divide by the number of all characters to get the mean.",
    ),
    *_several(
        "a weighted sum divided by the number of parts",
        [weighted(itself, len), weighted(itself, _filled)],
        _ALL_CHARACTERS,
    ),
    Mistake(
        "an empty part that counts as one character",
        weighted(itself, _at_least_one),
        "A part without a character has the weight 0, and adds nothing to the number "
        "of all characters, which is above 0 as it is.",
    ),
    Mistake(
        "a sum of the parts divided by all characters",
        weighted(_one, sum),
        "Each part's gradient is that of a mean already. Multiply it by the part's "
        "number of characters first.",
    ),
    *_several(
        "a sum of parts that are divided by their characters once more",
        [weighted(_guarded), weighted(_unguarded)],
        _ONCE_MORE,
    ),
    *_several(
        "a division that cuts off what comes after the point",
        [
            lambda gradients, counts: (
                weighted(itself)(gradients, counts) // sum(counts)
            ),
            lambda gradients, counts: weighted(lambda count: count // sum(counts))(
                gradients, counts
            ),
        ],
        _WHOLE,
    ),
)
