"""Exercises of chapter 1: attention by loops, attention by matrices."""

import torch

from helpers import attention
from helpers.checks.exercise import Case, Exercise, Mistake
from helpers.checks.exercises.softmax import naive_softmax, total_softmax

# --- attention by loops ---------------------------------------------------------------


def _tables():
    generator = torch.Generator().manual_seed(2)
    tables = {
        "one word": [[2.0, 1.0]],
        "two words": [[1.0, 0.0], [1.0, 2.0]],
        "three one-hot words": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        "a word of zeros": [[0.0, 0.0], [1.0, 2.0], [-1.0, 1.0]],
        # Whole numbers, so that every order of adding gives the same scores.
        "scores in the thousands": [[40.0, 30.0], [41.0, 29.0], [-50.0, 10.0]],
        "a word of zeros, scores in the thousands": [[0.0, 0.0], [60.0, 50.0]],
    }
    cases = [
        Case(name, {"inputs": torch.tensor(table)}) for name, table in tables.items()
    ]
    words = torch.rand(7, 3, generator=generator)
    return [*cases, Case("seven words of three numbers", {"inputs": words})]


def _averaged(weights, inputs):
    return weights @ inputs, weights


def _by_matmul(inputs):
    return _averaged((inputs @ inputs.T).softmax(-1), inputs)


def _weights(inputs):
    return _by_matmul(inputs)[1]


CONTEXT_BY_LOOPS = Exercise(
    name="context_by_loops",
    returns={"context": "(T, D)", "weights": "(T, T)"},
    reference=_by_matmul,
    cases=_tables,
    mistakes=(
        Mistake(
            "a context made of inputs[i] in place of inputs[j]",
            lambda inputs: (inputs.clone(), _weights(inputs)),
            "The weights of word i sum to 1, so averaging word i with itself gives "
            "word i back. What is averaged are the words j.",
        ),
        Mistake(
            "a context with = in place of +=",
            lambda inputs: (
                _weights(inputs)[:, -1:] * inputs[-1],
                _weights(inputs),
            ),
            "Each step of the inner loop overwrites the one before, and only the last "
            "word is left. The context is a sum over all words.",
        ),
        Mistake(
            "a running sum that is not set back to zero",
            lambda inputs: (_by_matmul(inputs)[0].cumsum(0), _weights(inputs)),
            "Each context still holds those of the words before it. Start from zeros "
            "inside the outer loop.",
        ),
        Mistake(
            "a context that uses column i of the weights",
            lambda inputs: (_weights(inputs).T @ inputs, _weights(inputs)),
            "Row i holds the weights of word i: weights[i, j], not weights[j, i]. The "
            "columns don't sum to 1.",
        ),
        Mistake(
            "softmax over the columns",
            lambda inputs: _averaged((inputs @ inputs.T).softmax(0), inputs),
            "Row i holds the scores of word i, and its weights must sum to 1. Take "
            "softmax along dim=-1.",
        ),
        Mistake(
            "scores in place of weights",
            lambda inputs: _averaged(inputs @ inputs.T, inputs),
            "Softmax is missing: the rows don't sum to 1.",
        ),
        Mistake(
            "scores divided by their sum",
            lambda inputs: _averaged(
                inputs @ inputs.T / (inputs @ inputs.T).sum(-1, keepdim=True), inputs
            ),
            "The exponential is missing: negative scores give negative weights, and a "
            "word of zeros gives 0 / 0.",
        ),
        Mistake(
            "one softmax over the whole table",
            lambda inputs: _averaged(total_softmax(inputs @ inputs.T), inputs),
            "All weights together sum to 1. Each row must sum to 1 by itself: add up "
            "its exponentials anew for each word.",
        ),
        Mistake(
            "softmax without subtracting the maximum",
            lambda inputs: _averaged(naive_softmax(inputs @ inputs.T), inputs),
            "Scores in the thousands have infinite exponentials, and inf / inf is NaN. "
            "Subtract the largest score of the row first.",
        ),
        Mistake(
            "softmax with one maximum for all rows",
            lambda inputs: _averaged(
                naive_softmax(inputs @ inputs.T - (inputs @ inputs.T).max()), inputs
            ),
            "A row that lies thousands below the largest score becomes exp(-6100) = 0 "
            "everywhere, and 0 / 0 is NaN. Each word's row needs its own maximum.",
        ),
        Mistake(
            "attention with scaled scores",
            lambda inputs: _averaged(
                (inputs @ inputs.T / inputs.shape[-1] ** 0.5).softmax(-1), inputs
            ),
            "The scores are divided by the square root of D. That comes in chapter 2; "
            "this task uses the dot products as they are.",
        ),
        Mistake(
            "attention with its two results exchanged",
            lambda inputs: _by_matmul(inputs)[::-1],
            "Both results are right. This task wants the context first, then the "
            "weights.",
        ),
    ),
)


def context_by_loops(attempt):
    """Check ``my_context_by_loops(inputs)``.

    Args:
        attempt: a function of (T, D) inputs that returns the (T, D) context and the
            (T, T) weights, softmax of the rows of dot products.

    Returns:
        verdict: a Verdict.
    """
    return CONTEXT_BY_LOOPS.check(attempt)


# --- attention by matrices ------------------------------------------------------------


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
    return _averaged(scores.softmax(-1), values)


def _right(queries, keys, values):
    return _averaged(
        attention.softmax(attention.dot_product_scores(queries, keys)), values
    )


ATTEND = Exercise(
    name="attend",
    returns={"context": "(T, D_v)", "weights": "(T, S)"},
    reference=_right,
    cases=_three_tensors,
    mistakes=(
        Mistake(
            "softmax over the queries",
            lambda q, k, v: _averaged((q @ k.T).softmax(0), v),
            "Each row belongs to one query and must sum to 1: softmax runs along "
            "dim=-1, over the keys.",
        ),
        Mistake(
            "scores in place of weights",
            lambda q, k, v: _averaged(q @ k.T, v),
            "Softmax is missing: the rows don't sum to 1.",
        ),
        Mistake(
            "a context made with scores, beside the right weights",
            lambda q, k, v: (q @ k.T @ v, _right(q, k, v)[1]),
            "The weights are right, but the context uses the scores. An average needs "
            "factors that sum to 1.",
        ),
        Mistake(
            "keys that are not transposed",
            lambda q, k, v: _by_scores(q @ k, v),
            "queries @ keys multiplies a query with the columns of keys, and fits only "
            "where there are as many keys as numbers in a key. Scores are dot products "
            "with rows: keys.T.",
        ),
        Mistake(
            "an average of the keys",
            lambda q, k, v: _by_scores(q @ k.T, k),
            "Keys decide how much of each value is taken. What is taken are the "
            "values, and the context is as wide as a value.",
        ),
        Mistake(
            "queries and keys exchanged",
            lambda q, k, v: _by_scores(k @ q.T, v),
            "Scores have a row for each query and a column for each key: (T, S). "
            "Yours have a row for each key.",
        ),
        Mistake(
            "a context that uses the columns of the weights",
            lambda q, k, v: (_right(q, k, v)[1].T @ v, _right(q, k, v)[1]),
            "Row t holds the weights of query t. (T, S) @ (S, D_v) fits as it is; the "
            "transpose fits only where T equals S.",
        ),
        Mistake(
            "attention with scaled scores",
            lambda q, k, v: _by_scores(q @ k.T / q.shape[-1] ** 0.5, v),
            "The scores are divided by the square root of the width. That comes in "
            "chapter 2; this task uses the dot products as they are.",
        ),
        Mistake(
            "one context for all queries",
            lambda q, k, v: (_right(q, k, v)[0].mean(0), _right(q, k, v)[1]),
            "The contexts are averaged over the queries. Each query keeps its own: "
            "(T, D_v).",
        ),
        Mistake(
            "softmax without subtracting the maximum",
            lambda q, k, v: _averaged(naive_softmax(q @ k.T), v),
            "Scores in the thousands have infinite exponentials, and inf / inf is NaN. "
            "Subtract the largest score of the row first.",
        ),
        Mistake(
            "attention with its two results exchanged",
            lambda q, k, v: _right(q, k, v)[::-1],
            "Both results are right. This task wants the context first, then the "
            "weights.",
        ),
    ),
)


def attend(attempt):
    """Check ``my_attend(queries, keys, values)``.

    Args:
        attempt: a function of (T, D) queries, (S, D) keys and (S, D_v) values that
            returns the (T, D_v) context and the (T, S) weights, softmax of the dot
            products without scaling.

    Returns:
        verdict: a Verdict.
    """
    return ATTEND.check(attempt)
