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
EARLIER = (
    "In the first copy no character has occurred before: the queries are those of the "
    "second, n + 1 to 2n."
)
ONE_EACH = (
    "Each row has one place of its own, n - 1 before the query. weights[:, rows][:, :, "
    "columns] and slices give every pair; weights[:, rows, columns] gives one for each "
    "row."
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


def _beginning(weights, n):
    return weights.diagonal(1 - n, 1, 2)[:, :n].mean(dim=-1)


def _everywhere(first, *, clamped):
    """The mean over all positions from one on; indices below 0 become 0, or don't."""

    def score(weights, n):
        queries = torch.arange(first, 2 * n + 1)
        keys = followed(queries, n)
        keys = keys.clamp(min=0) if clamped else keys
        return weights[:, queries, keys].mean(dim=-1)

    return score


def _round(t, n):
    return torch.where(t < 2 * n, followed(t, n), 1)


def _block(weights, n):
    """What the second copy gives to all places after those of the first, (H, n, n)."""
    return weights[:, n + 1 :, 2 : n + 2]


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
        "the weight on the earlier occurrence and on what followed it",
        lambda weights, n: _after(0)(weights, n) + _after(1)(weights, n),
        "Only what followed counts: a head that looks at the earlier occurrence itself "
        "finds the character that it has already.",
    ),
    Mistake(
        "the weight two places after the earlier occurrence",
        _after(2),
        "That is one place too far. " + FOLLOWED,
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
    Mistake(
        "the earlier occurrence itself, in a text without its first character",
        _after(0, first=0, last=-1),
        FOLLOWED,
    ),
    *_same(
        "rows one too early beside the right columns",
        (_after(2, first=0, last=-1), _diagonal(lambda n: 2 - n, slice(2, None))),
        "Your rows are n to 2n - 1. " + FOLLOWED,
    ),
    Mistake(
        "rows from n to 2n",
        _after(1, first=0),
        LAYOUT + " The character at n is the first copy's last and hasn't occurred "
        "before.",
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
        "the first n numbers of the diagonal",
        _beginning,
        "The diagonal begins in the first copy, where no character has occurred "
        "before. Leave its first two numbers out, not its last two.",
    ),
    *_same(
        "a mean over both copies",
        (
            _everywhere(0, clamped=False),
            _everywhere(1, clamped=False),
            _everywhere(0, clamped=True),
            _everywhere(1, clamped=True),
        ),
        EARLIER + " An index below 0 counts from the end, besides.",
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
    Mistake(
        "the second copy without its first character",
        _after(1, first=2),
        LAYOUT + " The first character of the second copy has occurred before, too.",
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
    *_same(
        "the weight on the character right before",
        (
            *(
                mean(at(lambda t, n: t - 1, **queries))
                for queries in ({}, {"first": 0}, {"first": 0, "last": -1})
            ),
            _diagonal(lambda n: -1),
        ),
        "That is what a previous-token head does, in layer 1. An induction head looks "
        "after the earlier occurrence. " + FOLLOWED,
    ),
    *_same(
        "the weight on the character that comes next",
        (
            mean(at(lambda t, n: t + 1, first=0, last=-1)),
            mean(at(lambda t, n: t + 1, last=-1)),
        ),
        "In the text itself that lies ahead, where a causal head can't look. But the "
        "same character came next the last time. " + FOLLOWED,
    ),
    *_same(
        "the weight on the character itself",
        (mean(at(lambda t, n: t)), _diagonal(lambda n: 0)),
        FOLLOWED,
    ),
    Mistake(
        "all weight on the first copy",
        lambda weights, n: weights[:, n + 1 :, 1 : n + 1].sum(dim=-1).mean(dim=-1),
        "A head that looks anywhere in the first copy isn't an induction head. For "
        "each row one place counts, n - 1 before the query.",
    ),
    Mistake(
        "each row's weight on all places in question",
        lambda weights, n: _block(weights, n).sum(dim=-1).mean(dim=-1),
        ONE_EACH,
    ),
    Mistake(
        "a mean over every pair of rows and columns",
        lambda weights, n: _block(weights, n).mean(dim=(1, 2)),
        ONE_EACH,
    ),
)
