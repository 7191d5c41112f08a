"""Ways of clipping gradients, each with a part that can be a mistake."""

import math


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


def each_to_longest(gradients, longest):
    """Each tensor made as long as longest."""
    lengths = [norm(one) or 1.0 for one in gradients]
    return [
        longest / length * one for one, length in zip(gradients, lengths, strict=True)
    ]


def by_a_growing_length(gradients, longest):
    """Each tensor by the length of those up to it."""
    return [
        shorten(lambda _, seen=seen: length_of(gradients[:seen]))([one], longest)[0]
        for seen, one in enumerate(gradients, start=1)
    ]
