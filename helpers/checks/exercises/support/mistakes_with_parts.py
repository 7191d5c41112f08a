"""Mistakes in putting a batch's gradient together from those of its parts."""

import math

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.sums_of_parts import (
    divided_each_time,
    first_with,
    in_shares,
    itself,
    only,
    running,
    weighted,
    without,
)


def _one(count):
    return 1.0


def _whole(counts):
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
_BACK_OUT = (
    "All parts belong to the batch: is there a return inside your loop? It ends the "
    "loop with the first part."
)
_REPLACED = (
    "Each part replaces what those before gave. Begin with zeros before the loop, and "
    "add each part to them, with += in place of =."
)
_TWICE = "The first part comes in twice: begin with zeros, or with the second part."
_NOT_IN_THE_LOOP = (
    "What is divided in the loop is divided again with every further part. Add up in "
    "the loop, and divide once, behind it."
)
_EACH_THE_SAME = (
    "A character of a small part would count for more than one of a large part. Weigh "
    "each part by its number of characters."
)
_COUNTS_THE_SAME = (
    "In a mean over characters each counts the same: the weight of a part is its "
    "number of characters"
)
_WHOLE = "// gives whole numbers, and cuts off what comes after the point. Divide by /."


def _several(name, functions, why):
    return [Mistake(name, function, why) for function in functions]


HOW_THEY_ADD_UP = (
    *_several("the first part alone", [only(0)], _BACK_OUT),
    *_several(
        "a loop that ends with the first part",
        [
            only(0, itself, sum),
            only(0, itself),
            only(0, lambda count: 1.0 if count else math.nan),
        ],
        _BACK_OUT,
    ),
    *_several(
        "the last part alone",
        [only(-1), *(only(-1, itself, divide) for divide in (_whole, sum, len))],
        _REPLACED,
    ),
    Mistake(
        "the largest part alone",
        lambda gradients, counts: 1.0 * gradients[counts.index(max(counts))],
        "All parts belong to the batch, each with its number of characters as its "
        "weight.",
    ),
    *_several(
        "a sum that begins with the first part",
        [first_with(_one), first_with(itself)],
        _TWICE,
    ),
    Mistake(
        "a sum whose first part has no weight",
        first_with(lambda count: 1 - count),
        "The others are multiplied by their numbers of characters, the first is not. "
        "Begin with zeros, and let the loop treat all parts alike.",
    ),
    *_several(
        "a sum that leaves one part out",
        [without(0), without(-1)],
        "Either the first part or the last isn't in your sum: look at where the loop "
        "begins and ends.",
    ),
    Mistake(
        "a mean of the mean so far and the next part",
        running(lambda mean, one, *_: (mean + one) / 2),
        "So the first parts are halved again and again, and the last one makes up half "
        "of the result.",
    ),
    Mistake(
        "a running mean that forgets how many characters it has seen",
        running(
            lambda mean, one, first, count: (
                (first * mean + count * one) / (first + count or 1)
            )
        ),
        "Behind the second part, the mean so far stands for more characters than the "
        "first part has: add each part's number to those seen.",
    ),
    *_several(
        "a sum that is divided inside the loop",
        [divided_each_time(so_far=False), divided_each_time(so_far=True)],
        _NOT_IN_THE_LOOP,
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
        "a weighted sum divided by the largest part",
        weighted(itself, max),
        _ALL_CHARACTERS,
    ),
    Mistake(
        "a weighted sum divided by the first part's characters",
        weighted(itself, lambda counts: counts[0]),
        _ALL_CHARACTERS,
    ),
    Mistake(
        "a weighted sum divided by the last part's characters",
        weighted(itself, lambda counts: counts[-1]),
        f"{_ALL_CHARACTERS} Behind a loop, its variable still holds the last part's.",
    ),
    Mistake(
        "a weighted sum divided by the mean number of characters",
        weighted(itself, lambda counts: sum(counts) / len(counts)),
        _ALL_CHARACTERS,
    ),
    Mistake(
        "a weighted sum divided twice",
        weighted(itself, lambda counts: sum(counts) * len(counts)),
        "Divided by the number of all characters, the sum is a mean already: the "
        "number of parts doesn't come into it.",
    ),
    Mistake(
        "a weighted sum divided by all characters twice",
        weighted(itself, lambda counts: sum(counts) ** 2),
        "Divided by the number of all characters, the sum is a mean already. Shares "
        "of all characters, which sum to 1, need no further division.",
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
        "a mean of parts that are divided by their characters once more",
        [weighted(_guarded, len), weighted(_unguarded, len)],
        _ONCE_MORE,
    ),
    *_several(
        "parts divided by their characters, and their sum by all characters",
        [weighted(_guarded, sum), weighted(_unguarded, sum)],
        _ONCE_MORE,
    ),
    *_several(
        "weights that are larger for smaller parts",
        [in_shares(_guarded), in_shares(lambda count: 1 / count)],
        f"{_COUNTS_THE_SAME}, not 1 divided by it.",
    ),
    Mistake(
        "weights by the root of the number of characters",
        in_shares(math.sqrt),
        f"{_COUNTS_THE_SAME}.",
    ),
    Mistake(
        "weights by the square of the number of characters",
        in_shares(lambda count: count**2),
        f"{_COUNTS_THE_SAME}.",
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
