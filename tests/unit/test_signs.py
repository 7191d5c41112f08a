"""What a check says of wrong results that no known mistake explains."""

import math

import pytest
import torch

from helpers import checks
from helpers.checks.calling import Outcome, call, plain_call
from helpers.checks.cases import Case
from helpers.checks.harm import harm_of
from helpers.checks.signs import signs

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
            lambda x: x.unflatten(2, (2, 2)),
            WIDE,
            "The numbers are right, but there is an axis too many: flatten(2, 3) makes",
        ),
        (
            lambda x: x.permute(2, 0, 1),
            WIDE,
            "The numbers are right, but their axes stand in another order.",
        ),
    ],
)
def test_what_became_of_every_number_is_told(change, right, sentence):
    torch.manual_seed(3)
    found = told([change(right), change(right)], [right, right])
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
    assert sentence in told([yours, yours], [right, right])


def test_only_what_holds_of_all_wrong_results_is_told():
    factor = "Every number is too large, by a factor of 3."
    assert factor in told([3 * WIDE, 3 * DRAWN], [WIDE, DRAWN])
    assert factor not in told([3 * WIDE, DRAWN + 1], [WIDE, DRAWN])


def test_a_factor_is_named_after_the_argument_that_it_is():
    keys = torch.ones(5, 16)
    (found, _) = told([WIDE * 4], [WIDE], keys=keys)
    assert found == "Every number is the right one times the root of keys.shape[-1]."


def test_a_factor_below_1_makes_nothing_larger():
    """A number divided by the root of a quarter is too large."""
    found = told([4.0, 6.0], [2.0, 3.0], variance=0.25)
    assert found[0] == "Every number is the right one divided by the root of variance."
    assert not any("small" in one for one in found)


def test_results_in_another_order_are_told():
    names = ("context", "weights")
    assert told([(DRAWN, WIDE)], [(WIDE, DRAWN)], names) == [
        "The results came in another order than context, weights."
    ]


def test_the_part_that_is_wrong_is_told():
    yours, right = (WIDE, 2 * DRAWN), (WIDE, DRAWN)
    found = told([yours] * 2, [right] * 2, ("context", "weights"))
    assert found[0] == "Right: context. Wrong: weights."
    assert found[1].startswith("weights: Every number is too large")


def test_the_inputs_that_go_wrong_are_told():
    large, small = torch.full((2, 2), 300.0), torch.ones(2, 2)
    cases = [Case("one", {"scores": x}) for x in 3 * (small, large)]
    rights = [Outcome(value=torch.tensor(1.0))] * 6
    outcomes = [Outcome(value=torch.tensor(x)) for x in (1.0, 0.3, 1.0, 0.7, 1.0, 0.2)]
    sentence = "It goes wrong where scores has large numbers, and only there."
    assert signs(cases, outcomes, rights, ["loss"])[-1] == sentence
    assert sentence not in signs(cases[:4], outcomes[:4], rights[:4], ["loss"])


def where(*inputs):
    """What is told of inputs, each arguments and whether the result is right."""
    cases = [Case("one", arguments) for arguments, _ in inputs]
    rights = [Outcome(value=1.0)] * len(cases)
    outcomes = [Outcome(value=1.0 if good else 0.3) for _, good in inputs]
    return signs(cases, outcomes, rights, ["loss"])


def test_a_batch_is_told_before_what_few_inputs_share_by_chance():
    one, two = torch.ones(1, 2, 3), torch.full((2, 2, 3), 300.0)
    found = where(*[({"heads": one}, True), ({"heads": two}, False)] * 3)
    assert found[-1] == (
        "It goes wrong where the first axis of heads has more than one item, and only "
        "there."
    )


def test_two_features_of_chance_are_no_reason():
    square, other = torch.ones(1, 1), torch.ones(2, 3)
    found = where(*[({"x": square}, False), ({"x": other}, True)] * 3)
    assert not any("only there" in one for one in found)


@pytest.mark.parametrize("special", [0, 1])
def test_what_is_right_with_a_number_of_0_or_1_alone_gives_no_reason(special):
    numbers = [special, 2, special, 3, special, 4]
    right = [({"processes": n}, n == special) for n in numbers]
    wrong = [({"processes": n}, n != special) for n in numbers]
    assert not any("only there" in one for one in where(*right))
    assert where(*wrong)[-1] == (
        f"It goes wrong where processes is {special}, and only there."
    )


def test_a_matrix_of_weights_is_no_sequence():
    same = {"x": torch.ones(3, 2), "W_query": torch.ones(3, 2)}
    longer = {"x": torch.ones(5, 2), "W_query": torch.ones(3, 2)}
    assert not any(
        "W_query" in one for one in where(*[(same, False), (longer, True)] * 3)
    )


def test_inputs_that_ask_for_other_parts_are_compared_in_the_common_ones():
    cases = [Case(f"input {i}", {}) for i in range(2)]
    rights = [{"count": 1, "a": 2.0}, {"count": 3, "b": 4.0}]
    wrong = [{"count": 2, "a": 2.0}, {"count": 5, "b": 4.0}]
    outcomes, expected = (
        [Outcome(value=one) for one in ones] for ones in (wrong, rights)
    )
    assert isinstance(signs(cases, outcomes, expected, ["count"]), list)


def test_what_is_kept_from_an_earlier_input_is_told():
    kept = "It is the result for an earlier input: something is kept."
    rights = [WIDE, DRAWN, 2 * WIDE, 3 * WIDE]
    assert told([WIDE, DRAWN, WIDE, WIDE], rights)[0] == kept
    assert kept not in told([WIDE, DRAWN, WIDE], rights[:3]), "a single one"
    assert kept not in told([0.0, 0.0, 0.0], [0.0, 1.5, 2.5]), "0 comes by chance"


@pytest.mark.parametrize(
    ("yours", "right", "words"),
    [
        (DRAWN / DRAWN.sum((-1, -2), keepdim=True), DRAWN, "have the same sum"),
        (DRAWN[0] / DRAWN[0].sum(), DRAWN[0], "together sum to 1"),
        (DRAWN / DRAWN.sum(-2, keepdim=True), DRAWN, "columns sum to 1"),
        (2.0, 2.5, "cut to a whole one"),
    ],
)
def test_what_a_single_wrong_result_may_show_by_chance_is_not_told(yours, right, words):
    assert any(words in one for one in told([yours] * 2, [right] * 2))
    assert not any(words in one for one in told([yours], [right]))


def test_rows_of_zeros_beside_a_right_one_are_no_sum_over_everything():
    right = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    yours = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    assert not any("together" in one for one in told([yours] * 2, [right] * 2))


def test_what_adds_nothing_to_another_sentence_is_left_out():
    found = told([DRAWN / DRAWN.sum()] * 2, [DRAWN] * 2)
    assert found[1:] == ["All numbers together sum to 1, where each row should."]
    (found,) = told([WIDE[:, None]] * 2, [WIDE] * 2)
    assert found.endswith("an axis too many: flatten(0, 1) makes one of two.")


def test_a_part_that_is_right_with_any_weights_is_not_called_right():
    names, equal = ("context", "weights"), torch.ones(3, 2)
    yours, right = (WIDE, 2 * DRAWN), (WIDE, DRAWN)
    assert told([yours] * 2, [right] * 2, names)[0].startswith("Right: context.")
    found = told([yours] * 2, [right] * 2, names, values=equal)
    assert not any(one.startswith("Right") for one in found)
    assert not any(one.startswith("Right") for one in told([yours], [right], names))


def test_an_error_comes_before_what_must_hold_of_other_results():
    cases = [Case(f"input {i}", {}) for i in range(2)]
    right, wrong = ({"its message": one, "the error": one} for one in (True, False))
    rights = [Outcome(value=[1]), Outcome(value=right)]
    outcomes = [Outcome(error=ValueError()), Outcome(value=wrong)]
    assert signs(cases, outcomes, rights, ["ids"]) == []
    assert signs(cases[1:], outcomes[1:], rights[1:], ["ids"]) == [
        "Wrong: its message; the error."
    ]


def test_tensors_in_a_dict_have_signs():
    right = {"starts": 3, "weights": WIDE}
    found = told([right | {"weights": -WIDE}] * 2, [right] * 2)
    assert found == ["weights: Every number has the wrong sign."]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda x: x.permute(0, 2, 1, 3),
            "The numbers are right, but two axes are exchanged: the third axis from "
            "last and the last axis but one.",
        ),
        (
            lambda x: x.transpose(-1, -2).reshape(x.shape),
            "The numbers stand as if the last axis but one and the last axis had been "
            "exchanged without moving the numbers: reshape and view leave them in "
            "their order.",
        ),
        (
            lambda x: x[..., [0, 2, 4, 1, 3, 5]],
            "The right numbers came, but along the last axis every one of 2 in turn "
            "comes first.",
        ),
    ],
)
def test_a_rearrangement_is_named(change, sentence):
    right = torch.arange(2.0 * 3 * 4 * 6).view(2, 3, 4, 6)
    assert told([change(right)] * 2, [right] * 2)[0] == sentence


def test_what_a_count_is_off_by_is_told_in_the_arguments():
    cases = [Case(f"{d}", {"d_model": d, "num_heads": 6}) for d in (12, 32)]
    rights = [Outcome(value=1000), Outcome(value=9000)]
    outcomes = [Outcome(value=1000 - 7 * 12), Outcome(value=9000 - 7 * 32)]
    assert signs(cases, outcomes, rights, ["count"])[0] == (
        "The number is too small by 7 times d_model."
    )
    one = signs(cases[:1], outcomes[:1], rights[:1], ["count"])
    alike = signs(cases[:1] * 2, outcomes[:1] * 2, rights[:1] * 2, ["count"])
    assert not any("times" in fact for fact in [*one, *alike])


def test_what_is_right_has_no_signs():
    assert told([DRAWN, WIDE], [DRAWN, WIDE]) == []


# --- with the book's own checks -------------------------------------------------------


def test_what_changes_from_call_to_call_is_told():
    made = []

    def counts(d_model, *others, **named):
        made.append(d_model)
        return sum(made)

    assert checks.block_parameters.examine(counts).signs[0] == (
        "A second call with the same input gives something else."
    )


def test_zeros_that_any_factor_leaves_alone_are_no_sign():
    def one_round_in_bits(numbers, bytes_each, processes, sharded):
        share = (processes - 1) / processes
        return 8 * bytes_each * numbers * share * (3 if sharded else 1)

    found = checks.step_bytes.examine(one_round_in_bits)
    assert found.mistake is None
    assert not any("only there" in one for one in found.signs)


def test_layers_that_a_function_freezes_are_no_changed_numbers():
    def freezes(heads):
        for head in heads:
            head.requires_grad_(False)

    heads = [torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)]
    (line,) = harm_of([call(freezes, {"heads": heads}, run=plain_call)])
    assert "changes the layers in its argument heads" in line
    assert "clone()" not in line


def test_whole_numbers_that_became_floats_are_not_off():
    right = torch.tensor([4, 3, 4])
    assert not told([right.float()], [right])
