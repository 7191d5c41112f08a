"""Exercise of chapter 2: attention from three matrices."""

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.reshaped_keys import reshaped, reshaped_keys


def _words_and_matrices():
    generator = torch.Generator().manual_seed(6)

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    def case(name, x, matrices):
        names = ("x", "W_query", "W_key", "W_value")
        return Case(name, dict(zip(names, (x, *matrices), strict=True)))

    square = torch.tensor(
        [[[1.0, 2.0], [0.0, 1.0]], [[0.0, 1.0], [2.0, 0.0]], [[1.0, 0.0], [3.0, 1.0]]]
    )
    narrow = torch.tensor(
        [
            [[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]],
            [[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]],
            [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        ]
    )
    # Whole numbers and a root of 2: every order of work gives the same scores.
    wide = torch.tensor(
        [
            [[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 1.0]],
            [[2.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 3.0]],
            [[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 1.0, 0.0]],
        ]
    )
    large = torch.tensor([[40.0, -30.0], [10.0, 50.0], [0.0, 0.0]])
    return [
        case("one word, 2 numbers in, 2 out", torch.tensor([[1.0, 2.0]]), square),
        case(
            "two words, 2 numbers in, 2 out",
            torch.tensor([[1.0, 0.0], [0.5, 1.0]]),
            square,
        ),
        case("three words, 3 numbers in, 2 out", torch.eye(3) + 1, narrow),
        case("five words, 3 numbers in, 4 out", draw(5, 3), draw(3, 3, 4)),
        case("scores in the thousands", large, wide),
    ]


def _projected(
    x,
    matrices,
    scale=lambda d_in, d_out: d_out**0.5,
    dim=-1,
    turn=lambda keys: keys.T,
):
    queries, keys, values = (x @ matrix for matrix in matrices)
    scores = queries @ turn(keys) / scale(*matrices[0].shape)
    weights = attention.softmax(scores, dim)
    return weights @ values, weights


def _self_attention(x, *matrices):
    queries, keys, values = (x @ matrix for matrix in matrices)
    return attention.scaled_dot_product_attention(queries, keys, values)


def _scaled_late(x, W_query, W_key, W_value):
    context, weights = _projected(x, (W_query, W_key, W_value), lambda *_: 1.0)
    root = W_query.shape[-1] ** 0.5
    return context / root, weights / root


def _averaging_words(x, W_query, W_key):
    _, weights = _projected(x, (W_query, W_key, W_key))
    return weights @ x, weights


EXERCISE = Exercise(
    name="self_attention",
    stub="my_self_attention(x, W_query, W_key, W_value)",
    asks=(
        "a function of (T, d_in) words and three (d_in, d_out) matrices that returns "
        "the (T, d_out) context and the (T, T) weights of scaled dot-product "
        "attention."
    ),
    returns={"context": "(T, d_out)", "weights": "(T, T)"},
    reference=_self_attention,
    cases=_words_and_matrices,
    mistakes=(
        reshaped_keys(lambda x, *matrices: _projected(x, matrices, turn=reshaped)),
        Mistake(
            "queries and keys exchanged",
            lambda x, q, k, v: _projected(x, (k, q, v)),
            "The table of scores is the transpose of the right one: row t must hold "
            "the query of word t, dotted with every key.",
        ),
        Mistake(
            "an average of the keys",
            lambda x, q, k, v: _projected(x, (q, k, k)),
            "The weights are right, but what is handed over are the values, "
            "x @ W_value, and not the keys.",
        ),
        Mistake(
            "attention without scaling",
            lambda x, q, k, v: _projected(x, (q, k, v), lambda d_in, d_out: 1.0),
            "Divide the scores by the square root of d_out before softmax.",
        ),
        Mistake(
            "scores divided by the square root of d_in",
            lambda x, q, k, v: _projected(x, (q, k, v), lambda d_in, d_out: d_in**0.5),
            "A score is a sum over the width of queries and keys, d_out. The width of "
            "x has no part in it.",
        ),
        Mistake(
            "scores divided by d_out itself",
            lambda x, q, k, v: _projected(x, (q, k, v), lambda d_in, d_out: d_out),
            "The square root is missing, or is taken twice: where queries and keys are "
            "both divided by it, the scores are divided by d_out.",
        ),
        Mistake(
            "weights divided by the square root of d_out after softmax",
            _scaled_late,
            "The rows no longer sum to 1. Divide the scores, before softmax.",
        ),
        Mistake(
            "softmax over the queries",
            lambda x, q, k, v: _projected(x, (q, k, v), dim=0),
            "Each row belongs to one query and must sum to 1: softmax runs along "
            "dim=-1.",
        ),
        Mistake(
            "attention with its two results exchanged",
            lambda x, q, k, v: _self_attention(x, q, k, v)[::-1],
            "Both results are right. This task wants the context first, then the "
            "weights.",
        ),
        Mistake(
            "values that are not projected",
            lambda x, q, k, v: _averaging_words(x, q, k),
            "The weights are right, but they average the words themselves. Average "
            "x @ W_value.",
        ),
        Mistake(
            "matrices that are transposed",
            lambda x, q, k, v: _projected(x, (q.T, k.T, v.T)),
            "These matrices are (d_in, d_out): write x @ W_query. Only nn.Linear "
            "stores its matrix the other way round, and a square matrix fits both "
            "ways.",
        ),
    ),
)
