"""Exercise of chapter 10: clip the gradients of all parameters together."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


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
        case("a longest length of a half, short", [0.06], [-0.08], longest=0.5),
        case("nothing but zeros", [0.0, 0.0], [[0.0]]),
        case("numbers in the thousands", 1000 * large, 1000 * large[0], longest=3.0),
    ]


def _together(gradients):
    return math.sqrt(sum(float(one.square().sum()) for one in gradients))


def _norm(gradient):
    return _together([gradient])


def _scaled(gradients, scale):
    return [scale * one for one in gradients]


def _shorten(length_of):
    """Clip by another length, a function of all gradients."""

    def clip(gradients, longest):
        length = length_of(gradients)
        scale = longest / length if length > longest else 1.0
        return _scaled(gradients, scale)

    return clip


def _where(scale_of, *, always=False):
    """Scale by a function of the longest and the length, where that is too long."""

    def clip(gradients, longest):
        length = _together(gradients)
        if length == 0 or not (always or length > longest):
            return _scaled(gradients, 1.0)
        return _scaled(gradients, scale_of(longest, length))

    return clip


def _above_one(gradients, longest):
    length = _together(gradients)
    return _scaled(gradients, longest / length if length > 1 else 1.0)


def _lengthened(gradients, longest):
    length = _together(gradients)
    scale = longest / length if 0 < length < longest else 1.0
    return _scaled(gradients, scale)


def _each_alone(gradients, longest):
    clip = _shorten(_together)
    return [clip([one], longest)[0] for one in gradients]


def _each_row(gradients, longest):
    lengths = [one.norm(dim=-1, keepdim=True) for one in gradients]
    return [
        torch.where(length > longest, longest / length * one, one)
        for one, length in zip(gradients, lengths, strict=True)
    ]


def _count(gradients):
    return sum(one.numel() for one in gradients)


EXERCISE = Exercise(
    name="clip_gradients",
    stub="my_clip_gradients(gradients, longest)",
    asks=(
        "a function of a list of gradients, tensors of any shapes, and of the longest "
        "that all of them together may be; it returns a list of new tensors of the "
        "same shapes."
    ),
    returns={"clipped": "a list of tensors"},
    reference=_shorten(_together),
    cases=_gradients,
    mistakes=(
        Mistake(
            "each tensor clipped alone",
            _each_alone,
            "So the long ones are shortened, the short ones are not, and the step "
            "turns into another direction. There is one length, that of all numbers "
            "together, and one factor for all tensors.",
        ),
        Mistake(
            "each row clipped alone",
            _each_row,
            "There is one length, that of all numbers of all tensors together, and one "
            "factor for all.",
        ),
        Mistake(
            "each number cut off at ±longest",
            lambda gradients, longest: [
                one.clamp(-longest, longest) for one in gradients
            ],
            "That is clipping by value, which turns the step into another direction. "
            "Here all numbers are multiplied by one factor, so that the direction "
            "stays.",
        ),
        Mistake(
            "gradients brought to the longest length, short ones too",
            _where(lambda longest, length: longest / length, always=True),
            "A gradient that is short enough stays as it is: near a minimum the steps "
            "are to become small.",
        ),
        Mistake(
            "a length that is compared with 1",
            _above_one,
            "Whether the gradients are too long is a question of longest, which may be "
            "another number than 1.",
        ),
        Mistake(
            "short gradients made longer, and long ones left",
            _lengthened,
            "The comparison is turned round: scale where the length is above longest.",
        ),
        Mistake(
            "the square of the length in place of the length",
            _shorten(lambda gradients: _together(gradients) ** 2),
            "The length is the root of the sum of the squares.",
        ),
        Mistake(
            "the lengths of the tensors added up",
            _shorten(lambda gradients: sum(map(_norm, gradients))),
            "Lengths of parts that stand at right angles don't add up: 3 and 4 make 5. "
            "Add the squares of all numbers, then take one root.",
        ),
        Mistake(
            "the mean length of the tensors",
            _shorten(lambda gradients: sum(map(_norm, gradients)) / len(gradients)),
            "All numbers of all tensors count: add all squares, then take the root.",
        ),
        Mistake(
            "the length of the longest tensor",
            _shorten(lambda gradients: max(map(_norm, gradients))),
            "All numbers of all tensors count: add all squares, then take the root.",
        ),
        Mistake(
            "the length of the first tensor",
            _shorten(lambda gradients: _norm(gradients[0])),
            "All numbers of all tensors count: add all squares, then take the root.",
        ),
        Mistake(
            "the sum of the absolute values as the length",
            _shorten(
                lambda gradients: sum(float(one.abs().sum()) for one in gradients)
            ),
            "That is the way along the axes, the L1 norm. The length is the root of "
            "the sum of the squares.",
        ),
        Mistake(
            "the largest number as the length",
            _shorten(
                lambda gradients: max(float(one.abs().max()) for one in gradients)
            ),
            "All numbers count: the length is the root of the sum of the squares.",
        ),
        Mistake(
            "the mean of the squares in place of their sum",
            _shorten(
                lambda gradients: _together(gradients) / math.sqrt(_count(gradients))
            ),
            "The length is the root of the sum of the squares; a mean makes large "
            "models look calm.",
        ),
        Mistake(
            "gradients divided by their length",
            _where(lambda longest, length: 1 / length),
            "That makes the length 1. It is to become longest.",
        ),
        Mistake(
            "the factor turned upside down",
            _where(lambda longest, length: length / longest),
            "It makes long gradients longer still. The factor is longest / length.",
        ),
        Mistake(
            "gradients divided by longest",
            _where(lambda longest, length: 1 / longest),
            "The factor is longest / length: with it, the new length is longest.",
        ),
        Mistake(
            "gradients that are dropped where they are too long",
            _where(lambda longest, length: 0.0),
            "A long gradient still shows the way: it is shortened, not thrown away.",
        ),
        Mistake(
            "a function that clips nothing",
            lambda gradients, longest: _scaled(gradients, 1.0),
            "The gradients come out as they went in.",
        ),
        Mistake(
            "a clip that fails where nothing is to be learned",
            lambda gradients, longest: _scaled(
                gradients, min(1.0, longest / _together(gradients))
            ),
            "Where all gradients are 0, their length is 0, and you divide by it. "
            "Compare before you divide, or add a little to the length as PyTorch does.",
        ),
    ),
)
