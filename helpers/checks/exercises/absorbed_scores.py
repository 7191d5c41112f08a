"""Exercise of the page "Latent attention": scores without making the keys."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _heads():
    generator = torch.Generator().manual_seed(20)
    sizes = {
        "three heads, four queries, five latents": (3, 4, 5, 2, 6),
        "one head": (1, 3, 4, 2, 5),
        "latents as wide as a head": (2, 3, 4, 3, 3),
        "latents narrower than a head": (2, 1, 3, 8, 4),
        "one query, one latent": (4, 1, 1, 2, 3),
    }

    def draw(*shape):
        return torch.randn(shape, generator=generator)

    smallest = Case(
        "one head, one query, two latents",
        {
            "queries": torch.tensor([[[2.0, 0.0, 2.0, 0.0]]]),
            "latents": torch.tensor([[1.0, 0.0], [1.0, 3.0]]),
            "W_key": torch.tensor([[[1.0, 0.0], [0.0, 5.0], [2.0, 1.0], [7.0, 0.0]]]),
        },
    )
    return [
        smallest,
        *(
            Case(
                name,
                {
                    "queries": draw(H, T, D),
                    "latents": draw(S, L),
                    "W_key": draw(H, D, L),
                },
            )
            for name, (H, T, S, D, L) in sizes.items()
        ),
    ]


def _absorb(queries, W_key):
    return queries @ W_key


def _scores(queries, latents, W_key, *, absorb=_absorb, width=None, divide=True):
    """Right where nothing is given; each option is one mistake."""
    absorbed = absorb(queries, W_key)  # (H, T, L)
    scores = absorbed @ latents.T  # (H, T, S)
    if divide:
        scores = scores / math.sqrt(width or queries.shape[-1])
    return absorbed, scores


def _with(**options):
    return lambda queries, latents, W_key: _scores(queries, latents, W_key, **options)


def _by_root_of_latents(queries, latents, W_key):
    return _scores(queries, latents, W_key, width=latents.shape[-1])


def _divided_before(queries, latents, W_key):
    absorbed, scores = _scores(queries, latents, W_key)
    return absorbed / math.sqrt(queries.shape[-1]), scores


def _divided_twice(queries, latents, W_key):
    absorbed, scores = _divided_before(queries, latents, W_key)
    return absorbed, scores / math.sqrt(queries.shape[-1])


EXERCISE = Exercise(
    name="absorbed_scores",
    stub="my_absorbed_scores(queries, latents, W_key)",
    asks=(
        "a function of queries (H, T, D), of latents (S, L) that all heads share, and "
        "of W_key (H, D, L), by which each head makes its keys from them, that returns "
        "the absorbed queries (H, T, L) and the scores (H, T, S) over √D."
    ),
    returns={"absorbed": "(H, T, L)", "scores": "(H, T, S)"},
    reference=_scores,
    cases=_heads,
    mistakes=(
        Mistake(
            "scores over the root of the latents' width",
            _by_root_of_latents,
            "You divide by √L. The products are those of queries and keys, D features "
            "wide, whether the keys are made or not: divide by √D.",
        ),
        Mistake(
            "scores that aren't divided",
            _with(divide=False),
            "The scores are the right products, and √D is missing.",
        ),
        Mistake(
            "one head's matrix for all heads",
            _with(absorb=lambda queries, W_key: queries @ W_key[0]),
            "All heads share the latents, but each has a matrix of its own: head h "
            "takes W_key[h].",
        ),
        Mistake(
            "W_key turned round",
            _with(absorb=lambda queries, W_key: queries @ W_key.mT),
            "W_key makes a key from a latent: key = W_key @ latent. In query · key, "
            "the query meets its rows, so query @ W_key, without a transpose. (Only "
            "where D = L do the shapes allow the other.)",
        ),
        Mistake(
            "absorbed queries that are divided",
            _divided_before,
            "The scores are right. The absorbed queries are asked for as they are, "
            "before anything is divided.",
        ),
        Mistake(
            "a division that comes twice",
            _divided_twice,
            "You divide the absorbed queries by √D, and then the scores again.",
        ),
    ),
)
