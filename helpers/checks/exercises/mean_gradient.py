"""Exercise of chapter 10: the gradient of a large batch from those of its parts."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _parts():
    generator = torch.Generator().manual_seed(4)

    def case(name, gradients, counts):
        tensors = [torch.as_tensor(one, dtype=torch.float32) for one in gradients]
        return Case(name, {"gradients": tensors, "counts": counts})

    return [
        case("a part of one character, another of three", [[4.0], [0.0]], [1, 3]),
        case("two equal parts", [[1.0, 2.0], [3.0, 6.0]], [2, 2]),
        case("a single part", [[1.0, -2.0]], [5]),
        case("three parts", [[6.0], [3.0], [1.0]], [1, 2, 3]),
        case("a part that is all padding", [[0.0, 0.0], [1.0, 3.0]], [0, 4]),
        case("matrices", torch.randn(4, 2, 3, generator=generator), [90, 70, 80, 16]),
    ]


def _weighted(weigh, divide=lambda counts: 1.0):
    """The parts' gradients, each times a weight, then divided.

    Args:
        weigh: from a part's number of characters to its weight.
        divide: from all numbers of characters to what the sum is divided by.
    """

    def gradient(gradients, counts):
        pairs = zip(gradients, counts, strict=True)
        return sum(weigh(count) * one for one, count in pairs) / divide(counts)

    return gradient


def _itself(count):
    return count


def _one(count):
    return 1.0


def _first_twice(gradients, counts):
    return _weighted(_itself, sum)(gradients, counts) + gradients[0] / sum(counts)


def _running(gradients, counts):
    mean = gradients[0]
    for one in gradients[1:]:
        mean = (mean + one) / 2
    return mean


EXERCISE = Exercise(
    name="mean_gradient",
    stub="my_mean_gradient(gradients, counts)",
    asks=(
        "a function of a list of gradients of one parameter, each that of the mean "
        "loss over a part of the batch, and of the list of how many characters each "
        "part predicts; it returns the gradient of the mean loss over the whole batch, "
        "a tensor of the same shape."
    ),
    returns={"gradient": "a tensor of the parameter's shape"},
    reference=_weighted(_itself, sum),
    cases=_parts,
    mistakes=(
        Mistake(
            "the plain mean of the parts",
            _weighted(_one, len),
            "A character of a small part would count for more than one of a large "
            "part. Weigh each part by its number of characters.",
        ),
        Mistake(
            "the plain mean of the parts that aren't empty",
            _weighted(bool, lambda counts: len([one for one in counts if one])),
            "A character of a small part would count for more than one of a large "
            "part. Weigh each part by its number of characters.",
        ),
        Mistake(
            "a sum that begins with the first part",
            _first_twice,
            "The first part comes in twice: begin with zeros, or with the second part.",
        ),
        Mistake(
            "the sum of the parts",
            _weighted(_one),
            "backward() adds gradients up, so this is what the parameter holds after "
            "several of them: as many times too large as there are parts. It is the "
            "mean over all characters that is asked for.",
        ),
        Mistake(
            "a weighted sum that nothing divides",
            _weighted(_itself),
            "Times its number of characters, a part's gradient is that of the sum of "
            "its losses. Divide by the number of all characters to get the mean.",
        ),
        Mistake(
            "a weighted sum divided by the number of parts",
            _weighted(_itself, len),
            "The weights sum to the number of all characters: that is what to divide "
            "by.",
        ),
        Mistake(
            "a weighted sum divided by the largest part",
            _weighted(_itself, max),
            "The weights sum to the number of all characters: that is what to divide "
            "by.",
        ),
        Mistake(
            "a weighted sum divided twice",
            _weighted(_itself, lambda counts: sum(counts) * len(counts)),
            "Divided by the number of all characters, the sum is a mean already: the "
            "number of parts doesn't come into it.",
        ),
        Mistake(
            "a sum of the parts divided by all characters",
            _weighted(_one, sum),
            "Each part's gradient is that of a mean already. Multiply it by the part's "
            "number of characters first.",
        ),
        Mistake(
            "a sum of parts that are divided by their characters once more",
            _weighted(lambda count: 1 / count if count else 0.0),
            "The gradients belong to mean losses: each was divided by its number of "
            "characters already, and a large part is to count for more, not for less.",
        ),
        Mistake(
            "a mean of parts that are divided by their characters once more",
            _weighted(lambda count: 1 / count if count else 0.0, len),
            "The gradients belong to mean losses: each was divided by its number of "
            "characters already, and a large part is to count for more, not for less.",
        ),
        Mistake(
            "weights by the root of the number of characters",
            _weighted(math.sqrt, lambda counts: sum(map(math.sqrt, counts))),
            "In a mean over characters each counts the same: the weight of a part is "
            "its number of characters.",
        ),
        Mistake(
            "the last part alone",
            lambda gradients, counts: gradients[-1].clone(),
            "That happens when zero_grad() stands inside the loop over the parts: it "
            "throws away what the earlier ones gave.",
        ),
        Mistake(
            "the first part alone",
            lambda gradients, counts: gradients[0].clone(),
            "All parts belong to the batch: is there a return inside your loop?",
        ),
        Mistake(
            "a mean of the mean so far and the next part",
            _running,
            "So the first parts are halved again and again, and the last one makes up "
            "half of the result.",
        ),
        Mistake(
            "the largest part alone",
            lambda gradients, counts: gradients[counts.index(max(counts))].clone(),
            "All parts belong to the batch, each with its number of characters as its "
            "weight.",
        ),
    ),
)
