"""What the page Cross-attention says of other seeds, rates and models."""

import datetime
import random

import pytest
import torch
import torch.nn.functional as F

from experiments import dates as experiment
from helpers.recorded import results
from helpers.text import dates
from tests.book.test_notebooks import CHAPTERS
from tools import notebooks

RUNS = results.record("dates")["runs"]
LOOKED_UP = (2, 3, 6, 9)  # the last digits of year, month and day
LOCAL, PLACE, EQUAL, EQUAL_MLP, MIXED = experiment.SIDES


def of(measure, side, rate=experiment.RATE):
    """One row for each seed."""
    runs = [run for run in RUNS if (run["side"], run["rate"]) == (side, rate)]
    return torch.tensor([run[measure] for run in runs])


def test_the_record_lacks_nothing():
    assert experiment.wanted({"runs": RUNS}) == []


def test_the_models_of_the_page_and_of_the_record_are_one():
    cells = {
        cell.id: cell.source
        for cell in notebooks.read(CHAPTERS / "cross_attention.ipynb").cells
    }
    imports = cells["setup"].partition("# The imports of this notebook")[2]
    program = "\n".join([imports, cells["cross-attention-class"], cells["model"]])
    page = {}
    exec(program, page)  # noqa: S102
    torch.manual_seed(3)
    theirs = page["DateReader"]()
    torch.manual_seed(3)
    ours = experiment.DateReader()
    for (name, one), (other_name, other) in zip(
        theirs.state_dict().items(), ours.state_dict().items(), strict=True
    ):
        assert name == other_name
        assert torch.equal(one, other)
    day = datetime.date(1994, 3, 27)
    ids, mask, targets, _ = experiment.make_batch([(day, one) for one in dates.FORMS])
    before = experiment.before(targets)
    with torch.no_grad():
        for one, other in zip(
            theirs(ids, mask, before), ours(ids, mask, before), strict=True
        ):
            torch.testing.assert_close(one, other)


def test_it_reads_nearly_all_dates_from_every_seed_and_most_at_other_rates():
    assert of("exact", LOCAL).min() > 0.99
    low, middle, high = experiment.RATES
    assert (low * 3, high) == pytest.approx((middle, middle * 3), rel=0.02)
    assert of("exact", LOCAL, low).min() > 0.97
    assert of("exact", LOCAL, high).min() > 0.9


def test_what_was_written_is_not_needed():
    assert of("exact", PLACE).min() > 0.98


def test_exchanged_rows_exchange_month_and_day_from_every_seed():
    difference = of("swapped", LOCAL) - of("exact", LOCAL)
    assert difference.abs().max() < 0.005
    assert of("others_map", LOCAL).max() < 0.02


def test_what_must_be_looked_up_is_in_reach_from_every_seed():
    assert of("reach", LOCAL)[:, LOOKED_UP].min() > 0.94
    assert of("control", LOCAL)[:, LOOKED_UP].max() < 0.6


def test_equal_weights_fail_without_an_mlp_and_not_with_one():
    for rate in experiment.RATES:
        assert of("exact", EQUAL, rate).max() < 0.01
        assert 0.8 < of("exact", EQUAL_MLP, rate).min() < 0.97


def test_a_digit_goes_with_the_letters_looked_at_and_not_with_the_others():
    for measure, least in {"stays": 0.99, "follows": 0.9}.items():
        year, _, day = of(measure, LOCAL)[:, LOOKED_UP[1:]].amin(dim=0)
        assert year > least
        assert day > least
    assert of("stays", LOCAL)[:, LOOKED_UP].min() > 0.99
    assert 0.5 < of("follows", LOCAL)[:, 6].min() < 0.6


def test_behind_self_attention_a_map_may_tell_less():
    assert of("exact", MIXED).min() > 0.97
    day = of("stays", MIXED)[:, 9]
    assert day.min() < 0.8 < 0.95 < day.median()


def test_how_well_a_new_form_is_read_depends_on_the_seed():
    spread = of("new", LOCAL)
    assert (spread.amax(dim=0) - spread.amin(dim=0)).max() > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_without_the_mask_more_padding_does_more_harm(seed):
    held_out, days = experiment.split_dates()
    torch.manual_seed(seed)
    model = experiment.DateReader()
    experiment.train(model, days, experiment.RATE)
    batch = experiment.draw(held_out, 2000, random.Random(999))
    short = batch.mask.sum(dim=-1).flatten() <= 16
    right = []
    for S in (16, 20, 24, 30):
        ids = F.pad(batch.ids[short], (0, 30))[:, :S]
        no_mask = torch.ones(len(ids), 1, S, dtype=torch.bool)
        answers, _ = experiment.write(model, ids, no_mask)
        right.append(experiment.share_exact(answers, batch.targets[short]))
    assert right == sorted(right, reverse=True)
    assert right[0] - right[-1] > 0.05


@pytest.mark.slow
def test_what_the_record_says_of_changed_texts_can_be_trained_again():
    settings = {"side": LOCAL, "rate": experiment.RATE, "seed": 1}
    run = experiment.train_one(settings)
    (recorded,) = [one for one in RUNS if settings.items() <= one.items()]
    for measure in ("stays", "follows"):  # other seeds differ by up to 0.5
        assert run[measure] == pytest.approx(recorded[measure], abs=0.06)
