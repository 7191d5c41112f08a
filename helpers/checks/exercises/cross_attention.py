"""An exercise of the page on cross-attention: from one sequence to another."""

import math

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.reshaped_keys import reshaped, reshaped_keys

# --- cross-attention ------------------------------------------------------------------


def _two_sequences():
    generator = torch.Generator().manual_seed(7)

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    def case(name, B, T, S, d_query, d_memory, D, D_v, size=1.0):
        arguments = {
            "x": size * draw(B, T, d_query),
            "memory": size * draw(B, S, d_memory),
            "W_query": draw(d_query, D),
            "W_key": draw(d_memory, D),
            "W_value": draw(d_memory, D_v),
        }
        return Case(name, arguments)

    by_hand = {
        "x": torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]),
        "memory": torch.tensor([[[1.0, 1.0], [0.0, 3.0]]]),
        "W_query": torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
        "W_key": torch.tensor([[1.0, 0.0], [1.0, 1.0]]),
        "W_value": torch.tensor([[2.0], [1.0]]),
    }
    return [
        Case("two queries, two keys, equally wide", by_hand),
        case("one query, three keys", 1, 1, 3, 2, 3, 2, 2),
        case("one answer", 2, 3, 1, 3, 2, 4, 2),
        case("more keys than queries, equally wide", 2, 2, 4, 3, 3, 2, 3),
        case("more queries than keys, equally wide", 2, 4, 2, 3, 3, 4, 3),
        case("sizes that all differ", 2, 5, 7, 3, 6, 4, 1),
        case("as many queries as keys", 2, 4, 4, 3, 2, 5, 3),
        case("inputs in the hundreds", 1, 3, 4, 2, 3, 4, 2, 100.0),
        case("inputs near zero", 1, 3, 4, 2, 3, 4, 2, 0.01),
    ]


def _turned(keys):
    return keys.transpose(-2, -1)


def _attend(queries, keys, values, scale=None, dim=-1, mask=None, turn=_turned):
    scores = queries @ turn(keys) / (scale or math.sqrt(keys.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim)
    return weights @ values, weights


def _cross(x, memory, W_query, W_key, W_value):
    queries, keys, values = x @ W_query, memory @ W_key, memory @ W_value
    return attention.scaled_dot_product_attention(queries, keys, values)


def _from(choose, **options):
    """Cross-attention whose queries, keys and values come from ``choose(x, memory)``.

    Options are those of _attend; a function among them gets the same two sequences.
    """

    def attend(x, memory, W_query, W_key, W_value):
        asks, says, hands_over = choose(x, memory)
        parts = (asks @ W_query, says @ W_key, hands_over @ W_value)
        given = {
            name: value(x, memory) if callable(value) else value
            for name, value in options.items()
        }
        return _attend(*parts, **given)

    return attend


def _roles(x, memory):
    return x, memory, memory


def _keys_averaged(x, memory, W_query, W_key, W_value):
    return _attend(x @ W_query, memory @ W_key, memory @ W_key)


def _reshaped(x, memory, W_query, W_key, W_value):
    parts = x @ W_query, memory @ W_key, memory @ W_value
    return _attend(*parts, turn=reshaped)


def _scaled_by_d_v(x, memory, W_query, W_key, W_value):
    queries, keys, values = x @ W_query, memory @ W_key, memory @ W_value
    return _attend(queries, keys, values, scale=math.sqrt(values.shape[-1]))


def _scaled_late(x, memory, W_query, W_key, W_value):
    queries, keys, values = x @ W_query, memory @ W_key, memory @ W_value
    context, weights = _attend(queries, keys, values, scale=1.0)
    root = math.sqrt(keys.shape[-1])
    return context / root, weights / root


def _scaled_by_d(x, memory, W_query, W_key, W_value):
    queries, keys, values = x @ W_query, memory @ W_key, memory @ W_value
    return _attend(queries, keys, values, scale=keys.shape[-1])


EXERCISE = Exercise(
    name="cross_attention",
    stub="my_cross_attention(x, memory, W_query, W_key, W_value)",
    asks=(
        "a function of (B, T, d_query) tokens that ask, (B, S, d_memory) tokens that "
        "answer, and three matrices (d_query, D), (d_memory, D) and (d_memory, D_v), "
        "that returns the averaged values (B, T, D_v) and the weights (B, T, S)."
    ),
    returns={"context": "(B, T, D_v)", "weights": "(B, T, S)"},
    reference=_cross,
    cases=_two_sequences,
    mistakes=(
        reshaped_keys(_reshaped),
        Mistake(
            "scores divided by the root of the values' width",
            _scaled_by_d_v,
            "A score is a sum over the D features of a query and a key, so the root "
            "of D divides it. Values are only averaged, and may have another width.",
        ),
        Mistake(
            "weights divided by the root of D, after softmax",
            _scaled_late,
            "The scores are to be divided, before softmax. Divided afterwards, the "
            "rows no longer sum to 1.",
        ),
        Mistake(
            "self-attention of x",
            _from(lambda x, memory: (x, x, x)),
            "The memory never enters. x makes the queries, the memory makes the "
            "keys and the values.",
        ),
        Mistake(
            "softmax over the queries",
            _from(_roles, dim=-2),
            "Each query's row must sum to 1: softmax runs over the last axis, the S "
            "keys. Yours makes the columns sum to 1.",
        ),
        Mistake(
            "attention without scaling",
            _from(_roles, scale=1.0),
            "The scores are divided by the square root of D, the width of queries and "
            "keys, before softmax.",
        ),
        Mistake(
            "scores divided by D instead of its square root",
            _scaled_by_d,
            "The standard deviation of a score grows as the square root of D.",
        ),
        Mistake(
            "scores divided by the square root of d_query",
            _from(_roles, scale=lambda x, memory: math.sqrt(x.shape[-1])),
            "A score is a sum over the D features of a query and a key. How wide the "
            "tokens were before, d_query or d_memory, has no part in it.",
        ),
        Mistake(
            "cross-attention with a causal mask",
            _from(
                _roles,
                mask=lambda x, memory: (
                    torch.ones(x.shape[1], memory.shape[1]).tril().bool()
                ),
            ),
            "The memory is there as a whole before anyone asks: each query may attend "
            "to all of it. Place t in x and place t in the memory have nothing to do "
            "with each other.",
        ),
        Mistake(
            "an average of the keys",
            _keys_averaged,
            "Keys decide how much of each value is taken. What is taken are the "
            "values, the memory times W_value.",
        ),
    ),
)
