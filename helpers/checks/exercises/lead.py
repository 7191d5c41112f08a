"""Exercise of the two-core minute: how many standard errors one mean lies below."""

import math
import statistics
from collections.abc import Callable, Sequence

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_number


def _losses():
    lists = {
        "two losses each": ([1.0, 3.0], [4.0, 8.0]),
        "the new one is higher": ([4.0, 8.0], [1.0, 3.0]),
        "equal means": ([1.0, 3.0], [1.5, 2.0, 2.5]),
        "three losses and five": ([2.0, 2.5, 3.0], [4.0, 3.0, 4.0, 5.5, 4.0]),
        "five losses and two": ([1.0, 1.5, 3.0, 0.5, 1.0], [2.0, 5.0]),
        "losses of two recipes": (
            [1.536, 1.531, 1.525, 1.538, 1.537],
            [1.552, 1.539, 1.548, 1.546, 1.541],
        ),
        "one recipe far more even": ([1.50, 1.51, 1.49], [1.2, 2.2, 1.9, 1.4]),
        "whole numbers": ([3, 1, 1], [7, 2, 4, 6]),
        "the same order of the seeds": ([1.0, 2.0, 3.5, 4.0], [1.5, 2.5, 4.2, 4.6]),
        "a lead of over 50": (
            [1.546, 1.540, 1.538, 1.539, 1.529],
            [1.832, 1.815, 1.819, 1.811, 1.826],
        ),
    }
    return [
        Case(name, {"new": new, "last": last}) for name, (new, last) in lists.items()
    ]


def _lead(
    new: Sequence[float],
    last: Sequence[float],
    *,
    error: Callable[[Sequence[float]], float],
    together: Callable[[float, float], float] = math.hypot,
    middle: Callable[[Sequence[float]], float] = statistics.fmean,
) -> float:
    """The difference of two means, in errors of both together."""
    return (middle(last) - middle(new)) / together(error(new), error(last))


def _error(losses):
    return statistics.stdev(losses) / math.sqrt(len(losses))


def _right(new, last):
    return _lead(new, last, error=_error)


def _with(error, **others):
    """A mistake in the error of a mean, in how two are put together, or in a mean."""
    return lambda new, last: _lead(new, last, error=error, **others)


def _by_pairs(new, last):
    """What is right where each seed has a loss of both, as in a paired comparison."""
    gains = [old - one for one, old in zip(new, last, strict=False)]
    return statistics.fmean(gains) / (_error(gains) or 1.0)


def _squares(losses):
    mean = statistics.fmean(losses)
    return sum((loss - mean) ** 2 for loss in losses)


def _pooled(new, last):
    variance = (_squares(new) + _squares(last)) / (len(new) + len(last) - 2)
    error = math.sqrt(variance * (1 / len(new) + 1 / len(last)))
    return (statistics.fmean(last) - statistics.fmean(new)) / error


def _pooled_without_counts(new, last):
    variance = (_squares(new) + _squares(last)) / (len(new) + len(last) - 2)
    return (statistics.fmean(last) - statistics.fmean(new)) / math.sqrt(variance)


def _one_list(new, last):
    difference = statistics.fmean(last) - statistics.fmean(new)
    return difference / _error([*new, *last])


def _n_below_one(which):
    """n below the sum of squares of one list alone."""

    def mistaken(new, last):
        parts = [statistics.variance(one) / len(one) for one in (new, last)]
        one = (new, last)[which]
        parts[which] = statistics.pvariance(one) / len(one)
        return (statistics.fmean(last) - statistics.fmean(new)) / math.sqrt(sum(parts))

    return mistaken


def _one_length(new, last):
    error = math.sqrt((statistics.variance(new) + statistics.variance(last)) / len(new))
    return (statistics.fmean(last) - statistics.fmean(new)) / error


def _all_pairs(new, last):
    gains = [old - one for old in last for one in new]
    return statistics.fmean(gains) / _error(gains)


def _shortcut(losses):
    mean = statistics.fmean(losses)
    squares = sum(loss**2 for loss in losses) - mean**2
    return math.sqrt(squares / (len(losses) - 1) / len(losses))


def _of_changed_lists(change):
    """A mistake in what the lists hold."""
    return lambda new, last: _right(change(new), change(last))


def _cut(new, last):
    n = min(len(new), len(last))
    return _right(new[:n], last[:n])


def _unrooted_sum(first, second):
    return first**2 + second**2


def _sum(first, second):
    return first + second


_TOGETHER = (
    "The errors of both means count: take the root of the sum of their squares, "
    "as `math.hypot` does."
)

EXERCISE = Exercise(
    name="lead",
    stub="my_lead(new, last)",
    asks=(
        "a function of two lists of numbers, the losses of two recipes, each with at "
        "least two that differ. It returns how many standard errors of the difference "
        "the mean of the first lies below the mean of the second, a number."
    ),
    returns={"lead": "a number"},
    reference=_right,
    cases=_losses,
    run=call_for_number,
    mistakes=(
        Mistake(
            "a sign the wrong way round",
            lambda new, last: -_right(new, last),
            "A new recipe that is lower leads, so the result is positive: take the "
            "last mean minus the new one. (Is `new` still the first argument?)",
        ),
        Mistake(
            "a lead without a sign",
            lambda new, last: abs(_right(new, last)),
            "Where the new recipe is higher, the lead is negative; `abs`, or a root of "
            "a square, loses that.",
        ),
        Mistake(
            "n below the sum of squares",
            _with(lambda one: statistics.pstdev(one) / math.sqrt(len(one))),
            "The standard deviation here has n - 1 below the sum of squares; yours has "
            "n, as `statistics.pstdev` and `numpy.std` do.",
        ),
        *(
            Mistake(
                "n below one of the sums of squares",
                _n_below_one(which),
                f"In the standard deviation of `{name}`, n stands below the sum of "
                "squares; it is n - 1 in both.",
            )
            for which, name in enumerate(("new", "last"))
        ),
        Mistake(
            "n below the sum of squares, and a lead that is never negative",
            lambda new, last: max(
                0.0,
                _lead(new, last, error=lambda x: statistics.pstdev(x) / len(x) ** 0.5),
            ),
            "The standard deviation has n - 1 below the sum of squares, where NumPy's "
            "has n. And where the new recipe is higher, the lead is below 0.",
        ),
        Mistake(
            "n - 1 below the root as well",
            _with(lambda one: statistics.stdev(one) / math.sqrt(len(one) - 1)),
            "n - 1 stands below the sum of squares. The error of a mean divides the "
            "standard deviation by the root of n.",
        ),
        Mistake(
            "standard deviations in place of errors",
            _with(statistics.stdev),
            "A standard deviation says how far single losses scatter. The mean of n "
            "scatters less: divide by the root of n.",
        ),
        Mistake(
            "divided by n, without a root",
            _with(lambda one: statistics.stdev(one) / len(one)),
            "The standard error of a mean has the root of n below the standard "
            "deviation, and not n.",
        ),
        Mistake(
            "no root of the sum",
            _with(_error, together=_unrooted_sum),
            "The squares of the two errors are added, and then comes a root.",
        ),
        Mistake(
            "two errors added",
            _with(_error, together=_sum),
            "Two errors rarely point the same way, so they don't add up. " + _TOGETHER,
        ),
        Mistake(
            "one variance for both",
            _pooled,
            "You pool both lists into one variance, which supposes that both recipes "
            "scatter alike. Give each mean a standard error of its own.",
        ),
        Mistake(
            "one standard deviation for both",
            _pooled_without_counts,
            "You divide by a standard deviation of both lists together, as for an "
            "effect size. Give each mean a standard error of its own.",
        ),
        Mistake(
            "the length of new for both",
            _one_length,
            "The two lists may differ in length: divide the variance of `last` by the "
            "length of `last`.",
        ),
        Mistake(
            "one list of all losses",
            _one_list,
            "You take the error of all losses in one list, so the difference itself "
            "counts as scatter. Each list has a mean and an error of its own.",
        ),
        Mistake(
            "pairs of losses",
            _by_pairs,
            "You pair the losses by their place, so the result depends on the order, "
            "and what one list has more is lost. Take the error of each list.",
        ),
        Mistake(
            "lists cut to the length of the shorter one",
            _cut,
            "What the longer list has more is lost, as `zip` or a slice loses it. Go "
            "through each list by itself.",
        ),
        Mistake(
            "all pairs of losses",
            _all_pairs,
            "You take each difference of two losses for a measurement of its own, so a "
            "few seeds look like many. Each list has a mean and an error of its own.",
        ),
        Mistake(
            "equal losses counted once",
            _of_changed_lists(lambda losses: sorted(set(losses))),
            "Two seeds may have the same loss, and both count; a set keeps only one.",
        ),
        Mistake(
            "a squared mean that is taken off once",
            _with(_shortcut),
            "The sum of the squares less n times the squared mean is the sum of the "
            "squared distances; yours takes it off once.",
        ),
        Mistake(
            "bars of two errors, added",
            _with(lambda losses: 1.96 * _error(losses), together=_sum),
            "You ask whether two bars of 95% overlap, which is another test. "
            + _TOGETHER,
        ),
    ),
)
