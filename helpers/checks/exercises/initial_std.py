"""Exercise of chapter 3: initial numbers that need no division by the root of D."""

import math

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_any_number


def _widths():
    widths = [(4, 16), (1, 1), (16, 1), (1, 256), (64, 64), (6, 2), (512, 64)]
    return [
        Case(f"d_in = {d_in}, D = {D}", {"d_in": d_in, "D": D}) for d_in, D in widths
    ]


def _right(d_in, D):
    return 1 / math.sqrt(d_in * math.sqrt(D))


EXERCISE = Exercise(
    name="initial_std",
    stub="my_initial_std(d_in, D)",
    asks=(
        "a function of the width d_in of the words and the width D of queries and "
        "keys that returns the standard deviation of the entries of W_query and W_key "
        "(d_in, D) with which undivided scores have a standard deviation of 1."
    ),
    returns={"std": "a number"},
    reference=_right,
    cases=_widths,
    run=call_for_any_number,
    mistakes=(
        Mistake(
            "a variance in place of a standard deviation",
            lambda d_in, D: 1 / (d_in * math.sqrt(D)),
            "That is the variance of the entries. Their standard deviation is its "
            "square root.",
        ),
        Mistake(
            "one matrix's variance in place of two",
            lambda d_in, D: 1 / math.sqrt(d_in * D),
            "Both matrices are drawn like this, so the variance of an entry goes into "
            "each product twice, by the query and by the key. The scores get too "
            "small, as if each matrix alone made up for all of the width D.",
        ),
        Mistake(
            "scores whose variance is still D",
            lambda d_in, D: 1 / math.sqrt(d_in),
            "With it, queries and keys have variance 1, and a score adds up D of their "
            "products: its variance is D.",
        ),
        Mistake(
            "words of width 1",
            lambda d_in, D: D**-0.25,
            "An entry of a query is a sum, too: of d_in products.",
        ),
        Mistake(
            "d_in and D exchanged",
            lambda d_in, D: 1 / math.sqrt(D * math.sqrt(d_in)),
            "An entry of a query adds up d_in products, and a score D of them.",
        ),
        Mistake(
            "D in place of d_in",
            lambda d_in, D: D**-0.75,
            "That is right only for words as wide as their queries and keys. An entry "
            "of a query adds up d_in products.",
        ),
        Mistake(
            "d_in in place of D",
            lambda d_in, D: d_in**-0.75,
            "That is right only for words as wide as their queries and keys. A score "
            "adds up D products.",
        ),
        Mistake(
            "a root of D that is always 8",
            lambda d_in, D: 1 / math.sqrt(8 * D),
            "8 is the root of D at D = 64 alone, and there D stands for d_in as well. "
            "How large is the variance of a score for any d_in and D?",
        ),
        Mistake(
            "d_in in place of its root",
            lambda d_in, D: 1 / (d_in * D**0.25),
            "Variances add up: an entry of a query has d_in times the variance of an "
            "entry of the matrix, so its standard deviation grows by the root of d_in.",
        ),
        Mistake(
            "a number that makes scores larger",
            lambda d_in, D: math.sqrt(d_in * math.sqrt(D)),
            "That is what to divide by: the wider the vectors, the smaller the "
            "entries must be.",
        ),
    ),
)
