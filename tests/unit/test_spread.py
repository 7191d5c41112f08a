"""helpers.recorded.spread: a mean over few seeds, and how far to trust it."""

import math
import random
import statistics

import pytest

from helpers import checks
from helpers.recorded.spread import (
    Interval,
    lead,
    mean_and_interval,
    standard_error,
    t_quantile,
)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_the_quantile_is_the_closed_form_where_there_is_one(level):
    cauchy = math.tan(math.pi * level / 2)
    assert t_quantile(1, level) == pytest.approx(cauchy)
    two = level * math.sqrt(2 / (1 - level**2))
    assert t_quantile(2, level) == pytest.approx(two)
    # With three degrees: a share of 2 / π (angle + sin · cos), turned round.
    t = t_quantile(3, level)
    angle = math.atan(t / math.sqrt(3))
    share = 2 / math.pi * (angle + math.sin(angle) * math.cos(angle))
    assert share == pytest.approx(level)


@pytest.mark.parametrize(
    ("degrees", "printed"), [(4, 2.776), (5, 2.571), (9, 2.262), (30, 2.042)]
)
def test_the_quantile_is_that_of_the_printed_tables(degrees, printed):
    assert t_quantile(degrees, 0.95) == pytest.approx(printed, abs=5e-4)


def test_two_numbers_have_the_interval_of_a_cauchy_distribution():
    mean, low, high = mean_and_interval([1.0, 3.0])
    assert mean == 2.0
    # Their standard deviation is √2, and √2 / √2 = 1 is left.
    assert high - mean == pytest.approx(math.tan(0.95 * math.pi / 2))
    assert mean - low == pytest.approx(high - mean)


def test_equal_numbers_leave_no_doubt():
    assert mean_and_interval([0.25] * 5) == (0.25, 0.25, 0.25)


def test_nineteen_of_twenty_intervals_hold_the_true_mean():
    rng = random.Random(0)
    draws = [[rng.gauss(1.0, 2.0) for _ in range(5)] for _ in range(4_000)]
    intervals = [mean_and_interval(draw) for draw in draws]
    held = sum(one.low < 1.0 < one.high for one in intervals) / len(draws)
    assert held == pytest.approx(0.95, abs=0.01)
    half = [mean_and_interval(draw, level=0.5) for draw in draws]
    held = sum(one.low < 1.0 < one.high for one in half) / len(draws)
    assert held == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("numbers", [[], [1.0], [1.0, math.nan], [1.0, math.inf]])
def test_too_few_numbers_are_refused(numbers):
    with pytest.raises(ValueError, match="differences must be at least two finite"):
        mean_and_interval(numbers)


@pytest.mark.parametrize("level", [-0.1, 1.0, math.nan])
def test_a_level_outside_its_range_is_refused(level):
    with pytest.raises(ValueError, match="level"):
        mean_and_interval([1.0, 2.0], level=level)
    with pytest.raises(ValueError, match="degrees"):
        t_quantile(0, 0.5)


def test_the_error_of_a_mean_is_how_far_means_scatter():
    rng = random.Random(1)
    draws = [[rng.gauss(0.0, 2.0) for _ in range(5)] for _ in range(4_000)]
    means = [statistics.fmean(draw) for draw in draws]
    squares = statistics.fmean(standard_error(draw) ** 2 for draw in draws)
    assert statistics.pstdev(means) == pytest.approx(math.sqrt(squares), rel=0.05)


def test_a_lead_is_that_of_the_formula():
    assert lead([1.0, 3.0], [4.0, 8.0]) == pytest.approx(4 / math.sqrt(5))
    assert lead([4.0, 8.0], [1.0, 3.0]) == pytest.approx(-4 / math.sqrt(5))
    # Variances of 4/3 and 1/2, and means of 5/3 and 5.
    assert lead([1, 1, 3], [5, 4, 6, 5, 5]) == pytest.approx(
        (10 / 3) / math.sqrt((4 / 3) / 3 + 0.5 / 5)
    )


def test_a_lead_is_what_the_exercise_asks_for():
    assert checks.lead.examine(lead).kind == "right"


def test_losses_that_do_not_scatter_leave_no_doubt_of_a_lead():
    assert lead([1.0, 1.0], [2.0, 2.0]) == math.inf
    assert lead([2.0, 2.0], [1.0, 1.0]) == -math.inf
    assert lead([1.0, 1.0], [1.0, 1.0]) == 0


def test_one_loss_is_too_few_for_a_lead():
    with pytest.raises(ValueError, match="at least two"):
        lead([1.0], [2.0, 3.0])


def test_an_interval_is_written_behind_its_mean():
    assert f"{Interval(0.5, -0.25, 1.25):.2f}" == "0.50 [-0.25, 1.25]"
