"""Mistakes in counting the tiles that a causal window needs, row by row."""

import math

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.several_ways import several


def tiles_a_side(T, tile):
    return math.ceil(T / tile)


def _by_rows(
    *,
    many=tiles_a_side,
    begin=lambda first, tile, window: max(0, first - window + 1) // tile,
    until=1,
):
    """Of each row of tiles, those from the one where a window begins to its own."""

    def count(T, tile, window):
        return sum(
            row - begin(row * tile, tile, window) + until
            for row in range(many(T, tile))
        )

    return count


def _band(*, width):
    """Each row of tiles has as many as a width says, or as many as there are."""
    return lambda T, tile, window: sum(
        min(row + 1, width(tile, window)) for row in range(tiles_a_side(T, tile))
    )


def _from_the_last_query(T, tile, window):
    number = tiles_a_side(T, tile)

    def reaches(row, column):
        last = min((row + 1) * tile, T) - 1
        return last - window < (column + 1) * tile - 1

    return sum(
        reaches(row, column) for row in range(number) for column in range(row + 1)
    )


def _until_one_is_hidden(T, tile, window):
    """Each row from its left, up to the first tile that isn't needed."""
    count = 0
    for first in range(0, T, tile):
        for begin in range(0, first + 1, tile):
            if min(begin + tile, T) - 1 < first - window + 1:
                break
            count += 1
    return count


def _uncapped_diagonals(T, tile, window):
    """A band of diagonals by a formula, which takes off those that don't exist."""
    reach = math.ceil((window - 1) / tile)
    return tiles_a_side(T, tile) * (reach + 1) - reach * (reach + 1) // 2


_IN_FRONT = (
    "A window that is longer than what stands before a query begins in front of the "
    "text, where there are no tiles. Let it begin at max(0, first - window + 1)."
)

WHERE_ROWS_BEGIN_AND_END = (
    Mistake(
        "one row of tiles too many",
        _by_rows(many=lambda T, tile: T // tile + 1),
        "Where T is a multiple of the tile's width, T // tile + 1 is one too many. "
        "math.ceil(T / tile) rounds up only where it must.",
    ),
    *several(
        "windows that begin in front of the text",
        [
            _by_rows(begin=lambda first, tile, window: (first - window + 1) // tile),
            _by_rows(
                begin=lambda first, tile, window: int((first - window + 1) / tile)
            ),
        ],
        _IN_FRONT,
    ),
    *several(
        "rows without their last tile",
        [
            _by_rows(until=0),
            _by_rows(until=0, many=lambda T, tile: T // tile),
        ],
        "The last tile of a row lies on the diagonal, and counts as well: from tile a "
        "to tile b there are b - a + 1 tiles.",
    ),
    Mistake(
        "rows that end at the first hidden tile",
        _until_one_is_hidden,
        "A row may begin with tiles that are too far back, and those that it needs "
        "come after them. Pass over a hidden tile, with continue in place of break.",
    ),
    Mistake(
        "more diagonals than the table has",
        _uncapped_diagonals,
        "A window that is longer than the text reaches no farther than its beginning. "
        "There are as many diagonals of tiles as tiles a side, so let the window reach "
        "that many at most.",
    ),
    Mistake(
        "a window that counts tiles",
        _band(width=lambda tile, window: window),
        "The window counts tokens. Yours is `window` tiles long, so that each row of "
        "tiles has up to `window` of them.",
    ),
    Mistake(
        "tiles left out because their first key is too far back",
        _band(width=lambda tile, window: math.ceil(window / tile)),
        "The last key of such a tile may still be in the window of the row's first "
        "query, and one visible score is enough. So a row may need one tile more than "
        "window / tile, rounded up, would say.",
    ),
    Mistake(
        "a window counted from a tile's last query",
        _from_the_last_query,
        "The window of a tile's first query reaches farthest back. Count from there, "
        "and not from the last one.",
    ),
)
