"""Exercise of chapter 5: attention whose weights are dropped by a given mask."""

import math

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _given_masks():
    generator = torch.Generator().manual_seed(5)

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    def case(name, queries, keys, values, keep, p):
        names = ("queries", "keys", "values", "keep", "p")
        given = (queries, keys, values, torch.as_tensor(keep).bool(), p)
        return Case(name, dict(zip(names, given, strict=True)))

    eye, ones = torch.eye(2), torch.ones(3, 3)
    lower = [[1, 0], [1, 0]]
    lost = [[1, 1, 0], [0, 0, 1], [1, 0, 1]]
    heads = torch.rand(2, 3, 5, 5, generator=generator) >= 0.2
    # The last token keeps two weights of 0, and drops the one that has everything. No
    # two scores of a row are equal, so that float32 holds each weight.
    peak_lost = [[1, 0, 1], [1, 1, 0], [1, 1, 0]]
    far = torch.tensor([[90.0, 0.0], [0.0, 90.0], [70.0, 60.0]])
    # The first two tokens' scores with the last are thousands higher than all others.
    ahead = torch.tensor([[40.0, 0.0], [0.0, 40.0], [90.0, 90.0]])
    return [
        case("two tokens", eye, eye, torch.tensor([[1.0], [3.0]]), lower, 0.5),
        case(
            "nothing is dropped, p = 0.2", draw(3, 2), draw(3, 2), draw(3, 1), ones, 0.2
        ),
        case("a token loses everything", draw(3, 4), draw(3, 4), draw(3, 2), lost, 0.2),
        case("scores in the thousands", far, far, draw(3, 2), peak_lost, 0.5),
        case("a later token's score is higher", ahead, ahead, draw(3, 2), ones, 0.2),
        case(
            "a batch of heads",
            *(draw(2, 3, 5, 4), draw(2, 3, 5, 4), draw(2, 3, 5, 6)),
            *(heads, 0.2),
        ),
    ]


def _hidden(scores):
    """The scores with minus infinity for the future."""
    future = torch.ones_like(scores).triu(1).bool()
    return scores.masked_fill(future, -math.inf)


def _scores(queries, keys):
    return queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])


def _weights(queries, keys):
    return _hidden(_scores(queries, keys)).softmax(-1)


def _attention_with_dropout(queries, keys, values, keep, p):
    mask = attention.causal_mask(queries.shape[-2])
    mask = mask.expand(*queries.shape[:-1], -1)
    _, weights = attention.scaled_dot_product_attention(
        queries, keys, values, mask=mask
    )
    weights = weights * keep / (1 - p)
    return weights @ values, weights


def _with(weigh):
    """Attention whose weights, dropped already, come from the given function."""

    def attend(queries, keys, values, keep, p):
        weights = weigh(queries, keys, keep, p)
        return weights @ values, weights

    return attend


def _averaged_first(queries, keys, values, keep, p):
    weights = _weights(queries, keys)
    return weights @ values, weights * keep / (1 - p)


def _returned_first(queries, keys, values, keep, p):
    weights = _weights(queries, keys)
    return (weights * keep / (1 - p)) @ values, weights


EXERCISE = Exercise(
    name="attention_with_dropout",
    stub="my_attention_with_dropout(queries, keys, values, keep, p)",
    asks=(
        "a function of queries and keys (..., T, D), values (..., T, D_v), a boolean "
        "mask keep (..., T, T), True where a weight stays, and the probability p; it "
        "returns the context (..., T, D_v) and the dropped causal weights (..., T, T)."
    ),
    returns={"context": "(..., T, D_v)", "weights": "(..., T, T)"},
    reference=_attention_with_dropout,
    cases=_given_masks,
    mistakes=(
        Mistake(
            "attention that hides dropped keys before softmax, and divides by 1 - p",
            _with(
                lambda queries, keys, keep, p: (
                    _hidden(_scores(queries, keys).masked_fill(~keep, -math.inf))
                    .softmax(-1)
                    .div(1 - p)
                )
            ),
            "Softmax has shared the dropped weights out among the kept ones already, "
            "and the division makes each row sum to more than 1. Dropout comes after "
            "softmax.",
        ),
        Mistake(
            "attention whose causal mask comes after softmax",
            _with(
                lambda queries, keys, keep, p: (
                    _scores(queries, keys).softmax(-1).tril() * keep / (1 - p)
                )
            ),
            "What the future got is missing in the rows, and how much that is tells of "
            "the future. Mask before softmax, drop after it.",
        ),
        Mistake(
            "attention that doesn't divide the kept weights by 1 - p",
            _with(lambda queries, keys, keep, p: _weights(queries, keys) * keep),
            "The places are right, but the kept weights have to grow, so that the "
            "expected value of each weight stays.",
        ),
        Mistake(
            "attention that drops scores before the causal mask and softmax",
            _with(
                lambda queries, keys, keep, p: _hidden(
                    _scores(queries, keys) * keep / (1 - p)
                ).softmax(-1)
            ),
            "A score of 0 is a score like another, and its weight is not 0. Dropout "
            "comes after softmax.",
        ),
        Mistake(
            "attention that drops what keep should keep",
            _with(
                lambda queries, keys, keep, p: _weights(queries, keys) * ~keep / (1 - p)
            ),
            "keep is True where a weight stays. masked_fill writes where its mask is "
            "True, so it needs ~keep.",
        ),
        Mistake(
            "attention that averages the values with the weights before dropout",
            _averaged_first,
            "The returned weights are right, but they didn't make the context: drop "
            "first, then average.",
        ),
        Mistake(
            "attention that returns the weights before dropout",
            _returned_first,
            "The context is right. Return the very weights that made it, so that "
            "weights @ values gives the context.",
        ),
        Mistake(
            "attention that divides the kept weights by p",
            _with(lambda queries, keys, keep, p: _weights(queries, keys) * keep / p),
            "A weight stays with probability 1 - p, so that is what it is divided by. "
            "At p = 0.5 the two are the same.",
        ),
    ),
)
