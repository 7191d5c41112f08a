"""Exercise of chapter 10: the gradient of a large batch from those of its parts."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def weighted(weigh, divide=lambda counts: 1.0):
    """The parts' gradients, each times a weight, then divided.

    Args:
        weigh: from a part's number of characters to its weight.
        divide: from all numbers of characters to what the sum is divided by.
    """

    def gradient(gradients, counts):
        pairs = zip(gradients, counts, strict=True)
        return sum(weigh(count) * one for one, count in pairs) / divide(counts)

    return gradient


def itself(count):
    """The weight of a part."""
    return count


def only(part, weigh=lambda count: 1.0, divide=lambda counts: 1.0):
    """One part alone, by its position, times a weight and divided."""

    def gradient(gradients, counts):
        return weigh(counts[part]) * gradients[part] / divide(counts)

    return gradient


def without(part):
    """The right sum, but for one part."""

    def gradient(gradients, counts):
        mean = weighted(itself, sum)(gradients, counts)
        return mean - counts[part] * gradients[part] / sum(counts)

    return gradient


def running(step):
    """A result that is changed with each part after the first.

    Args:
        step: from the result, the next gradient, the first part's number of
            characters and the next one's to the next result.
    """

    def gradient(gradients, counts):
        result = 1.0 * gradients[0]
        for one, count in zip(gradients[1:], counts[1:], strict=True):
            result = step(result, one, counts[0], count)
        return result

    return gradient


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


def _parts():
    generator = torch.Generator().manual_seed(4)

    def case(name, gradients, counts):
        tensors = [torch.as_tensor(one, dtype=torch.float32) for one in gradients]
        return Case(name, {"gradients": tensors, "counts": counts})

    # PyTorch's gradient of a part without a character is 0, so it is so here.
    return [
        case("a part of one character, another of three", [[4.0], [0.0]], [1, 3]),
        case("two equal parts", [[1.0, 2.0], [3.0, 6.0]], [2, 2]),
        case("a single part", [[1.0, -2.0]], [5]),
        case("three parts", [[6.0], [3.0], [1.0]], [1, 2, 3]),
        case("a part that is all padding", [[0.0, 0.0], [1.0, 3.0]], [0, 4]),
        case("matrices", torch.randn(4, 2, 3, generator=generator), [90, 70, 80, 16]),
    ]


EXERCISE = Exercise(
    name="mean_gradient",
    stub="my_mean_gradient(gradients, counts)",
    asks=(
        "a function of a list of gradients of one parameter, each that of the mean "
        "loss over a part of the batch, and of the list of how many characters each "
        "part predicts; it returns the gradient of the mean loss over the whole batch, "
        "a new tensor of the same shape."
    ),
    returns={"gradient": "a tensor of the parameter's shape"},
    reference=weighted(itself, sum),
    cases=_parts,
    mistakes=(*HOW_THEY_ADD_UP, *WHAT_THEY_WEIGH),
    fresh=True,
)
