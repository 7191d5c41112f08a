"""Exercise of chapter 1: attention by loops."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.softmax import naive_softmax


def _tables():
    generator = torch.Generator().manual_seed(2)
    tables = {
        "one word": [[2.0, 1.0]],
        "two words": [[1.0, 0.0], [1.0, 2.0]],
        "two words of three numbers": [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]],
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
    wide = torch.rand(3, 6, generator=generator)
    return [
        *cases,
        Case("three words of six numbers", {"inputs": wide}),
        Case("seven words of three numbers", {"inputs": words}),
    ]


def averaged(weights, values):
    """The context (T, D_v) and the weights (T, S) that it is made with."""
    return weights @ values, weights


def _by_matmul(inputs):
    return averaged((inputs @ inputs.T).softmax(-1), inputs)


def _weights(inputs):
    return _by_matmul(inputs)[1]


EXERCISE = Exercise(
    name="context_by_loops",
    stub="my_context_by_loops(inputs)",
    asks=(
        "a function of (T, D) inputs that returns the (T, D) context and the (T, T) "
        "weights, softmax of the rows of dot products."
    ),
    returns={"context": "(T, D)", "weights": "(T, T)"},
    reference=_by_matmul,
    cases=_tables,
    mistakes=(
        Mistake(
            "a context that uses column i of the weights",
            lambda inputs: (_weights(inputs).T @ inputs, _weights(inputs)),
            "Row i holds the weights of word i: weights[i, j], not weights[j, i]. The "
            "columns don't sum to 1.",
        ),
        Mistake(
            "softmax over the columns",
            lambda inputs: averaged((inputs @ inputs.T).softmax(0), inputs),
            "Row i holds the scores of word i, and its weights must sum to 1. Take "
            "softmax along dim=-1.",
        ),
        Mistake(
            "scores divided by their sum",
            lambda inputs: averaged(
                inputs @ inputs.T / (inputs @ inputs.T).sum(-1, keepdim=True), inputs
            ),
            "The exponential is missing: negative scores give negative weights, and a "
            "word of zeros gives 0 / 0.",
        ),
        Mistake(
            "softmax without subtracting the maximum",
            lambda inputs: averaged(naive_softmax(inputs @ inputs.T), inputs),
            "Scores in the thousands have infinite exponentials, and inf / inf is NaN. "
            "Subtract the largest score of the row first.",
        ),
        Mistake(
            "softmax with one maximum for all rows",
            lambda inputs: averaged(
                naive_softmax(inputs @ inputs.T - (inputs @ inputs.T).max()), inputs
            ),
            "A row that lies thousands below the largest score becomes exp(-6100) = 0 "
            "everywhere, and 0 / 0 is NaN. Each word's row needs its own maximum.",
        ),
        Mistake(
            "attention with scaled scores",
            lambda inputs: averaged(
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
