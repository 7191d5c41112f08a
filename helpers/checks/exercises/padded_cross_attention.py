"""An exercise on cross-attention to memories of different lengths."""

import math

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise

FILLER = 9.0


def _padded_batches():
    generator = torch.Generator().manual_seed(8)

    def case(name, T, S, D, D_v, lengths, filler=FILLER, size=1.0):
        B = len(lengths)
        queries = size * torch.randn(B, T, D, generator=generator)
        keys = size * torch.randn(B, S, D, generator=generator)
        values = torch.randn(B, S, D_v, generator=generator)
        lengths = torch.tensor(lengths)
        for b, length in enumerate(lengths):
            keys[b, length:] = filler
            values[b, length:] = filler
        arguments = {"queries": queries, "keys": keys, "values": values}
        return Case(name, {**arguments, "lengths": lengths})

    by_hand = {
        "queries": torch.tensor([[[1.0], [2.0]]]),
        "keys": torch.tensor([[[1.0], [0.0], [1.0]]]),
        "values": torch.tensor([[[4.0], [8.0], [FILLER]]]),
        "lengths": torch.tensor([2]),
    }
    far_below = by_hand | {
        "queries": torch.tensor([[[-60.0]]]),
        "keys": torch.tensor([[[60.0], [60.01], [FILLER]]]),
    }
    further_below = far_below | {
        "queries": torch.tensor([[[-128.0]]]),
        # Their products are whole numbers, which no way of computing rounds.
        "keys": torch.tensor([[[128.0], [128.0 + 2**-7], [FILLER]]]),
    }
    return [
        Case("one memory with a row of filler", by_hand),
        case("one memory, all of it real", 2, 3, 2, 2, [3]),
        case("two memories, the second one shorter", 1, 2, 4, 1, [2, 1]),
        case("as many keys as queries", 2, 3, 4, 2, [1, 3]),
        case("filler of zeros", 3, 4, 4, 3, [2, 4], filler=0.0),
        case("sizes that all differ", 5, 7, 4, 2, [4, 7, 1]),
        case("as many queries as keys", 4, 4, 2, 3, [3, 1], filler=0.5),
        case("filler of 50 thousand", 2, 3, 3, 2, [2, 1, 3], filler=50_000.0),
        case("filler of a trillion", 2, 3, 3, 2, [2, 1], filler=1e12),
        case("scores in the thousands", 2, 4, 2, 2, [3, 2], filler=60.0, size=60.0),
        Case("real scores of minus thousands", far_below),
        Case("real scores of minus ten thousands", further_below),
    ]


def _reference(queries, keys, values, lengths):
    mask = attention.padding_mask(lengths, keys.shape[-2])
    return attention.scaled_dot_product_attention(queries, keys, values, mask=mask)


def _scores(queries, keys):
    return queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])


def _real(keys, lengths, extra=0):
    """(B, 1, S), True at the keys that are no filler; ``extra`` moves the end."""
    return torch.arange(keys.shape[1]) < lengths[:, None, None] + extra


def _with_mask(make_mask, outside=-math.inf):
    """Attention with a mask from ``make_mask(queries, keys, lengths)``."""

    def attend(queries, keys, values, lengths):
        mask = make_mask(queries, keys, lengths)
        weights = _scores(queries, keys).masked_fill(~mask, outside).softmax(-1)
        return weights @ values, weights

    return attend


def _without_mask(queries, keys, values, lengths):
    weights = _scores(queries, keys).softmax(-1)
    return weights @ values, weights


def _zeroed(queries, keys, values, lengths):
    weights = _scores(queries, keys).softmax(-1) * _real(keys, lengths)
    return weights @ values, weights


def _renormalised(queries, keys, values, lengths):
    _, weights = _zeroed(queries, keys, values, lengths)
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ values, weights


EXERCISE = Exercise(
    name="padded_cross_attention",
    stub="my_padded_cross_attention(queries, keys, values, lengths)",
    asks=(
        "a function of (B, T, D) queries, (B, S, D) keys, (B, S, D_v) values and of "
        "how many of the S keys are real in each sequence, (B,), that returns the "
        "averaged values (B, T, D_v) and the weights (B, T, S), 0 at the filler."
    ),
    returns={"context": "(B, T, D_v)", "weights": "(B, T, S)"},
    reference=_reference,
    cases=_padded_batches,
    mistakes=(
        *(
            Mistake(
                "a low number in place of minus infinity",
                _with_mask(
                    lambda queries, keys, lengths: _real(keys, lengths), outside=low
                ),
                "Real scores may be as low, and then the filler gets weight. Minus "
                "infinity lies below every score.",
            )
            for low in (-1000.0, -10_000.0)
        ),
        Mistake(
            "attention without a mask",
            _without_mask,
            "The filler gets weights like any other key. masked_fill returns a new "
            "tensor: where its result is not kept, nothing is hidden.",
        ),
        Mistake(
            "a mask with its meaning inverted",
            _with_mask(lambda queries, keys, lengths: ~_real(keys, lengths)),
            "The queries see the filler and nothing else. Where there is no filler, "
            "softmax has nothing left and gives NaN.",
        ),
        Mistake(
            "a mask that opens one row of filler",
            _with_mask(lambda queries, keys, lengths: _real(keys, lengths, 1)),
            "Positions count from 0: a memory of length 2 has keys at 0 and 1, and "
            "position 2 is filler.",
        ),
        Mistake(
            "the first memory's mask for all",
            _with_mask(lambda queries, keys, lengths: _real(keys, lengths[:1])),
            "Each memory has its own length, so the mask has a row for each: "
            "(B, 1, S).",
        ),
        Mistake(
            "the longest memory's mask for all",
            _with_mask(lambda queries, keys, lengths: _real(keys, lengths.max()[None])),
            "Each memory has its own length, so the mask has a row for each: "
            "(B, 1, S).",
        ),
        Mistake(
            "weights zeroed after softmax, not divided by their sum",
            _zeroed,
            "The rows don't sum to 1, and what is missing depends on the filler. Hide "
            "the scores, before softmax.",
        ),
        Mistake(
            "weights zeroed after softmax, then divided by their sum",
            _renormalised,
            "For small scores this equals the right weights. Where the filler's score "
            "is some hundreds higher, all that is left underflows to 0, and 0 / 0 is "
            "NaN.",
        ),
        Mistake(
            "scores of the filler set to 0",
            _with_mask(lambda queries, keys, lengths: _real(keys, lengths), outside=0),
            "A score of 0 is a score, and its exponential is 1. Zeroing the filler's "
            "keys does the same. What gets no weight has a score of minus infinity.",
        ),
    ),
)
