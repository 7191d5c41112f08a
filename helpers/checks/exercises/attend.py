"""Exercise of chapter 1: attention by matrices."""

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.context_by_loops import averaged
from helpers.checks.exercises.support.reshaped_keys import reshaped, reshaped_keys


def _three_tensors():
    generator = torch.Generator().manual_seed(3)

    def case(name, queries, keys, values):
        parts = (torch.as_tensor(part) for part in (queries, keys, values))
        names = ("queries", "keys", "values")
        return Case(name, dict(zip(names, parts, strict=True)))

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    keys = [[40.0, 30.0], [41.0, 29.0], [-50.0, 10.0]]
    values = [[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]]
    return [
        case(
            "one query, two keys",
            [[1.0, 2.0]],
            [[1.0, 0.0], [0.0, 1.0]],
            [[10.0], [20.0]],
        ),
        case(
            "two queries, two keys, all of width 2",
            [[1.0, 0.0], [1.0, 2.0]],
            [[0.0, 1.0], [2.0, 1.0]],
            [[10.0, 0.0], [0.0, 20.0]],
        ),
        case("a query of zeros", [[0.0, 0.0]], keys, values),
        case("scores in the thousands", [[40.0, 30.0], [0.0, 1.0]], keys, values),
        case("five queries, seven keys", draw(5, 3), draw(7, 3), draw(7, 4)),
    ]


def _by_scores(scores, values):
    return averaged(scores.softmax(-1), values)


def _right(queries, keys, values):
    return averaged(
        attention.softmax(attention.dot_product_scores(queries, keys)), values
    )


EXERCISE = Exercise(
    name="attend",
    stub="my_attend(queries, keys, values)",
    asks=(
        "a function of (T, D) queries, (S, D) keys and (S, D_v) values that returns "
        "the (T, D_v) context and the (T, S) weights, softmax of the dot products "
        "without scaling."
    ),
    returns={"context": "(T, D_v)", "weights": "(T, S)"},
    reference=_right,
    cases=_three_tensors,
    mistakes=(
        reshaped_keys(lambda q, k, v: averaged((q @ reshaped(k)).softmax(-1), v)),
        Mistake(
            "softmax over the queries",
            lambda q, k, v: averaged((q @ k.T).softmax(0), v),
            "Each row belongs to one query and must sum to 1: softmax runs along "
            "dim=-1, over the keys.",
        ),
        Mistake(
            "a context made with scores, beside the right weights",
            lambda q, k, v: (q @ k.T @ v, _right(q, k, v)[1]),
            "The weights are right, but the context uses the scores. An average needs "
            "factors that sum to 1.",
        ),
        Mistake(
            "an average of the keys",
            lambda q, k, v: _by_scores(q @ k.T, k),
            "Keys decide how much of each value is taken. What is taken are the "
            "values, and the context is as wide as a value.",
        ),
        Mistake(
            "attention with scaled scores",
            lambda q, k, v: _by_scores(q @ k.T / q.shape[-1] ** 0.5, v),
            "The scores are divided by the square root of the width. That comes in "
            "chapter 2; this task uses the dot products as they are.",
        ),
        Mistake(
            "attention with its two results exchanged",
            lambda q, k, v: _right(q, k, v)[::-1],
            "Both results are right. This task wants the context first, then the "
            "weights.",
        ),
        Mistake(
            "scores divided by their sum",
            lambda q, k, v: averaged(q @ k.T / (q @ k.T).sum(-1, keepdim=True), v),
            "Negative scores give negative weights, and a sum near 0 gives huge ones. "
            "Softmax takes the exponential first, which makes every score positive.",
        ),
        Mistake(
            "scores that measure distances",
            lambda q, k, v: _by_scores(-(torch.cdist(q, k) ** 2), v),
            "Minus the squared distance isn't the dot product: it prefers short keys, "
            "since each key's own length counts against it.",
        ),
    ),
)
