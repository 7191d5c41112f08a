"""Exercise of chapter 11: how far heads attend to what came next the last time."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.models import induction

LAYOUT = (
    "Position 0 holds the text's first character, 1 to n the first copy, n + 1 to 2n "
    "the second one."
)
FOLLOWED = (
    LAYOUT + " So the earlier occurrence is n places before the query, and what "
    "followed it is n - 1 places before."
)


def at(key, *, first=1, last=0):
    """What lies on one key for each query.

    Args:
        key: a function of the queries' positions and n.
        first: where the queries begin, counted from n.
        last: where they end, counted from 2n.

    Returns:
        found: a function of weights (H, T, T) and n, to (H, positions).
    """

    def found(weights, n):
        queries = torch.arange(n + first, 2 * n + last + 1)
        return weights[:, queries, key(queries, n)]

    return found


def followed(t, n):
    """Where the character stands that followed the earlier occurrence."""
    return t - n + 1


def mean(found):
    """The mean over the positions, (H,), of what ``found`` finds."""
    return lambda weights, n: found(weights, n).mean(dim=-1)


def _after(steps, **queries):
    """The mean weight on a place so many steps after the earlier occurrence."""
    return mean(at(lambda t, n: t - n + steps, **queries))


def _diagonal(offset, part=slice(None)):
    """The mean of a part of a diagonal, whose offset is a function of n."""
    return lambda weights, n: weights.diagonal(offset(n), 1, 2)[:, part].mean(dim=-1)


def _round(t, n):
    return torch.where(t < 2 * n, followed(t, n), 1)


def _swapped(found):
    return lambda weights, n: found(weights.mT, n)


def _same(name, scores, why):
    return tuple(Mistake(name, score, why) for score in scores)


MISTAKES = (
    *_same(
        "the weight on the earlier occurrence itself",
        (_after(0), _after(0, last=-1), _diagonal(lambda n: -n)),
        "An induction head looks one place further, at what came next. " + FOLLOWED,
    ),
    Mistake(
        "the weight right before the earlier occurrence",
        _after(-1),
        FOLLOWED,
    ),
    Mistake(
        "a text without its first character",
        _after(1, first=0, last=-1),
        LAYOUT + " Your rows are n to 2n - 1. The character at n is the first copy's "
        "last and hasn't occurred before; that at 2n has.",
    ),
    *_same(
        "the whole diagonal, first copy and all",
        (
            _diagonal(lambda n: 1 - n),
            lambda weights, n: weights.diagonal(1 - n, 1, 2).sum(dim=-1) / n,
        ),
        "The diagonal is the right one, but its first two numbers belong to the first "
        "copy, where no character has occurred before. Leave them out.",
    ),
    Mistake(
        "the last character followed by the first copy's first",
        mean(at(_round)),
        "Behind the first copy's last character stands the second copy's first, at "
        "n + 1, which is n - 1 places before the query, as for the others.",
    ),
    Mistake(
        "the second copy without its last character",
        _after(1, last=-1),
        "The last character, too, stood in the first copy, and what followed it then "
        "is the second copy's first. The rows are n + 1 to 2n.",
    ),
    *_same(
        "rows and columns swapped",
        (
            _swapped(_after(1)),
            _diagonal(lambda n: n - 1),
            _swapped(_after(1, last=-1)),
            _swapped(_after(0)),
        ),
        "weights[h, t, s] is what the query at t gives to the key at s. The second "
        "copy asks, so its positions are the rows.",
    ),
)


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
        *MISTAKES,
        Mistake(
            "a block of weights in place of pairs",
            lambda weights, n: weights[:, n + 1 : 2 * n + 1, 2 : n + 2].mean((1, 2)),
            "Each row is averaged over n columns, and only one belongs to it. Where "
            "two slices give a block, two tensors of positions give pairs.",
        ),
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
