"""Exercise of chapter 13: causal attention whose query heads share keys and values."""

import itertools
import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _heads():
    generator = torch.Generator().manual_seed(13)
    sizes = {
        "two heads share one, two words": (1, 2, 1, 2, 2),
        "four heads share two": (1, 4, 2, 3, 2),
        "six heads share two, in two texts": (2, 6, 2, 5, 4),
        "six heads share three": (1, 6, 3, 4, 3),
        "a key head for each": (2, 3, 3, 4, 5),
        "one word": (1, 4, 2, 1, 3),
        "all heads share one": (2, 3, 1, 6, 8),
    }

    def draw(*shape):
        return torch.randn(shape, generator=generator)

    def drawn(name, size):
        B, H, H_kv, T, D = size
        heads = {"queries": H, "keys": H_kv, "values": H_kv}
        return Case(name, {one: draw(B, count, T, D) for one, count in heads.items()})

    def far_off(name, query, key):
        """Scores of half the product, and a little to and fro, without rounding."""
        case = drawn(name, (1, 4, 2, 4, 4))
        for one, first in (("queries", query), ("keys", key)):
            case.arguments[one].round_()[..., 0] = first
        return case

    zeros = drawn("a query of zeros", (1, 2, 1, 3, 2))
    zeros.arguments["queries"][:, :, 1] = 0
    return [
        *itertools.starmap(drawn, sizes.items()),
        zeros,
        far_off("scores around 200", 20.0, 20.0),
        far_off("scores around -1000", -40.0, 50.0),
    ]


def _in_groups(heads, count):
    return heads.repeat_interleave(count // heads.shape[1], dim=1)


def _in_rounds(heads, count):
    return heads.repeat(1, count // heads.shape[1], 1, 1)


def _divided_by_key_heads(heads, count):
    return heads[:, torch.arange(count) // heads.shape[1]]


def _as_often_as_there_are_key_heads(heads, count):
    return heads.repeat_interleave(heads.shape[1], dim=1)


def _future(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


def _softmax(scores, hidden):
    return scores.masked_fill(hidden, -math.inf).softmax(dim=-1)


def _attend(
    queries,
    keys,
    values,
    *,
    copy_keys=_in_groups,
    copy_values=_in_groups,
    scale=None,
    weigh=_softmax,
    hidden=_future,
):
    """Right where nothing is given; each option is one mistake."""
    H, T, D = queries.shape[1:]
    scores = queries @ copy_keys(keys, H).mT / (scale or math.sqrt)(D)
    return weigh(scores, hidden(T)) @ copy_values(values, H)


def _with(**options):
    return lambda queries, keys, values: _attend(queries, keys, values, **options)


def _zeroed_afterwards(scores, hidden):
    return scores.softmax(dim=-1).masked_fill(hidden, 0.0)


def _filled_with(number):
    return lambda scores, hidden: scores.masked_fill(hidden, number).softmax(dim=-1)


def _zeros_hidden(scores, hidden):
    return _softmax(scores, scores.masked_fill(hidden, 0.0) == 0)


def _without_maximum(scores, hidden):
    exponentials = scores.exp().masked_fill(hidden, 0.0)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def _one_triangle(queries, keys, values):
    """The heads of a group one after the other, as if their words were one text's."""
    long = queries.reshape(*keys.shape[:2], -1, keys.shape[-1])
    scores = long @ keys.mT / math.sqrt(keys.shape[-1])
    hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)
    return (_softmax(scores, hidden) @ values).reshape(queries.shape)


def _nothing(T):
    return torch.zeros(T, T, dtype=torch.bool)


def _put_back(queries, keys, values):
    """The heads of each group next to those of the others."""
    context = _attend(queries, keys, values)
    return context.unflatten(1, (keys.shape[1], -1)).transpose(1, 2).flatten(1, 2)


EXERCISE = Exercise(
    name="grouped_query_attention",
    stub="my_grouped_query_attention(queries, keys, values)",
    asks=(
        "a function of queries (B, H, T, D) and of keys and values (B, H_kv, T, D) "
        "that returns the contexts of causal attention, in which each group of "
        "H / H_kv neighbouring query heads shares one head of keys and values."
    ),
    returns={"context": "(B, H, T, D)"},
    reference=_attend,
    cases=_heads,
    mistakes=(
        Mistake(
            "key heads that are handed out in turn",
            _with(copy_keys=_in_rounds, copy_values=_in_rounds),
            "Query heads 0, 1, 2, 3 got key heads 0, 1, 0, 1 where they should get "
            "0, 0, 1, 1: `repeat` in place of `repeat_interleave`, or groups on the "
            "wrong one of two axes.",
        ),
        Mistake(
            "values that are handed out in turn",
            _with(copy_values=_in_rounds),
            "The keys stand in groups, 0, 0, 1, 1, but the values in turn, 0, 1, 0, 1.",
        ),
        Mistake(
            "key heads that are handed out in turn",
            _with(copy_keys=_in_rounds, copy_values=_in_rounds, hidden=_nothing),
            "Query heads 0, 1, 2, 3 got key heads 0, 1, 0, 1 where they should get "
            "0, 0, 1, 1. And there is no mask: each word sees the words after it.",
        ),
        Mistake(
            "key head h // H_kv",
            _with(copy_keys=_divided_by_key_heads, copy_values=_divided_by_key_heads),
            "Query head h belongs to key head h // (H // H_kv): divide by the size of "
            "a group, and not by the number of groups.",
        ),
        Mistake(
            "H_kv copies of each key head",
            _with(
                copy_keys=_as_often_as_there_are_key_heads,
                copy_values=_as_often_as_there_are_key_heads,
            ),
            "Each head of keys and values is shared by H / H_kv query heads, so that "
            "many copies make H: H // H_kv, and not H_kv.",
        ),
        Mistake(
            "heads that are put back in another order",
            _put_back,
            "Each context is right, but they come back as 0, 2, 1, 3: with an axis for "
            "groups and one for their heads, flatten them in that order.",
        ),
        Mistake(
            "no mask",
            _with(hidden=_nothing),
            "Each word sees the words after it. Hide them before softmax.",
        ),
        Mistake(
            "one triangle over the heads of a group",
            _one_triangle,
            "With a group's heads one after the other along the axis of words, one "
            "triangle hides the future from the first head alone. Each head needs its "
            "own (T, T).",
        ),
        Mistake(
            "a mask that shows the next word",
            _with(hidden=lambda T: torch.ones(T, T, dtype=torch.bool).triu(2)),
            "Each word sees the one after it, too. The future begins at diagonal=1 for "
            "triu, and the past ends at diagonal=0 for tril.",
        ),
        Mistake(
            "scores of 0 for the future",
            _with(weigh=_filled_with(0)),
            "A score of 0 hides nothing: softmax gives it a share. It must be minus "
            "infinity.",
        ),
        Mistake(
            "a low number in place of minus infinity",
            _with(weigh=_filled_with(-100)),
            "A low number hides the future only as long as no score of the past is as "
            "low. Minus infinity lies below every score.",
        ),
        Mistake(
            "a mask of all scores that are 0",
            _with(weigh=_zeros_hidden),
            "A score of the past may be 0, too, as that of a query of zeros always "
            "is. Make the mask from places, and not from scores.",
        ),
        Mistake(
            "a softmax that overflows",
            _with(weigh=_without_maximum),
            "e to the power of 200 is more than float32 holds, and e to the power of "
            "-1000 is 0: NaN. Subtract each row's largest score first, or call "
            "softmax.",
        ),
        Mistake(
            "weights zeroed after softmax",
            _with(weigh=_zeroed_afterwards),
            "The rows no longer sum to 1, and the future has had its say in the "
            "denominator. Hide it before softmax.",
        ),
        Mistake(
            "softmax over the queries",
            _with(
                weigh=lambda scores, hidden: scores.masked_fill(
                    hidden, -math.inf
                ).softmax(dim=-2)
            ),
            "The weights of each query must sum to 1, so softmax goes over the keys, "
            "dim=-1.",
        ),
        Mistake(
            "scores divided by D",
            _with(scale=lambda D: D),
            "The scores are divided by the root of D, and not by D.",
        ),
        Mistake(
            "a root that is rounded down",
            _with(scale=lambda D: int(math.sqrt(D))),
            "The scores are divided by the root of D as it is. int leaves out what "
            "stands behind the point.",
        ),
        Mistake(
            "a scale from the number of words",
            lambda queries, keys, values: _attend(
                queries, keys, values, scale=lambda D: math.sqrt(keys.shape[-2])
            ),
            "The scores are divided by the root of T. It is the root of D, the last "
            "axis.",
        ),
    ),
)
