"""A learning rate of its own for each side of a comparison, and then five seeds."""

from collections.abc import Iterable, Sequence
from typing import Any

from experiments import many
from helpers.recorded.sweeps import best_rate, has

RATES = tuple(0.001 * 2**i for i in range(-3, 9))  # the grid; a sweep begins inside
SEEDS = range(5)


def lacking(
    runs: Sequence[many.Run],
    plain: many.Settings,
    begin: Sequence[float],
    *,
    beside: Sequence[int] = SEEDS,
) -> list[many.Settings]:
    """The runs that one side of a comparison lacks.

    First one seed at the rates to begin with, and at others of the grid as long as the
    best stands at the edge; then all seeds at the best rate, and those of ``beside`` at
    its two neighbours; and where all seeds together find another rate best, the same
    around that one.

    Args:
        runs: dicts that have a "rate", a "seed", and a "validation" loss or None.
        plain: what else these runs have in common.
        begin: rates of the grid.
        beside: seeds for the rates beside the best. With the first one alone, it is
            that seed which chooses the rate.

    Returns:
        settings: a list of dicts.
    """
    of_side = [run for run in runs if has(run, plain)]
    had = {(run["rate"], run["seed"]) for run in of_side}
    wanted = [(rate, SEEDS[0]) for rate in begin]
    if had.issuperset(wanted):
        best = best_rate([run for run in of_side if run["seed"] == SEEDS[0]])
        wanted = [(rate, SEEDS[0]) for rate in neighbours(best)]
        if had.issuperset(wanted):
            wanted = _around(best, beside)
            if had.issuperset(wanted):
                wanted = _around(best_rate(of_side), beside)
    return [
        plain | {"rate": rate, "seed": seed}
        for rate, seed in wanted
        if (rate, seed) not in had
    ]


def _around(best: float, beside: Sequence[int]) -> list[tuple[float, int]]:
    """Rates and seeds: all seeds at the best rate, some at its neighbours."""
    return [
        (rate, seed)
        for rate in neighbours(best)
        for seed in (SEEDS if rate == best else beside)
    ]


def lacking_of_all(
    record: dict[str, Any],
    sides: Iterable[many.Settings],
    begin: Sequence[float],
    *,
    beside: Sequence[int] = SEEDS,
) -> list[many.Settings]:
    """The runs that the sides of a comparison lack, side by side."""
    return [
        one
        for side in sides
        for one in lacking(record["runs"], side, begin, beside=beside)
    ]


def neighbours(rate: float) -> tuple[float, ...]:
    """A rate of the grid between its half and its double."""
    place = RATES.index(rate)
    return RATES[max(place - 1, 0) : place + 2]
