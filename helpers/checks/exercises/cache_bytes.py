"""Exercise of the page "A cache in pages": the bytes of a KV cache."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_number
from helpers.checks.exercises.support.several_ways import several

NAMES = ("tokens", "layers", "heads", "kv_heads", "d_model", "bytes_each")


def _models():
    sizes = {
        "one token, one layer": (1, 1, 2, 1, 6, 4),
        "keys for each head": (3, 2, 2, 2, 8, 2),
        "four heads share two": (5, 3, 4, 2, 20, 2),
        "all heads share one": (7, 2, 3, 1, 15, 4),
        "six heads share three": (10, 5, 6, 3, 42, 1),
        "Llama 3 8B, 8,192 tokens": (8192, 32, 32, 8, 4096, 2),
        "GPT-3, 2,048 tokens": (2048, 96, 96, 96, 12_288, 2),
        "more than float32 can count": (4099, 33, 6, 3, 4098, 2),
    }
    return [
        Case(name, dict(zip(NAMES, one, strict=True))) for name, one in sizes.items()
    ]


def _right(*sizes):
    return math.prod(_factors(*sizes))


def _factors(tokens, layers, heads, kv_heads, d_model, bytes_each):
    return 2, tokens, layers, kv_heads, d_model // heads, bytes_each


def _times(change):
    """The right count, times what a mistake brings in; exact where it divides."""

    def counted(tokens, layers, heads, kv_heads, d_model, bytes_each):
        sizes = (tokens, layers, heads, kv_heads, d_model, bytes_each)
        up, down = change(*sizes)
        return _right(*sizes) * up // down

    return counted


EXERCISE = Exercise(
    name="cache_bytes",
    stub="my_cache_bytes(tokens, layers, heads, kv_heads, d_model, bytes_each)",
    asks=(
        "a function of the number of tokens, of layers, of query heads, of heads of "
        "keys and values, of the model's width and of a number's bytes that returns "
        "the bytes of one text's KV cache."
    ),
    returns={"bytes": "a whole number"},
    reference=_right,
    cases=_models,
    run=call_for_number,
    mistakes=(
        Mistake(
            "a product in float32",
            lambda *sizes: int(
                math.prod(torch.tensor(_factors(*sizes), dtype=torch.float32))
            ),
            "float32 has 24 bits: from 16,777,216 on it rounds whole numbers. Multiply "
            "Python's whole numbers, which never do.",
        ),
        Mistake(
            "a width that is divided with /",
            lambda T, L, H, K, C, b: 2 * T * L * K * (C / H) * b,
            "The number is right, but / makes a float of it, and floats round large "
            "numbers. // divides whole numbers.",
        ),
        Mistake(
            "a cache of keys alone",
            _times(lambda T, L, H, K, C, b: (1, 2)),
            "Both keys and values are kept: twice as many numbers.",
        ),
        Mistake(
            "a cache of all heads' queries, too",
            _times(lambda T, L, H, K, C, b: (H + 2 * K, 2 * K)),
            "A query is used once, for its own token, and isn't kept. Only the "
            "kv_heads count, each with its keys and its values.",
        ),
        Mistake(
            "keys and values for each query head",
            _times(lambda T, L, H, K, C, b: (H, K)),
            "Only heads of keys and values are kept, kv_heads of them: the query heads "
            "share these. Nor does a head become wider where there are fewer: D is "
            "d_model divided by the number of query heads.",
        ),
        Mistake(
            "one row of the model's width for each token",
            _times(lambda T, L, H, K, C, b: (H, 2 * K)),
            "In each layer a token leaves two things behind, a key and a value. Each "
            "has kv_heads times D numbers, where d_model is heads times D.",
        ),
        Mistake(
            "keys shared, and values for each query head",
            _times(lambda T, L, H, K, C, b: (K + H, 2 * K)),
            "Query heads that share keys share the values, too: kv_heads of both.",
        ),
        Mistake(
            "the model's width for each head",
            _times(lambda T, L, H, K, C, b: (H, 1)),
            "One head is d_model / heads wide; all query heads together are d_model "
            "wide.",
        ),
        Mistake(
            "a head's width, rounded up to a power of two",
            _times(
                lambda T, L, H, K, C, b: (2 ** math.ceil(math.log2(C // H)), C // H)
            ),
            "A kernel may pad a head, but what the cache keeps are d_model / heads "
            "numbers for each, a power of two or not.",
        ),
        Mistake(
            "a share of whole numbers, which is 0",
            lambda T, L, H, K, C, b: 2 * T * L * C * (K // H) * b,
            "kv_heads // heads is 0 wherever query heads share keys. Take "
            "d_model // heads, which leaves no rest, and multiply that by kv_heads.",
        ),
        Mistake(
            "one head of keys",
            _times(lambda T, L, H, K, C, b: (1, K)),
            "Each of the kv_heads keeps keys and values of its own.",
        ),
        Mistake(
            "one layer",
            _times(lambda T, L, H, K, C, b: (1, L)),
            "Every layer keeps keys and values of its own.",
        ),
        Mistake(
            "a count of numbers",
            _times(lambda T, L, H, K, C, b: (1, b)),
            "You counted numbers. Each takes bytes_each bytes.",
        ),
        *several(
            "a table of weights",
            [
                _times(lambda T, L, H, K, C, b: (T, 1)),
                lambda T, L, H, K, C, b: T * T * L * H * b,
                lambda T, L, H, K, C, b: T * T * L * K * b,
            ],
            "The cache keeps keys and values, one of each a token; the T x T weights "
            "aren't kept.",
        ),
        Mistake(
            "the group's size for the number of key heads",
            _times(lambda T, L, H, K, C, b: (H, K * K)),
            "heads // kv_heads says how many query heads share one. What is kept are "
            "the kv_heads themselves.",
        ),
    ),
)
