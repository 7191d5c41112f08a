"""Exercise of the page "Latent attention": scores with a cache in place of keys."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _heads():
    generator = torch.Generator().manual_seed(20)
    sizes = {
        "three heads, four queries, five tokens": (3, 4, 5, 2, 6, 4),
        "one head": (1, 3, 4, 2, 5, 2),
        "latents as wide as W_key is high": (2, 3, 4, 3, 3, 2),
        "short latents": (2, 1, 3, 8, 4, 2),
        "one query, one token": (4, 1, 1, 2, 3, 2),
        "half of a query turns": (2, 3, 4, 4, 5, 4),
    }

    def draw(*shape):
        return torch.randn(shape, generator=generator)

    smallest = Case(
        "one head, one query, two tokens",
        {
            "queries": torch.tensor([[[2.0, 1.0, 3.0, 0.0]]]),
            "W_key": torch.tensor([[[1.0], [2.0]]]),
            "latents": torch.tensor([[1.0], [2.0]]),
            "short_keys": torch.tensor([[1.0, 0.0], [0.0, 4.0]]),
        },
    )
    return [
        smallest,
        *(
            Case(
                name,
                {
                    "queries": draw(H, T, D + R),
                    "W_key": draw(H, D, L),
                    "latents": draw(S, L),
                    "short_keys": draw(S, R),
                },
            )
            for name, (H, T, S, D, L, R) in sizes.items()
        ),
    ]


def _absorb(queries, W_key):
    return queries @ W_key


def _parts(queries, W_key, *, absorb=_absorb, turned_first=False):
    """The absorbed part of the queries (H, T, L), and the turned one (H, T, R)."""
    D = W_key.shape[1]
    if turned_first:
        turned, own = queries.split([queries.shape[-1] - D, D], dim=-1)
    else:
        own, turned = queries.split([D, queries.shape[-1] - D], dim=-1)
    return absorb(own, W_key), turned


def _scores(queries, W_key, latents, short_keys, *, root=None, **options):
    """Right where nothing is given; each option is one mistake."""
    wide = torch.cat(_parts(queries, W_key, **options), dim=-1)  # (H, T, L + R)
    scores = wide @ torch.cat([latents, short_keys], dim=-1).T  # (H, T, S)
    return wide, scores / (root or math.sqrt(queries.shape[-1]))


def _with(**options):
    return lambda *tensors: _scores(*tensors, **options)


def _by_width_of_cache(queries, W_key, latents, short_keys):
    root = math.sqrt(latents.shape[-1] + short_keys.shape[-1])
    return _scores(queries, W_key, latents, short_keys, root=root)


def _by_width_without_turn(queries, W_key, latents, short_keys):
    root = math.sqrt(W_key.shape[1])
    return _scores(queries, W_key, latents, short_keys, root=root)


def _each_over_its_own(queries, W_key, latents, short_keys):
    absorbed, turned = _parts(queries, W_key)
    scores = absorbed @ latents.T / math.sqrt(W_key.shape[1])
    scores = scores + turned @ short_keys.T / math.sqrt(short_keys.shape[-1])
    return torch.cat([absorbed, turned], dim=-1), scores


def _without_positions(queries, W_key, latents, short_keys):
    absorbed, turned = _parts(queries, W_key)
    scores = absorbed @ latents.T / math.sqrt(queries.shape[-1])
    return torch.cat([absorbed, turned], dim=-1), scores


def _absorbed_alone(queries, W_key, latents, short_keys):
    _, scores = _scores(queries, W_key, latents, short_keys)
    return _parts(queries, W_key)[0], scores


def _turned_in_front(queries, W_key, latents, short_keys):
    _, scores = _scores(queries, W_key, latents, short_keys)
    absorbed, turned = _parts(queries, W_key)
    return torch.cat([turned, absorbed], dim=-1), scores


def _divided_before(queries, W_key, latents, short_keys):
    wide, scores = _scores(queries, W_key, latents, short_keys)
    return wide / math.sqrt(queries.shape[-1]), scores


def _divided_twice(queries, W_key, latents, short_keys):
    wide, scores = _divided_before(queries, W_key, latents, short_keys)
    return wide, scores / math.sqrt(queries.shape[-1])


EXERCISE = Exercise(
    name="absorbed_scores",
    stub="my_absorbed_scores(queries, W_key, latents, short_keys)",
    asks=(
        "a function of queries (H, T, D + R), whose last R features are turned, of "
        "W_key (H, D, L), by which each head makes keys from latents, and of the cache "
        "that all heads share, latents (S, L) and turned short_keys (S, R), that "
        "returns the wide queries (H, T, L + R), the absorbed part first, and the "
        "scores (H, T, S) over √(D + R)."
    ),
    returns={"wide": "(H, T, L + R)", "scores": "(H, T, S)"},
    reference=_scores,
    cases=_heads,
    mistakes=(
        Mistake(
            "scores over the root of the cache's width",
            _by_width_of_cache,
            "You divide by √(L + R). The products are those of queries and keys, D + R "
            "features wide, whether the keys are made or not: divide by √(D + R).",
        ),
        Mistake(
            "scores over the root of D",
            _by_width_without_turn,
            "You divide by √D. A score is the sum of both products, of D + R features "
            "in all: divide by √(D + R).",
        ),
        Mistake(
            "scores that aren't divided",
            _with(root=1.0),
            "The scores are the right products, and √(D + R) is missing.",
        ),
        Mistake(
            "two products, each over its own root",
            _each_over_its_own,
            "You divide one product by √D, and the other by √R. They are parts of one "
            "product of D + R features: add them up first, then divide by √(D + R).",
        ),
        Mistake(
            "scores without the short keys",
            _without_positions,
            "The turned part of the queries must meet short_keys, and be added: "
            "without it, a score knows nothing of positions.",
        ),
        Mistake(
            "wide queries without their turned part",
            _absorbed_alone,
            "The scores are right. The wide queries are asked for with both parts, L "
            "absorbed features and then the R turned ones.",
        ),
        Mistake(
            "wide queries with the turned part in front",
            _turned_in_front,
            "The scores are right. In the wide queries, the absorbed part comes first, "
            "as the latents stand before the short keys.",
        ),
        Mistake(
            "the first R features taken as the turned ones",
            _with(turned_first=True),
            "The first D features of a query meet W_key, and the last R are turned.",
        ),
        Mistake(
            "one head's matrix for all heads",
            _with(absorb=lambda queries, W_key: queries @ W_key[0]),
            "All heads share the cache, but each has a matrix of its own: head h "
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
            "wide queries that are divided",
            _divided_before,
            "The scores are right. The wide queries are asked for as they are, before "
            "anything is divided.",
        ),
        Mistake(
            "a division that comes twice",
            _divided_twice,
            "You divide the wide queries by √(D + R), and then the scores again.",
        ),
    ),
)
