"""Exercise of chapter 12: a vector for each place."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.models import positions


def _sizes():
    return [
        Case("three places, one pair", {"T": 3, "d_model": 2}),
        Case("two places, two pairs", {"T": 2, "d_model": 4}),
        Case("one place", {"T": 1, "d_model": 6}),
        Case("five places, three pairs", {"T": 5, "d_model": 6}),
        Case("200 places, eight pairs", {"T": 200, "d_model": 16}),
    ]


def _angles(T, d_model, *, exponent=2.0, first=0):
    pairs = torch.arange(d_model // 2)
    places = torch.arange(first, first + T)
    return torch.outer(places.float(), 10_000.0 ** (-exponent * pairs / d_model))


def _vectors(T, d_model, **options):
    """The sines and the cosines, (T, C / 2) each."""
    angles = _angles(T, d_model, **options)
    return angles.sin(), angles.cos()


def _in_turn(one, other):
    return torch.stack([one, other], dim=-1).flatten(-2)


def _a_speed_for_each_feature(T, d_model):
    features = torch.arange(d_model)
    angles = torch.outer(torch.arange(T).float(), 10_000.0 ** (-features / d_model))
    return torch.where(features % 2 == 0, angles.sin(), angles.cos())


def _slowest_first(T, d_model):
    sines, cosines = _vectors(T, d_model)
    return _in_turn(sines.flip(-1), cosines.flip(-1))


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
    mistakes=(
        Mistake(
            "all sines in front of all cosines",
            lambda T, d_model: torch.cat(_vectors(T, d_model), dim=-1),
            "The angles are right. Feature 2i is the sine of pair i and feature 2i + 1 "
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
            "one speed for all pairs",
            lambda T, d_model: _in_turn(*_vectors(T, d_model, exponent=0.0)),
            "Every pair turns by one radian a place, so after about six places all "
            "begin anew together. Pair i is slower by the factor 10000^(-2i / C).",
        ),
        Mistake(
            "pairs that slow down half as fast",
            lambda T, d_model: _in_turn(*_vectors(T, d_model, exponent=1.0)),
            "The exponent is -2i / C for pair i, not -i / C: there are C / 2 pairs.",
        ),
        Mistake(
            "pairs that slow down twice as fast",
            lambda T, d_model: _in_turn(*_vectors(T, d_model, exponent=4.0)),
            "The exponent is -2i / C for pair i. Yours is twice that: did you divide "
            "by the number of pairs, or count features by twos, and double once more?",
        ),
        Mistake(
            "pairs that speed up",
            lambda T, d_model: _in_turn(*_vectors(T, d_model, exponent=-2.0)),
            "The sign of the exponent is wrong: the later pairs must be slower, not "
            "thousands of times as fast.",
        ),
        Mistake(
            "the slowest pair first",
            _slowest_first,
            "The pairs stand in the opposite order: pair 0 is the fastest, one radian "
            "a place.",
        ),
        Mistake(
            "a speed for each feature in place of each pair",
            _a_speed_for_each_feature,
            "Sine and cosine of a pair belong to one angle. Yours differ in speed, so "
            "they are no point on a circle any more.",
        ),
        Mistake(
            "sines alone",
            lambda T, d_model: _in_turn(*[_vectors(T, d_model)[0]] * 2),
            "Each angle needs its cosine too: a sine alone doesn't tell 30 degrees "
            "from 150.",
        ),
        Mistake(
            "the angles themselves",
            lambda T, d_model: _in_turn(*[_angles(T, d_model)] * 2),
            "These are the angles; a vector holds their sines and cosines.",
        ),
    ),
)
