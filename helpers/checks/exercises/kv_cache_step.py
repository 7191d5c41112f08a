"""Exercise of the page "The KV cache": one step of attention with a KV cache."""

import math

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise

# --- the inputs -----------------------------------------------------------------------


def _steps():
    generator = torch.Generator().manual_seed(11)

    def step(name, B, H, T, kept, D, *, scale=1.0):
        lengths = {"queries": T, "keys": T, "values": T}
        lengths |= {"cached_keys": kept, "cached_values": kept}
        tensors = {
            part: torch.randn(B, H, length, D, generator=generator).round(decimals=1)
            for part, length in lengths.items()
        }
        return Case(name, tensors | {"queries": scale * tensors["queries"]})

    far_ahead = {
        "queries": torch.ones(1, 1, 2, 1),
        "keys": torch.tensor([[[[-20_000.0], [30_000.0]]]]),
        "values": torch.tensor([[[[2.0], [3.0]]]]),
        "cached_keys": torch.full((1, 1, 1, 1), -20_100.0),
        "cached_values": torch.ones(1, 1, 1, 1),
    }
    return [
        step("one new token after two", 1, 1, 1, 2, 2),
        step("two new tokens after one", 1, 1, 2, 1, 2),
        step("scores of zero", 1, 1, 2, 2, 2, scale=0.0),
        step("one token, an empty cache", 1, 1, 1, 0, 2),
        step("three tokens, an empty cache", 1, 1, 3, 0, 2),
        step("two texts, three heads", 2, 3, 4, 5, 6),
        step("two new tokens, scores far from 0", 1, 2, 2, 3, 4, scale=3000.0),
        Case("a later token's score is tens of thousands higher", far_ahead),
    ]


# --- the step -------------------------------------------------------------------------


def _extended(keys, values, cached_keys, cached_values):
    return (
        torch.cat([cached_keys, keys], dim=-2),
        torch.cat([cached_values, values], dim=-2),
    )


def _attend(queries, keys, values, mask, *, divisor=None, dim=-1):
    scores = queries @ keys.transpose(-2, -1)
    scores = scores / (math.sqrt(queries.shape[-1]) if divisor is None else divisor)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(dim) @ values


def _step(queries, keys, values, cached_keys, cached_values):
    keys, values = _extended(keys, values, cached_keys, cached_values)
    mask = attention.causal_mask(queries.shape[-2], keys.shape[-2])
    context, _ = attention.scaled_dot_product_attention(
        queries, keys, values, mask=mask
    )
    return context, keys, values


def _with_mask(make_mask, **options):
    """The step with another mask, a function of T and S."""

    def step(queries, *parts):
        keys, values = _extended(*parts)
        mask = make_mask(queries.shape[-2], keys.shape[-2])
        return _attend(queries, keys, values, mask, **options), keys, values

    return step


def _top_left(T, S):
    return torch.ones(T, S, dtype=torch.bool).tril()


def _where_empty(T, S):
    return _top_left(T, S) if T == S else None


def _renormalised(queries, *parts):
    keys, values = _extended(*parts)
    mask = attention.causal_mask(queries.shape[-2], keys.shape[-2])
    _, weights = attention.scaled_dot_product_attention(queries, keys, values)
    weights = weights * mask
    return weights / weights.sum(-1, keepdim=True) @ values, keys, values


def _in_front(queries, keys, values, cached_keys, cached_values):
    return _step(queries, cached_keys, cached_values, keys, values)


def _new_alone(queries, keys, values, *cached):
    mask = attention.causal_mask(queries.shape[-2])
    context = _attend(queries, keys, values, mask)
    return context, *_extended(keys, values, *cached)


EXERCISE = Exercise(
    name="kv_cache_step",
    stub="my_kv_cache_step(queries, keys, values, cached_keys, cached_values)",
    asks=(
        "a function of the queries, keys and values of T new tokens, each (B, H, T, "
        "D), and of the keys and values kept so far, (B, H, S - T, D), that returns "
        "the new tokens' context (B, H, T, D) and all keys and values, (B, H, S, D) "
        "each."
    ),
    returns={
        "context": "(B, H, T, D)",
        "keys": "(B, H, S, D)",
        "values": "(B, H, S, D)",
    },
    reference=_step,
    cases=_steps,
    mistakes=(
        Mistake(
            "a mask that opens the next token",
            _with_mask(lambda T, S: torch.ones(T, S).tril(S - T + 1).bool()),
            "Row 0 is open up to key S - T, its own. The diagonal moves by S - T; one "
            "more, and each new token sees the one that comes after it.",
        ),
        Mistake(
            "new tokens that attend to later ones",
            _with_mask(lambda T, S: None),
            "A single new token is the last one and may see all; of several, the "
            "first may not see the second. A mask of 1 x 1 hides nothing either.",
        ),
        Mistake(
            "a mask that starts at the first key",
            _with_mask(_top_left),
            "The new tokens are the last T of the S, so row 0 of the mask is open up "
            "to key S - T. Yours opens key 0 alone; is_causal=True of PyTorch's "
            "function does the same.",
        ),
        Mistake(
            "a mask for an empty cache only",
            _with_mask(_where_empty),
            "After a cache, too, a new token may not see the new ones after it: row 0 "
            "of the mask is open up to key S - T.",
        ),
        Mistake(
            "weights zeroed after softmax, then divided by their sum",
            _renormalised,
            "For small scores this equals the right weights. With a later token's "
            "score some hundreds higher, all that is left underflows to 0, and 0 / 0 "
            "is NaN. Mask before softmax.",
        ),
        Mistake(
            "new keys in front of the kept ones",
            _in_front,
            "The order in the cache is the order of the text: what is new goes to the "
            "end, torch.cat([cached_keys, keys], dim=-2).",
        ),
        Mistake(
            "a cache that holds the new tokens only",
            lambda queries, keys, values, *cached: (
                _step(queries, keys, values, *cached)[0],
                keys,
                values,
            ),
            "The context is right, but the next step gets a cache without the text "
            "before. Return all keys and values.",
        ),
        Mistake(
            "new tokens that attend to each other only",
            _new_alone,
            "The cache is extended, but the context is made from the new keys and "
            "values alone. Attend to all S of them.",
        ),
        Mistake(
            "attention without scaling",
            _with_mask(attention.causal_mask, divisor=1.0),
            "A cache changes nothing in the scores: divide them by the square root of "
            "D.",
        ),
    ),
)
