"""Exercise of chapter 14: how many tiles of a windowed, causal table are needed."""

import math

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_number
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


def _tables():
    sizes = {
        "two tiles a side": (4, 2, 4),
        "one tile": (3, 4, 3),
        "tiles of one score": (4, 1, 2),
        "a window as wide as a tile": (6, 2, 2),
        "a window one wider than a tile": (6, 2, 3),
        "a window of one": (6, 3, 1),
        "the last tile is smaller": (7, 3, 7),
        "a window, and a smaller last tile": (11, 4, 5),
        "a window wider than the text": (5, 2, 50),
        "a short window in wide tiles": (40, 10, 3),
        "many tiles": (100, 8, 30),
        "more tiles than a byte can count": (60, 2, 40),
    }
    return [
        Case(name, dict(zip(("T", "tile", "window"), one, strict=True)))
        for name, one in sizes.items()
    ]


def _count(
    T,
    tile,
    window,
    *,
    many=lambda T, tile: math.ceil(T / tile),
    nearest=0,
    farther=0,
    whole=False,
    ahead=lambda window: 0,
):
    """Right where nothing is given; each option is one mistake."""

    def edges(number):
        return number * tile, min((number + 1) * tile, T) - 1

    def counts(row, column):
        (first, last), (begin, end) = edges(row), edges(column)
        if whole:
            return end <= first and last - begin < window
        in_time = begin - last <= ahead(window) - nearest
        return in_time and first - end < window + farther

    number = many(T, tile)
    return sum(counts(row, column) for row in range(number) for column in range(number))


def _with(**options):
    return lambda T, tile, window: _count(T, tile, window, **options)


def _scores(T, tile, window):
    return sum(min(row + 1, window) for row in range(T))


def _triangle(T, tile, window):
    side = tiles_a_side(T, tile)
    return side * (side + 1) // 2


EXERCISE = Exercise(
    name="tiles_to_walk",
    stub="my_tiles_to_walk(T, tile, window)",
    asks=(
        "a function of the number of tokens, of a tile's width and of the window, both "
        "in tokens, that returns how many tiles of the T x T table hold at least one "
        "score that isn't hidden. Attention is causal, and a query sees its last "
        "``window`` tokens, its own included; the last tile may be smaller."
    ),
    returns={"number": "a whole number"},
    reference=_count,
    cases=_tables,
    run=call_for_number,
    mistakes=(
        Mistake(
            "a causal mask without a window",
            _triangle,
            "The future is left out, but tiles that are too far back are counted.",
        ),
        Mistake(
            "a window without a causal mask",
            _with(ahead=lambda window: window - 1),
            "The window looks back only. Tiles to the right of the diagonal hold keys "
            "that come later.",
        ),
        Mistake(
            "a count of scores",
            _scores,
            "You counted the visible scores. Count the tiles in which there is at "
            "least one.",
        ),
        Mistake(
            "scores divided by a tile's size",
            lambda T, tile, window: math.ceil(_scores(T, tile, window) / tile**2),
            "A tile with a single visible score has to be computed as well, so a "
            "division of the visible scores counts too few.",
        ),
        Mistake(
            "a last tile that is left out",
            _with(many=lambda T, tile: T // tile),
            "Where T isn't a multiple of the tile's width, a smaller tile is left at "
            "the end: round up.",
        ),
        Mistake(
            "a count of tiles with nothing hidden",
            _with(whole=True),
            "You counted tiles in which every score is visible. A tile that is partly "
            "hidden has to be computed, too.",
        ),
        Mistake(
            "a window one too wide",
            _with(farther=1),
            "The window counts the query's own token: the farthest visible key lies "
            "window - 1 places back, and not window. With a window of 1, no more than "
            "the tiles on the diagonal are needed.",
        ),
        Mistake(
            "a window one too narrow",
            _with(farther=-1),
            "A window of w tokens reaches w - 1 places back. With a window of 1, each "
            "token sees itself.",
        ),
        *WHERE_ROWS_BEGIN_AND_END,
    ),
)
