"""Exercise of chapter 14: how many tiles of a windowed, causal table are needed."""

import math

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_number
from helpers.checks.exercises.support.tile_mistakes import (
    WHERE_ROWS_BEGIN_AND_END,
    tiles_a_side,
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
