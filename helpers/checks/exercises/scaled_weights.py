"""Exercise of chapter 3: weights from scores that are divided by the root of D."""

import math

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.reshaped_keys import reshaped, reshaped_keys


def _queries_and_keys():
    generator = torch.Generator().manual_seed(3)

    def case(name, queries, keys):
        return Case(name, {"queries": queries, "keys": keys})

    def drawn(name, *leading, T, S, D):
        shapes = [(*leading, T, D), (*leading, S, D)]
        return case(name, *[torch.randn(one, generator=generator) for one in shapes])

    one = torch.tensor([[1.0, 0.0, 2.0, 0.0]])
    two = torch.tensor([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]])
    # Scores of 3000, 3001 and 3002: exact in float32, in whatever order they are made.
    long = torch.tensor([[50.0, 1.0, 0.0, 0.0]])
    close = torch.tensor([[60.0, s, 0.0, 0.0] for s in (0.0, 1.0, 2.0)])
    far = torch.tensor([[80.0, 0.0], [0.0, -80.0]])
    rows = torch.tensor([[2.0, 0.0, 0.0, 0.0], [6000.0, 0.0, 0.0, 0.0]])
    return [
        case("one query, two keys, D = 4", one, two),
        case("D = 2", torch.tensor([[1.0, 0.0], [2.0, 1.0]]), torch.eye(2)),
        case("all scores are zero", torch.zeros(2, 3), torch.ones(3, 3)),
        case("scores in the thousands, close to each other", long, close),
        case("scores in the thousands, far apart", far, far),
        case("rows that differ by thousands", rows, torch.eye(4)),
        drawn("D = 64", T=5, S=7, D=64),
        drawn("a batch", 2, T=5, S=7, D=4),
        drawn("a batch of heads", 2, 3, T=5, S=7, D=4),
    ]


def _divided(queries, keys, divisor):
    return queries @ keys.transpose(-2, -1) / divisor


def _root(tensor):
    """The square root of a tensor's width."""
    return math.sqrt(tensor.shape[-1])


def _quotients(scores):
    exponentials = scores.exp()
    return exponentials / exponentials.sum(-1, keepdim=True)


def _without_maximum(queries, keys):
    return _quotients(_divided(queries, keys, _root(keys)))


EXERCISE = Exercise(
    name="scaled_weights",
    stub="my_scaled_weights(queries, keys)",
    asks=(
        "a function of queries (..., T, D) and keys (..., S, D) that returns the "
        "weights (..., T, S), softmax(queries keysᵀ / √D)."
    ),
    returns={"weights": "(..., T, S)"},
    reference=lambda queries, keys: attention.softmax(
        _divided(queries, keys, _root(keys))
    ),
    cases=_queries_and_keys,
    mistakes=(
        reshaped_keys(
            lambda queries, keys: (queries @ reshaped(keys) / _root(keys)).softmax(-1)
        ),
        Mistake(
            "a root rounded down to a whole number",
            lambda queries, keys: _divided(
                queries, keys, math.isqrt(keys.shape[-1])
            ).softmax(-1),
            "int and // cut a root off. It is whole only where D is a square, such as "
            "4 or 64.",
        ),
        Mistake(
            "softmax of scores that nothing divides",
            lambda queries, keys: _divided(queries, keys, 1).softmax(-1),
            "The weights are too peaked, and more so the wider the keys are. Where "
            "scores are far apart nobody sees it: one key gets everything either way.",
        ),
        Mistake(
            "a division by D in place of its square root",
            lambda queries, keys: _divided(queries, keys, keys.shape[-1]).softmax(-1),
            "The weights are too even. The standard deviation of a score grows as the "
            "square root of D. If you divide queries and keys both by that root, the "
            "scores are divided by D.",
        ),
        Mistake(
            "a division by the square root of S",
            lambda queries, keys: _divided(
                queries, keys, math.sqrt(keys.shape[-2])
            ).softmax(-1),
            "The last axis of the scores counts the keys. What is added up in a dot "
            "product is D numbers, the last axis of queries and keys.",
        ),
        Mistake(
            "a division after softmax",
            lambda queries, keys: _divided(queries, keys, 1).softmax(-1) / _root(keys),
            "The rows don't sum to 1, and the weights are as peaked as without any "
            "division. Divide the scores, then apply softmax.",
        ),
        Mistake(
            "softmax over the queries",
            lambda queries, keys: _divided(queries, keys, _root(keys)).softmax(-2),
            "Each row, one query's weights, must sum to 1: softmax runs over the last "
            "axis. Yours makes the columns sum to 1.",
        ),
        Mistake(
            "softmax over axis 1, counted from the front",
            lambda queries, keys: _divided(queries, keys, _root(keys)).softmax(1),
            "Axis 1 is that of the keys for (T, S) scores alone: with a batch in "
            "front it is another. Count from the back: dim=-1.",
        ),
        Mistake(
            "softmax that doesn't subtract the maximum",
            _without_maximum,
            "In float32, the exponential of more than 88 is infinite, and infinity "
            "over infinity is not a number. Subtract the row's maximum first, or use "
            "softmax.",
        ),
    ),
)
