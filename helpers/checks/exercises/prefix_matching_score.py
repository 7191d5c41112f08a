"""Exercise of chapter 11: how far heads attend to what came next the last time."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support import places_of_copies
from helpers.checks.exercises.support.places_of_copies import at, followed
from helpers.models import induction


def _heads():
    generator = torch.Generator().manual_seed(13)

    def case(name, weights, n, shown=None):
        return Case(name, {"weights": weights, "n": n}, shown)

    def draw(H, n, *, masked=True):
        scores = torch.randn(H, 1 + 2 * n, 1 + 2 * n, generator=generator)
        if masked:
            future = torch.ones_like(scores).triu(1).bool()
            scores = scores.masked_fill(future, -torch.inf)
        return scores.softmax(-1)

    rows = [
        [1.0, 0.0, 0.0, 0.0, 0.0],
        [0.6, 0.4, 0.0, 0.0, 0.0],
        [0.5, 0.3, 0.2, 0.0, 0.0],
        [0.0, 0.1, 0.8, 0.1, 0.0],
        [0.1, 0.1, 0.2, 0.4, 0.2],
    ]
    small = torch.tensor([rows])
    shown = {f"weights[0, {t}]": row for t, row in enumerate(small[0])}
    T = 9
    sharp = torch.zeros(3, T, T)
    sharp[:, 0, 0] = 1.0
    for t in range(1, T):
        sharp[0, t, t - 1] = 1.0
        sharp[1, t, max(t - 3, 0)] = 1.0  # what came next, with n = 4
        sharp[2, t, : t + 1] = 1 / (t + 1)
    return [
        case("n = 2, one head", small, 2, shown | {"n": 2}),
        case(
            "one head looks right before, one does it, one looks everywhere", sharp, 4
        ),
        case("n = 5, three heads", draw(3, 5), 5),
        case("n = 9, two heads", draw(2, 9), 9),
        case("n = 3, two heads without a mask", draw(2, 3, masked=False), 3),
    ]


def _score(weights, n):
    ids = torch.tensor([[0, *range(1, n + 1), *range(1, n + 1)]])
    follows = induction.after_the_same(ids)[0]  # (T, T)
    return (weights * follows).sum(dim=(1, 2)) / n


FOUND = at(followed)


def _divided(count, **queries):
    """A sum over some queries, divided by a function of n."""
    found = at(followed, **queries)
    return lambda weights, n: found(weights, n).sum(dim=-1) / count(n)


def _how_often(weights, n):
    queries = torch.arange(n + 1, 2 * n + 1)
    largest = weights[:, queries].argmax(dim=-1)
    return (largest == followed(queries, n)).to(weights.dtype).mean(dim=-1)


EACH = "One score for each head is asked for, (H,): average over positions only."
BY_N = (
    "Only the n positions of the second copy are asked, so divide by n: a head that "
    "always looks there has a score of 1."
)


EXERCISE = Exercise(
    name="prefix_matching_score",
    stub="my_prefix_matching_score(weights, n)",
    asks=(
        "a function of the weights (H, T, T) of heads that read T = 1 + 2n characters, "
        "a first one and n different ones told twice, and of n. It returns for each "
        "head, (H,), the mean, over the positions of the second copy, of the weight "
        "on the character that followed the present one in the first copy."
    ),
    returns={"scores": "(H,)"},
    reference=_score,
    cases=_heads,
    mistakes=(
        *places_of_copies.MISTAKES,
        Mistake(
            "the sum in place of the mean",
            _divided(lambda n: 1),
            BY_N,
        ),
        Mistake(
            "how often the largest weight lies there",
            _how_often,
            "The weight itself is asked for: 0.4 counts 0.4, whether or not another "
            "is larger.",
        ),
        Mistake(
            "one score for all heads",
            lambda weights, n: FOUND(weights, n).mean(),
            EACH,
        ),
    ),
)
