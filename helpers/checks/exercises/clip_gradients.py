"""Exercise of chapter 10: clip the gradients of all parameters together."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def length_of(gradients):
    """The length of all numbers together."""
    return math.sqrt(sum(float(one.square().sum()) for one in gradients))


def scaled(gradients, scale):
    """New tensors, all times one factor."""
    return [scale * one for one in gradients]


def shorten(length_of):
    """Clip by another length, a function of all gradients."""

    def clip(gradients, longest):
        length = length_of(gradients)
        scale = longest / length if length > longest else 1.0
        return scaled(gradients, scale)

    return clip


def norm(gradient):
    """The length of one tensor."""
    return length_of([gradient])


def count(gradients):
    """How many numbers there are."""
    return sum(one.numel() for one in gradients)


def where(scale_of, too_long=lambda longest, length: length > longest):
    """Scale by a function of the longest and the length, where that is too long."""

    def clip(gradients, longest):
        length = length_of(gradients)
        if length == 0 or not too_long(longest, length):
            return scaled(gradients, 1.0)
        return scaled(gradients, scale_of(longest, length))

    return clip


def each_alone(gradients, longest):
    """Each tensor by its own length."""
    return [shorten(length_of)([one], longest)[0] for one in gradients]


def by_a_growing_length(gradients, longest):
    """Each tensor by the length of those up to it."""
    return [
        shorten(lambda _, seen=seen: length_of(gradients[:seen]))([one], longest)[0]
        for seen, one in enumerate(gradients, start=1)
    ]


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


def _gradients():
    generator = torch.Generator().manual_seed(10)

    def case(name, *gradients, longest=1.0):
        tensors = [torch.as_tensor(one, dtype=torch.float32) for one in gradients]
        return Case(name, {"gradients": tensors, "longest": longest})

    large = torch.randn(3, 4, 5, generator=generator)
    return [
        case("two numbers, length 5", [3.0], [4.0]),
        case("a short gradient, length 0.5", [0.3], [0.4]),
        case("one tensor of length 10", [6.0, -8.0]),
        case("each short, together longer than 1", [0.8], [0.8]),
        case("a vector and a matrix", [1.0, 2.0], [[0.0, 4.0], [-2.0, 0.0]]),
        case("a longest length of 2", [3.0], [4.0], longest=2.0),
        case("a longest length of 2, short", [0.9], [1.2], longest=2.0),
        # Squares tell otherwise here, that of the length or of the longest length.
        case("a longest length of 3, half of it", [0.9], [1.2], longest=3.0),
        case("a little above a longest length of a half", [0.36], [0.48], longest=0.5),
        case("a longest length of a half, short", [0.18], [-0.24], longest=0.5),
        case("nothing but zeros", [0.0, 0.0], [[0.0]]),
        case("numbers in the thousands", 1000 * large, 1000 * large[0], longest=3.0),
    ]


EXERCISE = Exercise(
    name="clip_gradients",
    stub="my_clip_gradients(gradients, longest)",
    asks=(
        "a function of a list of gradients, tensors of any shapes, and of the longest "
        "that all of them together may be; it returns a list of new tensors of the "
        "same shapes."
    ),
    returns={"clipped": "a list of tensors"},
    reference=shorten(length_of),
    cases=_gradients,
    mistakes=(*WHICH_LENGTH, *WHICH_FACTOR),
    fresh=True,
)
