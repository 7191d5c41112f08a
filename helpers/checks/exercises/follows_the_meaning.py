"""Exercise of the page about "it": the control with what is meant swapped."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _more(first, second):
    """Where the noun that is meant has more, of both kinds of sentences."""
    return first[:, 0] > first[:, 1], second[:, 1] > second[:, 0]


def follows(first, second):
    """Right."""
    a, b = _more(first, second)
    return (a & b).double().mean().item()


def _of_two(share):
    return lambda first, second: share(*_more(first, second))


MISTAKES = (
    Mistake(
        "each sentence counted by itself",
        _of_two(lambda a, b: torch.cat([a, b]).double().mean()),
        "A head that always prefers the first noun has 0.5 that way, without following "
        "anything. A pair counts if the head is right in both of its sentences.",
    ),
    Mistake(
        "without the swap",
        _of_two(lambda a, b: a.double().mean()),
        "A head that always prefers the first noun has 1 that way. Ask it in the other "
        "sentences, too, where the second noun is meant.",
    ),
    Mistake(
        "the swapped sentences alone",
        _of_two(lambda a, b: b.double().mean()),
        "A head that always prefers the second noun has 1 that way. Both sentences of "
        "a pair count.",
    ),
    Mistake(
        "right in either sentence",
        _of_two(lambda a, b: (a | b).double().mean()),
        "Any head that has a preference is right in one of the two. Ask for both.",
    ),
    Mistake(
        "the same noun preferred in both",
        lambda first, second: (
            ((first[:, 0] > first[:, 1]) & (second[:, 0] > second[:, 1]))
            .double()
            .mean()
        ),
        "In `second`, the other noun is meant: the one of column 1.",
    ),
    Mistake(
        "any change of preference",
        _of_two(lambda a, b: (a == b).double().mean()),
        "That also counts pairs in which the head prefers the wrong noun both times.",
    ),
    Mistake(
        "a weight that moves the right way",
        lambda first, second: (first[:, 0] > second[:, 0]).double().mean(),
        "The weight may move a little while the same noun stays ahead. Compare the two "
        "nouns in each sentence.",
    ),
    Mistake(
        "a difference that moves the right way",
        lambda first, second: (
            (first[:, 0] - first[:, 1] > second[:, 0] - second[:, 1]).double().mean()
        ),
        "The difference may move while the same noun stays ahead. The noun that is "
        "meant must have more, in each sentence.",
    ),
    Mistake(
        "the means of all sentences compared",
        lambda first, second: (
            (first.mean(dim=0)[0] > first.mean(dim=0)[1])
            & (second.mean(dim=0)[1] > second.mean(dim=0)[0])
        ).double(),
        "One pair with large weights may outweigh all others. Count pairs.",
    ),
    Mistake(
        "how many in place of a share",
        _of_two(lambda a, b: (a & b).sum()),
        "Divide by the number of pairs, N.",
    ),
)


def _pairs():
    generator = torch.Generator().manual_seed(43)

    def case(name, first, second):
        both = {"first": torch.as_tensor(first), "second": torch.as_tensor(second)}
        return Case(name, both)

    def draw(count):
        return torch.rand(count, 2, generator=generator).round(decimals=2)

    return [
        case(
            "it follows in one pair of two",
            [[0.7, 0.1], [0.6, 0.3]],
            [[0.2, 0.5], [0.4, 0.3]],
        ),
        case("always the first noun", [[0.7, 0.1]] * 3, [[0.6, 0.2]] * 3),
        case("always the second noun", [[0.1, 0.7]] * 3, [[0.2, 0.5]] * 3),
        case("always the wrong one", [[0.1, 0.4]] * 2, [[0.3, 0.2]] * 2),
        case(
            "one pair outweighs the others",
            [[0.9, 0.0], [0.1, 0.2], [0.1, 0.2], [0.3, 0.2]],
            [[0.0, 0.9], [0.1, 0.2], [0.3, 0.2], [0.3, 0.2]],
        ),
        case("eight pairs", draw(8), draw(8)),
        case("five pairs", draw(5), draw(5)),
    ]


EXERCISE = Exercise(
    name="follows_the_meaning",
    stub="my_follows_the_meaning(first, second)",
    asks=(
        "a function of the weights that a head gives to two nouns in N pairs of "
        "sentences, (N, 2) each: first, where the noun of column 0 is meant, and "
        "second, where the noun of column 1 is. It returns the share of pairs in which "
        "the head gives more to the noun that is meant in both sentences."
    ),
    returns={"share": "a number from 0 to 1"},
    reference=follows,
    cases=_pairs,
    mistakes=MISTAKES,
)
