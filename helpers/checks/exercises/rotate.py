"""Exercise of chapter 12: turn queries or keys by their places."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.angle_mistakes import (
    angle_mistakes,
    angles_of,
)
from helpers.models import positions
from helpers.validation import unchecked


def _heads():
    generator = torch.Generator().manual_seed(12)

    def draw(*shape):
        return torch.randn(shape, generator=generator)

    return [
        Case("one pair, at place 1", {"heads": torch.tensor([[1.0, 0.0]]), "start": 1}),
        Case("three rows from place 0", {"heads": draw(3, 4), "start": 0}),
        Case("one row at place 7", {"heads": draw(1, 4), "start": 7}),
        Case("four rows of three pairs", {"heads": draw(4, 6), "start": 2}),
        Case("texts and heads", {"heads": draw(2, 3, 5, 8), "start": 3}),
        Case("far into a text", {"heads": draw(2, 4), "start": 500}),
    ]


def _angles(heads, start, **options):
    T, D = heads.shape[-2:]
    return angles_of(T, D, first=start, device=heads.device, **options)


def _turn(heads, angles, *, interleaved=False):
    # Behind its door: mistakes have angles of other shapes, which PyTorch broadcasts.
    turn = unchecked(positions.rotate)
    return turn(heads, angles.cos(), angles.sin(), interleaved=interleaved)


def _put_together(heads, start, combine):
    """What ``combine`` makes of the halves, the cosines and the sines."""
    angles = _angles(heads, start)
    first, second = heads.chunk(2, dim=-1)
    return torch.cat(combine(first, second, angles.cos(), angles.sin()), dim=-1)


def _turn_at(speeds):
    """The right turn, but for the pairs' speeds."""
    return lambda heads, start: _turn(heads, _angles(heads, start, speeds=speeds))


def _turn_of(count):
    """The right turn, but for the number of places, ``count(heads, start)``."""

    def turned(heads, start):
        T, D = count(heads, start), heads.shape[-1]
        return _turn(heads, angles_of(T, D, first=start, device=heads.device))

    return turned


def _with_angles_of_neighbours(heads, start):
    first, second = heads.chunk(2, dim=-1)
    angles = _angles(heads, start).repeat_interleave(2, dim=-1)
    turned_ahead = torch.cat([-second, first], dim=-1)
    return heads * angles.cos() + turned_ahead * angles.sin()


def _counted_on(heads, start):
    rows = heads.flatten(0, -2)
    return _turn(rows, _angles(rows, start)).reshape(heads.shape)


def _wrongly_laid_out(heads, start):
    first, second = _turn(heads, _angles(heads, start)).chunk(2, dim=-1)
    return torch.stack([first, second], dim=-1).flatten(-2)


EXERCISE = Exercise(
    name="rotate",
    stub="my_rotate(heads, start)",
    asks=(
        "a function of queries or keys (..., T, D), D even, and of the place of their "
        "first row that returns them turned: feature n and feature n + D / 2 by the "
        "angle place · 10000^(-2n / D)."
    ),
    returns={"turned": "(..., T, D)"},
    reference=lambda heads, start: _turn(heads, _angles(heads, start)),
    cases=_heads,
    constants=(10_000,),
    mistakes=(
        Mistake(
            "a turn that begins at place 0",
            lambda heads, start: _turn(heads, _angles(heads, 0)),
            "The first row stands at `start`, so its angles begin there. With a KV "
            "cache each new key would stand at place 0.",
        ),
        Mistake(
            "a start that is added to the angles",
            lambda heads, start: _turn(heads, _angles(heads, 0) + start),
            "`start` is a place and no angle: add it to the places, before they are "
            "multiplied by the speeds. The slower pairs turn too far.",
        ),
        Mistake(
            "a turn that counts from 1",
            lambda heads, start: _turn(heads, _angles(heads, start + 1)),
            "Every row is turned by one place too many: the first one stands at "
            "`start`.",
        ),
        Mistake(
            "one angle for all rows",
            lambda heads, start: _turn(heads, _angles(heads, start)[:1]),
            "Each row has a place of its own: start, start + 1, and so on.",
        ),
        Mistake(
            "places that end at T",
            _turn_of(lambda heads, start: heads.shape[-2] - start),
            "torch.arange(start, T) ends at place T - 1. T places are needed, whatever "
            "the first is: the last one is start + T - 1.",
        ),
        Mistake(
            "places counted along axis 1",
            _turn_of(lambda heads, start: heads.shape[1]),
            "The rows are the last axis but one, heads.shape[-2], however many axes "
            "stand in front. That is axis 1 only where there are three in all.",
        ),
        Mistake(
            "places counted on through the batch",
            _counted_on,
            "The first head of the first text is right. Every other one begins at "
            "`start` as well: keep the axes in front, and let T be heads.shape[-2].",
        ),
        Mistake(
            "a turn the other way round",
            lambda heads, start: _turn(heads, -_angles(heads, start)),
            "(1, 0) must become (cos, sin). The minus belongs to the first half: "
            "first · cos - second · sin.",
        ),
        Mistake(
            "pairs of neighbours",
            lambda heads, start: _turn(heads, _angles(heads, start), interleaved=True),
            "Yours turns features 2n and 2n + 1 together, the interleaved layout. "
            "Here feature n goes with feature n + D / 2.",
        ),
        Mistake(
            "angles of neighbours for pairs of halves",
            _with_angles_of_neighbours,
            "Features n and n + D / 2 turn together, so both need the angle of pair n: "
            "torch.cat([angles, angles], dim=-1). repeat_interleave gives an angle to "
            "two neighbours.",
        ),
        Mistake(
            "pairs that are put back side by side",
            _wrongly_laid_out,
            "The pairs are turned as they should be, but they come back in another "
            "order: put all first features in front and all second ones behind.",
        ),
        *angle_mistakes("D", _turn_at),
        Mistake(
            "a turn without its minus",
            lambda heads, start: _put_together(
                heads, start, lambda a, b, c, s: (a * c + b * s, a * s + b * c)
            ),
            "first · cos + second · sin is no turn: it changes lengths. The first half "
            "needs a minus.",
        ),
        Mistake(
            "the second half made from the turned first half",
            lambda heads, start: _put_together(
                heads,
                start,
                lambda a, b, c, s: (a * c - b * s, (a * c - b * s) * s + b * c),
            ),
            "Both new halves are made from the old ones. Was the first half "
            "overwritten before the second was computed?",
        ),
    ),
)
