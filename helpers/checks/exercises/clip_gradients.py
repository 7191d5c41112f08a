"""Exercise of chapter 10: clip the gradients of all parameters together."""

import torch

from helpers.checks.cases import Case
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.clipping_mistakes import (
    WHICH_FACTOR,
    WHICH_LENGTH,
)
from helpers.checks.exercises.support.clips import length_of, shorten


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
