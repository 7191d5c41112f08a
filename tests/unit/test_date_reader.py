"""The models that read dates: what a row of their memory knows, and what counts."""

import datetime

import pytest
import torch
import torch.nn.functional as F

from experiments import dates as experiment
from helpers.text import dates

LOCAL, PLACE, EQUAL, EQUAL_MLP, MIXED = experiment.SIDES
DAY = datetime.date(1994, 3, 27)


def batch_of(*forms):
    return experiment.make_batch([(DAY, form) for form in forms])


def model_of(side=LOCAL):
    torch.manual_seed(1)
    return experiment.DateReader(side)


def changed_rows(side, place):
    """The rows of the memory that a change of one letter changes."""
    ids, mask, *_ = batch_of("{Wd}, {day} {Month} {yy}")
    other = ids.clone()
    other[0, place] = experiment.LETTERS.encode("Z")[0]
    model = model_of(side)
    with torch.no_grad():
        moved = model.encode(ids, mask) - model.encode(other, mask)
    return moved.abs().amax(dim=-1)[0].gt(1e-5).nonzero().flatten().tolist()


def test_a_row_of_the_memory_knows_five_letters():
    assert changed_rows(LOCAL, 8) == [6, 7, 8, 9, 10]
    assert changed_rows(LOCAL, 0) == [0, 1, 2]


def test_behind_self_attention_a_row_knows_the_whole_text():
    assert changed_rows(MIXED, 8) == list(range(16))


@pytest.mark.parametrize("side", experiment.SIDES)
def test_padding_changes_nothing(side):
    short, long = "{day}.{month}.{yy}", "{Weekday}, {Month} {day}, {year}"
    alone, padded = batch_of(short), batch_of(short, long)
    assert padded.mask.sum(dim=-1).flatten().tolist() == [7, 22]
    model = model_of(side)
    with torch.no_grad():
        one, _ = model(*alone[:2], experiment.before(alone.targets))
        both, _ = model(*padded[:2], experiment.before(padded.targets))
    torch.testing.assert_close(one[0], both[0])


@pytest.mark.parametrize("side", experiment.SIDES)
def test_a_character_is_predicted_without_those_to_come(side):
    ids, mask, targets, _ = batch_of(dates.FORMS[0])
    model = model_of(side)
    with torch.no_grad():
        before = experiment.before(targets)
        whole, _ = model(ids, mask, before)
        some, _ = model(ids, mask, before[:, :4])
    torch.testing.assert_close(whole[:, :4], some)


def test_what_stands_before_an_answer_is_the_start():
    targets = torch.tensor([experiment.DIGITS.encode("1994-03-27")])
    assert experiment.DIGITS.decode(experiment.before(targets)[0]) == ">1994-03-2"


def test_only_the_side_that_may_not_choose_gives_equal_weights():
    ids, mask, targets, _ = batch_of(dates.FORMS[8], dates.FORMS[0])
    for side in experiment.SIDES:
        with torch.no_grad():
            _, weights = model_of(side)(ids, mask, experiment.before(targets))
        assert weights.shape == (2, 1, 10, 16)
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 1, 10))
        assert not weights[0, :, :, 7:].any()
        spread = (weights[1].amax() - weights[1].amin()).item()
        assert (spread < 1e-6) == (side in (EQUAL, EQUAL_MLP))


def test_the_place_alone_ignores_what_was_written():
    ids, mask, targets, _ = batch_of(dates.FORMS[0])
    other = (experiment.before(targets) + 1) % 12
    for side in (LOCAL, PLACE):
        model = model_of(side)
        with torch.no_grad():
            one, _ = model(ids, mask, experiment.before(targets))
            two, _ = model(ids, mask, other)
        assert torch.equal(one, two) == (side == PLACE)


def test_near_a_part_are_its_letters_and_those_beside():
    *_, written = batch_of("{day}.{Mon}.{year}")  # 27.Mar.1994
    on = experiment.near_parts(written, 12, 0)[0].int().tolist()
    assert on[0] == [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0]
    assert on[4] == [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert on[5] == [0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    reach = experiment.near_parts(written, 12, 2)[0].int().tolist()
    assert reach[6] == [0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert reach[9] == [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]


def test_no_held_out_date_is_learned_from():
    held_out, days = experiment.split_dates()
    assert len(held_out) == experiment.HELD_OUT
    assert sorted(held_out + days) == dates.every_date()


@pytest.mark.slow
def test_a_run_gives_again_what_it_gave(monkeypatch):
    monkeypatch.setattr(experiment, "STEPS", 4)
    monkeypatch.setattr(experiment, "HELD_OUT", 1_000)
    settings = {"side": LOCAL, "rate": 0.01, "seed": 3}
    run = experiment.train_one(settings)
    assert run == experiment.train_one(settings)
    assert run["exact"] == 0
    assert [len(run[name]) for name in ("on", "reach", "control")] == [10, 10, 10]
    assert len(run["new"]) == len(experiment.NEW_FORMS)
    assert all(a <= b for a, b in zip(run["on"], run["reach"], strict=True))


def test_where_no_date_is_written_alike_an_error_says_so(monkeypatch):
    monkeypatch.setattr(experiment, "MOST_DRAWS", 50)
    with pytest.raises(ValueError, match=r"days must hold .* among 1$"):
        experiment.same_shape([(DAY, dates.FORMS[0])], [DAY])


def test_each_character_is_written_behind_the_models_own():
    def counting(ids, mask, written):
        return F.one_hot((written + 1) % 12, 12).float(), mask

    ids, mask, *_ = batch_of(*dates.FORMS[:2])
    answers, _ = experiment.write(counting, ids, mask)
    assert [experiment.DIGITS.decode(one) for one in answers] == ["0123456789"] * 2


def test_one_wrong_character_makes_an_answer_wrong():
    targets = torch.tensor([[1, 2, 3], [4, 5, 6]])
    answers = torch.tensor([[1, 2, 3], [4, 5, 0]])
    assert experiment.share_exact(answers, targets) == 0.5


def test_training_lowers_the_loss(monkeypatch):
    monkeypatch.setattr(experiment, "STEPS", 60)
    torch.manual_seed(0)
    losses = experiment.train(experiment.DateReader(), [DAY], 0.01)
    assert losses[0] > 2 > 1 > losses[-1]
