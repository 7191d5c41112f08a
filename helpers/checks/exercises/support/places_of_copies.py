"""Where the characters of a text told twice stand, and mistakes about that."""

import torch

from helpers.checks.cases import Mistake

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
