"""Exercise of chapter 16: linear attention chunk by chunk."""

import itertools

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _texts():
    generator = torch.Generator().manual_seed(17)
    sizes = {
        "four words in chunks of two": (4, 2, 2, 2),
        "six words in chunks of two": (6, 3, 2, 2),
        "seven words in chunks of three": (7, 3, 4, 3),
        "one chunk": (5, 2, 3, 5),
        "a chunk that is longer than the text": (3, 2, 3, 8),
        "chunks of one word": (4, 3, 2, 1),
        "nine words in chunks of four": (9, 4, 3, 4),
    }

    def drawn(name, size):
        T, D, D_v, chunk_size = size
        widths = {"queries": D, "keys": D, "values": D_v}
        tensors = {
            one: torch.randn(T, width, generator=generator).round(decimals=1)
            for one, width in widths.items()
        }
        return Case(name, {**tensors, "chunk_size": chunk_size})

    return list(itertools.starmap(drawn, sizes.items()))


def _chunked(
    queries,
    keys,
    values,
    chunk_size,
    *,
    inside=torch.tril,
    early=False,
    kept=1.0,
    read=True,
):
    """Right where nothing is given; each option is one mistake."""
    state = torch.zeros(keys.shape[-1], values.shape[-1])
    contexts = []
    for start in range(0, len(keys), chunk_size):
        part = slice(start, start + chunk_size)
        written = keys[part].mT @ values[part]
        if early:
            state = kept * state + written
        context = inside(queries[part] @ keys[part].mT) @ values[part]
        if read:
            context = context + queries[part] @ state
        contexts.append(context)
        if not early:
            state = kept * state + written
    return torch.cat(contexts)


def _with(**options):
    return lambda queries, keys, values, chunk_size: _chunked(
        queries, keys, values, chunk_size, **options
    )


def _softmax(scores):
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -torch.inf).softmax(dim=-1)


EXERCISE = Exercise(
    name="chunked_linear_attention",
    stub="my_chunked_linear_attention(queries, keys, values, chunk_size)",
    asks=(
        "a function of queries and keys (T, D), values (T, D_v) and the size of a "
        "chunk that returns the contexts of causal linear attention, (T, D_v), as "
        "(queries @ keys.T).tril() @ values would."
    ),
    returns={"context": "(T, D_v)"},
    reference=_chunked,
    cases=_texts,
    mistakes=(
        Mistake(
            "no mask inside a chunk",
            _with(inside=lambda scores: scores),
            "Inside a chunk, each word sees the words after it. Put tril around the "
            "products of a chunk's queries and keys.",
        ),
        Mistake(
            "a chunk that nobody has told of those before",
            _with(read=False),
            "Each chunk begins with nothing. Add what its queries read from the state: "
            "queries @ state.",
        ),
        Mistake(
            "nothing from the word's own chunk",
            _with(inside=torch.zeros_like),
            "Each word reads the state before its chunk, and nothing inside. Add what "
            "it finds there: the chunk's queries times its keys, masked, times its "
            "values.",
        ),
        Mistake(
            "a state that holds the chunk itself already",
            _with(early=True),
            "A chunk's keys and values come into the state behind its queries: now "
            "each word sees its own chunk twice, and the words after it, too.",
        ),
        Mistake(
            "the state of the last chunk alone",
            _with(kept=0.0),
            "The state is replaced at each chunk. Add each chunk's keysᵀ values to "
            "what it holds.",
        ),
        Mistake(
            "a mask that hides each word from itself",
            _with(inside=lambda scores: scores.tril(-1)),
            "A word sees itself, too: the diagonal belongs to the past, tril(0).",
        ),
        Mistake(
            "softmax inside a chunk",
            _with(inside=_softmax),
            "Linear attention has no softmax, also inside a chunk: the products "
            "themselves weigh the values.",
        ),
    ),
)
