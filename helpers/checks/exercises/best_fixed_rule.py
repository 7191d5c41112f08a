"""Exercise of chapter 18: how often a fixed place or distance is right."""

from collections import Counter

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def _most(numbers):
    return Counter(numbers.tolist()).most_common(1)[0][1]


def best(targets, asks):
    """Right."""
    return max(_most(targets), _most(asks - targets)) / len(targets)


def _either(targets, asks):
    """The share in which one of the best two is right."""
    hits = torch.zeros(len(targets), dtype=torch.bool)
    for numbers in (targets, asks - targets):
        hits |= numbers == Counter(numbers.tolist()).most_common(1)[0][0]
    return hits.double().mean().item()


def _chosen_on_the_first_half(targets, asks):
    half = max(len(targets) // 2, 1)
    rules = []
    for numbers in (targets, asks - targets):
        place = Counter(numbers[:half].tolist()).most_common(1)[0][0]
        rules.append((numbers == place).double().mean().item())
    return max(rules)


MISTAKES = (
    Mistake(
        "fixed positions alone",
        lambda targets, asks: _most(targets) / len(targets),
        "A head may look at a fixed distance, such as one token back. Ask for asks - "
        "targets, too.",
    ),
    Mistake(
        "fixed distances alone",
        lambda targets, asks: _most(asks - targets) / len(targets),
        "A head may look at a fixed position, such as the first token. Ask for "
        "targets, too.",
    ),
    *several(
        "both rules counted together",
        [
            lambda targets, asks: (
                (_most(targets) + _most(asks - targets)) / len(targets)
            ),
            lambda targets, asks: min(
                1, (_most(targets) + _most(asks - targets)) / len(targets)
            ),
            lambda targets, asks: (
                (_most(targets) + _most(asks - targets)) / 2 / len(targets)
            ),
        ],
        "A head follows one rule: take the better of the two.",
    ),
    Mistake(
        "right if either rule is",
        _either,
        "A head follows one rule, a position or a distance, in all sentences: take the "
        "share of each by itself, and the larger one.",
    ),
    Mistake(
        "the worse of the two",
        lambda targets, asks: min(_most(targets), _most(asks - targets)) / len(targets),
        "The control must be as strong as it can be: take the better rule.",
    ),
    *several(
        "how many in place of a share",
        [
            lambda targets, asks: max(_most(targets), _most(asks - targets)),
        ],
        "Divide by the number of sentences, N.",
    ),
    Mistake(
        "one over the number of places",
        lambda targets, asks: (
            1 / min(len(set(targets.tolist())), len(set((asks - targets).tolist())))
        ),
        "Places aren't equally frequent: count how often the most frequent one is "
        "right.",
    ),
    Mistake(
        "chance",
        lambda targets, asks: (1 / asks.double()).mean().item(),
        "That is a head that looks anywhere. One that always looks at the best place "
        "does better, and reads as little.",
    ),
    Mistake(
        "the asking position's own place",
        lambda targets, asks: max(_most(asks), _most(asks - targets)) / len(targets),
        "What should be found is at targets; where the asking token stands is no rule.",
    ),
    Mistake(
        "the rule chosen on the first half",
        _chosen_on_the_first_half,
        "Here the rule may be chosen in hindsight, on all N sentences: that makes the "
        "control as strong as it can be.",
    ),
)


def _sentences():
    def case(name, targets, asks):
        both = {"targets": torch.tensor(targets), "asks": torch.tensor(asks)}
        return Case(name, both)

    return [
        case("two at one place, three at one distance", [1, 1, 2, 4], [3, 4, 4, 6]),
        case("three at one place, two at one distance", [1, 1, 1, 4], [3, 5, 9, 6]),
        case("always one token back", [1, 4, 2, 6, 3], [2, 5, 3, 7, 4]),
        case("always the first token", [0, 0, 0], [4, 6, 9]),
        case("no rule", [1, 2, 3, 4, 5], [9, 7, 12, 10, 8]),
        case(
            "a rule that the first half doesn't show",
            [1, 2, 3, 5, 5, 5, 5],
            [3, 6, 8, 9, 8, 11, 7],
        ),
        case("always the same place asks", [1, 2, 3, 5], [6, 6, 6, 6]),
        case("the largest position wins", [3, 14, 14, 14], [5, 20, 17, 22]),
        case("the largest distance wins", [2, 1, 0, 4], [22, 21, 20, 6]),
        case("a position and a distance", [1, 1, 1, 5, 6, 8], [3, 6, 9, 7, 8, 12]),
        case("one sentence", [2], [5]),
    ]


EXERCISE = Exercise(
    name="best_fixed_rule",
    stub="my_best_fixed_rule(targets, asks)",
    asks=(
        "a function of the positions that should be found, targets (N,), and of those "
        "that ask, asks (N,), which come later. It returns the largest share of "
        "sentences in which one rule is right: a fixed position, or a fixed distance "
        "before the asking one."
    ),
    returns={"share": "a number from 0 to 1"},
    reference=best,
    cases=_sentences,
    mistakes=MISTAKES,
)
