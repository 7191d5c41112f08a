"""Exercise of chapter 12: a vector for each place."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.angle_mistakes import (
    angle_mistakes,
    angles_of,
)
from helpers.models import positions


def _sizes():
    return [
        Case("three places, one pair", {"T": 3, "d_model": 2}),
        Case("two places, two pairs", {"T": 2, "d_model": 4}),
        Case("one place", {"T": 1, "d_model": 6}),
        Case("five places, three pairs", {"T": 5, "d_model": 6}),
        Case("200 places, eight pairs", {"T": 200, "d_model": 16}),
        # bfloat16 has no 257; a single pair has speed 1, so that nothing else rounds.
        Case("300 places, one pair", {"T": 300, "d_model": 2}),
    ]


def _vectors(T, d_model, **options):
    """The sines and the cosines, (T, C / 2) each."""
    angles = angles_of(T, d_model, **options)
    return angles.sin(), angles.cos()


def _in_turn(one, other):
    return torch.stack([one, other], dim=-1).flatten(-2)


def _a_speed_for_each_feature(T, d_model):
    features = torch.arange(d_model)
    angles = torch.outer(torch.arange(T).float(), 10_000.0 ** (-features / d_model))
    return torch.where(features % 2 == 0, angles.sin(), angles.cos())


def _vectors_at(speeds):
    """The right vectors, but for the pairs' speeds."""
    return lambda T, d_model: _in_turn(*_vectors(T, d_model, speeds=speeds))


def _zeros_at_place_0(T, d_model):
    vectors = _in_turn(*_vectors(T, d_model))
    vectors[0] = 0.0
    return vectors


_CUT_OFF = (
    "The table holds whole numbers, maybe because it was made like the places. Make it "
    "of floats: torch.zeros(T, C)."
)


EXERCISE = Exercise(
    name="sinusoidal_positions",
    stub="my_sinusoidal_positions(T, d_model)",
    asks=(
        "a function of the number of places, which begin at 0, and of an even width "
        "that returns a vector for each place: the sine and the cosine of each pair's "
        "angle, side by side."
    ),
    returns={"vectors": "(T, C)"},
    reference=lambda T, d_model: positions.sinusoidal_positions(0, T, d_model),
    cases=_sizes,
    constants=(10_000,),
    mistakes=(
        Mistake(
            "all sines in front of all cosines",
            lambda T, d_model: torch.cat(_vectors(T, d_model), dim=-1),
            "The angles are right. Feature 2n is the sine of pair n and feature 2n + 1 "
            "its cosine, so the two stand side by side.",
        ),
        Mistake(
            "the cosine in front of the sine",
            lambda T, d_model: _in_turn(*reversed(_vectors(T, d_model))),
            "At place 0 each pair must be 0, 1: the sine comes first.",
        ),
        Mistake(
            "places counted from 1",
            lambda T, d_model: _in_turn(*_vectors(T, d_model, first=1)),
            "The first place is 0, where every angle is 0.",
        ),
        Mistake(
            "place 0 left at zeros",
            _zeros_at_place_0,
            "Place 0 is a place like any other. The sine of 0 is 0, but its cosine is "
            "1.",
        ),
        *angle_mistakes("C", _vectors_at),
        Mistake(
            "a speed for each feature in place of each pair",
            _a_speed_for_each_feature,
            "Sine and cosine of a pair belong to one angle. Yours differ in speed, so "
            "they are no point on a circle any more.",
        ),
        Mistake(
            "sines and cosines stacked along the first axis",
            lambda T, d_model: torch.stack(_vectors(T, d_model)).reshape(T, d_model),
            "reshape reads all the sines before it comes to a cosine. Stack along the "
            "last axis, dim=-1, so that each sine has its cosine beside it.",
        ),
        Mistake(
            "sines and cosines cut off to whole numbers",
            lambda T, d_model: _in_turn(*_vectors(T, d_model)).trunc(),
            _CUT_OFF,
        ),
        Mistake(
            "sines and cosines cut off to whole numbers",
            lambda T, d_model: _in_turn(*_vectors(T, d_model)).long(),
            _CUT_OFF,
        ),
    ),
)
