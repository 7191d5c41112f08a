"""How far a mean over few seeds can be trusted."""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from helpers import validation


class Interval(NamedTuple):
    """A mean, and where the true one lies.

    Attributes:
        mean: of the numbers.
        low: where the interval begins.
        high: where it ends.
    """

    mean: float
    low: float
    high: float

    def __format__(self, spec: str) -> str:
        """The mean with the interval behind it: with ".1f", 0.5 [0.2, 0.8]."""
        mean, low, high = (format(number, spec) for number in self)
        return f"{mean} [{low}, {high}]"


def mean_and_interval(differences: Sequence[float], *, level: float = 0.95) -> Interval:
    """The mean of a few numbers, and Student's interval around it.

    mean ± t · s / √n, where s is the standard deviation with n - 1 below the sum, and t
    leaves 1 - level outside of ±t, with n - 1 degrees of freedom. It takes the numbers
    for independent draws from a normal distribution. Of two ways to train, hand over
    one difference for each seed, not two lists of losses: what a seed does to both
    sides cancels.

    Args:
        differences: at least two finite numbers, one for each seed.
        level: how often such an interval holds the true mean, at least 0 and below 1.

    Returns:
        interval: an ``Interval``. With a level of 0.95, one that leaves 0 out would be
            met once in twenty comparisons of things that don't differ.

    Raises:
        ValueError: fewer than two numbers, one that isn't finite, or a level outside
            its range.

    Source: Student 1908, The Probable Error of a Mean.
    """
    numbers = [float(one) for one in differences]
    if len(numbers) < 2 or not all(map(math.isfinite, numbers)):
        raise ValueError(
            f"differences must be at least two finite numbers, got {differences!r}"
        )
    validation.require_probability("level", level)
    mean = statistics.fmean(numbers)
    half = t_quantile(len(numbers) - 1, level) * standard_error(numbers)
    return Interval(mean, mean - half, mean + half)


def standard_error(numbers: Sequence[float]) -> float:
    """How far the mean of a few numbers would scatter, were they drawn again.

    s / √n, where s is the standard deviation with n - 1 below the sum.

    Args:
        numbers: at least two, one for each seed.

    Returns:
        error: in the unit of the numbers.

    Raises:
        ValueError: fewer than two numbers.
    """
    return statistics.stdev(numbers) / math.sqrt(len(numbers))


def lead(new: Sequence[float], last: Sequence[float]) -> float:
    """How many standard errors of the difference one mean lies below another.

    Args:
        new: the losses of one recipe, one for each seed, at least two.
        last: those of another, as many or not.

    Returns:
        lead: a number, negative where the mean of ``new`` is higher; infinite where
            each recipe gave the same loss from every seed, unless it is one loss.

    Raises:
        ValueError: fewer than two losses.

    Source: Welch 1947, The Generalization of Student's Problem, whose statistic this
    is. Built by hand in the exercise of the page on the two-core minute.
    """
    error = math.hypot(standard_error(new), standard_error(last))
    difference = statistics.fmean(last) - statistics.fmean(new)
    if error == 0:
        return math.copysign(math.inf, difference) if difference else 0.0
    return difference / error


def t_quantile(degrees: int, level: float) -> float:
    """The t with a share ``level`` of Student's distribution between -t and t.

    Args:
        degrees: of freedom, at least 1.
        level: at least 0 and below 1.

    Returns:
        t: at least 0.

    Raises:
        ValueError: no whole number of degrees, or a level outside its range.
    """
    validation.require_integers(degrees=degrees)
    validation.require_probability("level", level)
    low, high = 0.0, math.pi / 2  # the angle whose tangent is t / √degrees
    for _ in range(60):
        middle = (low + high) / 2
        if _share_within(middle, degrees) < level:
            low = middle
        else:
            high = middle
    return math.tan(low) * math.sqrt(degrees)


def _share_within(angle: float, degrees: int) -> float:
    """How much of the distribution lies between ±√degrees · tan(angle)."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(odd, degrees, 2):
        total += term
        term *= cosine**2 * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
