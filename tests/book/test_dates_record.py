"""What the page Cross-attention says of other seeds, rates and models."""

import datetime

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
    page = {}
    exec(cells["setup"].partition("# The imports of this notebook")[2], page)
    for name in ("cross-attention-class", "model"):
        exec(cells[name], page)
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
