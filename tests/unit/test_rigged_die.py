"""Throws of the rigged die: the rule they follow, and their vectors."""

import math

import pytest
import torch

from helpers.text import rigged_die
from helpers.text.rigged_die import throw, vectors_of


@pytest.fixture(scope="module")
def throws():
    torch.manual_seed(1)
    return throw(20_000)


def test_five_in_six_follow_the_rule_and_the_others_are_even(throws):
    assert throws.shape == (20_000, rigged_die.LENGTH)
    off = (throws[:, 2:] - throws[:, :-2] - 1) % rigged_die.FACES
    shares = off.flatten().bincount(minlength=6) / off.numel()
    expected = torch.tensor([5 / 6] + 5 * [1 / 30])
    torch.testing.assert_close(shares, expected, rtol=0, atol=0.005)


def test_the_first_two_throws_are_fair(throws):
    for t in (0, 1):
        shares = throws[:, t].bincount(minlength=6) / len(throws)
        torch.testing.assert_close(shares, torch.full((6,), 1 / 6), rtol=0, atol=0.015)


def test_who_knows_the_die_has_the_best_loss():
    best = -5 / 6 * math.log(5 / 6) - 1 / 6 * math.log(1 / 30)
    assert round(best, 2) == 0.72
    assert "0.72 nats" in rigged_die.__doc__


def test_a_vector_holds_the_face_and_the_position():
    x = vectors_of(torch.tensor([[4, 0, 5], [1, 1, 2]]))
    assert x.shape == (2, 3, 14)
    assert x[..., :6].argmax(dim=-1).tolist() == [[4, 0, 5], [1, 1, 2]]
    assert x[..., 6:].argmax(dim=-1).tolist() == [[0, 1, 2]] * 2
    assert (x.sum(dim=-1) == 2).all()


@pytest.mark.parametrize("count", [0, -1, 2.5, True])
def test_a_count_that_is_none_is_named(count):
    with pytest.raises(ValueError, match="count must be an integer of at least 1"):
        throw(count)


@pytest.mark.parametrize("shape", [(4,), (2, 9), (1, 2, 3)])
def test_throws_of_another_shape_are_named(shape):
    with pytest.raises(ValueError, match=r"throws must have shape \(B, T\)"):
        vectors_of(torch.zeros(shape, dtype=torch.long))


@pytest.mark.parametrize(
    ("throws", "message"),
    [
        ([[1]], "throws must be a torch.Tensor, got list"),
        (torch.rand(2, 3), "throws must be torch.int64 from 0 to 5, got torch.float32"),
        (torch.full((1, 2), 7), "from 0 to 5, got torch.int64 from 7 to 7"),
    ],
)
def test_throws_that_are_no_faces_are_named(throws, message):
    with pytest.raises(ValueError, match=message):
        vectors_of(throws)
