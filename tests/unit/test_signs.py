"""What a check says of wrong results that no known mistake explains."""

import math

import pytest
import torch

from helpers.checks.calling import Outcome
from helpers.checks.cases import Case
from helpers.checks.signs import besides, signs

DRAWN = torch.rand(2, 3, 3, generator=torch.Generator().manual_seed(1)).softmax(-1)
WIDE = torch.rand(2, 3, 4, generator=torch.Generator().manual_seed(2))
CAUSAL = DRAWN.tril() / DRAWN.tril().sum(-1, keepdim=True)


def told(yours, right, names=("weights",), **arguments):
    """The signs of one or several wrong results, each beside the right one."""
    pairs = zip(yours, right, strict=True)
    cases = [Case(f"input {i}", arguments) for i, _ in enumerate(yours)]
    both = [[Outcome(value=value) for value in pair] for pair in pairs]
    outcomes, rights = zip(*both, strict=True)
    return signs(cases, outcomes, rights, names)


@pytest.mark.parametrize(
    ("change", "right", "sentence"),
    [
        (lambda x: x.transpose(-1, -2), DRAWN, "Rows and columns are exchanged."),
        (lambda x: -x, DRAWN, "Every number has the wrong sign."),
        (lambda x: 3 * x, WIDE, "Every number is too large, by a factor of 3."),
        (lambda x: x / 3, WIDE, "Every number is too small, by a factor of 3."),
        (lambda x: x + 2, WIDE, "The same number is added to every right one."),
        (torch.log, DRAWN, "Each number is the logarithm of the right one."),
        (lambda x: 1 - x, DRAWN, "Each number is 1 minus the right one."),
        (torch.zeros_like, DRAWN, "Every number is 0."),
        (
            lambda x: x.softmax(-1),
            DRAWN,
            "It is the softmax of the right numbers: softmax was taken twice.",
        ),
        (
            lambda x: x.flip(-2),
            WIDE,
            "The numbers come in reverse order along the last axis but one.",
        ),
        (
            lambda x: x.roll(1, -1),
            WIDE,
            "Each number comes one place too late along the last axis.",
        ),
        (
            lambda x: x.flatten()[torch.randperm(x.numel())].view_as(x),
            WIDE,
            "The right numbers came out, at wrong places.",
        ),
        (
            lambda x: x / x.sum(-2, keepdim=True),
            DRAWN,
            "The columns sum to 1, where the rows should.",
        ),
        (
            lambda x: x / x.sum(),
            DRAWN,
            "All numbers together sum to 1, where each row should.",
        ),
        (
            lambda x: x.masked_fill(x == 0, 1e-4),
            CAUSAL,
            "A little is left where 0 must stand.",
        ),
        (
            lambda x: x * (1 + 1e-3 * torch.rand_like(x)),
            WIDE,
            "Every number is off by little: something small was added, or numbers "
            "were rounded on the way.",
        ),
        (
            lambda x: x.where(x < 0.9, math.nan),
            WIDE,
            "Some numbers are NaN; all others are right.",
        ),
        (lambda x: x * math.nan, WIDE, "Every number is NaN."),
        (lambda x: ~x, CAUSAL > 0, "True and False are exchanged everywhere."),
        (
            lambda x: x.clone().fill_diagonal_(False) if x.dim() == 2 else x,
            (CAUSAL > 0)[0],
            "Only the diagonal is wrong.",
        ),
        (lambda x: x.flatten(), WIDE, "The numbers are right, in another shape."),
        (
            lambda x: x.permute(2, 0, 1),
            WIDE,
            "The numbers are right, but their axes stand in another order.",
        ),
    ],
)
def test_what_became_of_every_number_is_told(change, right, sentence):
    torch.manual_seed(3)
    found = told([change(right)], [right])
    assert any(one.startswith(sentence) for one in found), found


@pytest.mark.parametrize(
    ("yours", "right", "sentence"),
    [
        (7, 8, "The number is one too small."),
        (-2.5, 2.5, "The number has the wrong sign."),
        (2.0, 2.5, "The number was cut to a whole one."),
        (math.nan, 2.5, "NaN comes out, not a number."),
        ([3, 4, 5], [2, 3, 4], "Every number is 1 too large."),
        ("olleh", "hello", "It comes in reverse order."),
        ("hell", "hello", "The last character is missing."),
        ([2, 3], [1, 2, 3], "The first item is missing."),
        ("hello", "Hello", "Every letter became a small one."),
    ],
)
def test_numbers_and_texts_have_signs_of_their_own(yours, right, sentence):
    assert sentence in told([yours], [right])


def test_only_what_holds_of_all_wrong_results_is_told():
    factor = "Every number is too large, by a factor of 3."
    assert factor in told([3 * WIDE, 3 * DRAWN], [WIDE, DRAWN])
    assert factor not in told([3 * WIDE, DRAWN + 1], [WIDE, DRAWN])


def test_a_factor_is_named_after_the_argument_that_it_is():
    keys = torch.ones(5, 16)
    (found, _) = told([WIDE * 4], [WIDE], keys=keys)
    assert found == (
        "Every number is too large, by a factor of the root of the length of the last "
        "axis of keys."
    )


def test_results_in_another_order_are_told():
    names = ("context", "weights")
    assert told([(DRAWN, WIDE)], [(WIDE, DRAWN)], names) == [
        "The results came in another order than context, weights."
    ]


def test_the_part_that_is_wrong_is_told():
    found = told([(WIDE, 2 * DRAWN)], [(WIDE, DRAWN)], ("context", "weights"))
    assert found[0] == "Right: context. Wrong: weights."
    assert found[1].startswith("weights: Every number is too large")


def test_the_inputs_that_go_wrong_are_told():
    large, small = torch.full((2, 2), 300.0), torch.ones(2, 2)
    cases = [Case("one", {"scores": x}) for x in (small, large, small, large)]
    rights = [Outcome(value=torch.tensor(1.0))] * 4
    outcomes = [Outcome(value=torch.tensor(value)) for value in (1.0, 0.3, 1.0, 0.7)]
    assert signs(cases, outcomes, rights, ["loss"])[-1] == (
        "It goes wrong where scores has large numbers, and only there."
    )


def test_what_is_kept_from_an_earlier_input_is_told():
    rights = [WIDE, DRAWN, 2 * WIDE]
    assert told([WIDE, DRAWN, WIDE], rights)[0] == (
        "It is the result for an earlier input: something is kept."
    )


def test_what_is_right_has_no_signs():
    assert told([DRAWN, WIDE], [DRAWN, WIDE]) == []


def test_a_mistake_and_one_thing_besides_are_told_apart():
    cases = [Case(f"input {i}", {"keys": torch.ones(3, 9)}) for i in range(3)]
    known = [Outcome(value=one) for one in (DRAWN, WIDE, CAUSAL)]
    tripled = [Outcome(value=3 * one.value) for one in known]
    assert besides(cases, tripled, known, ["weights"]).startswith(
        "Every number is too large, by a factor of"
    )
    assert besides(cases, known, known, ["weights"]) is None
    odd = [*tripled[:2], Outcome(value=CAUSAL + 0.1)]
    assert besides(cases, odd, known, ["weights"]) is None
