"""What the page Cross-attention says of other seeds, rates and models."""

import datetime
import random

import pytest
import torch

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


def test_behind_self_attention_a_map_may_look_elsewhere_and_new_forms_are_lost():
    assert of("exact", MIXED).min() > 0.97
    day_in_reach = of("reach", MIXED)[:, 9]
    assert day_in_reach.min() < 0.75 < of("reach", LOCAL)[:, 9].min()
    year_first, weekday_first = of("new", MIXED)[:, 3:].amax(dim=0)
    least = of("new", LOCAL)[:, 3:].amin(dim=0)
    assert year_first < 0.25 < 0.5 < least[0]
    assert weekday_first < 0.05 < 0.5 < least[1]


def test_how_well_a_new_form_is_read_depends_on_the_seed():
    spread = of("new", LOCAL)
    assert (spread.amax(dim=0) - spread.amin(dim=0)).max() > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_without_the_mask_short_texts_suffer_more(seed):
    held_out, days = experiment.split_dates()
    torch.manual_seed(seed)
    model = experiment.DateReader()
    experiment.train(model, days, experiment.RATE)
    ids, mask, targets, _ = experiment.draw(held_out, 2000, random.Random(999))
    answers, _ = experiment.write(model, ids, torch.ones_like(mask))
    short = mask.sum(dim=-1).flatten() < 13
    right = experiment.share_exact(answers[short], targets[short])
    assert right + 0.1 < experiment.share_exact(answers[~short], targets[~short])
