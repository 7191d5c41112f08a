"""Which learning rate suits a model best, and what its seeds gave there."""

import statistics
from collections.abc import Sequence
from typing import Any

from helpers.recorded import results

Run = dict[str, Any]  # its settings, and what was measured


def best_rate(runs: Sequence[Run]) -> float:
    """The learning rate at which the validation loss is lowest, averaged over seeds.

    Args:
        runs: dicts that have a "rate", and a "validation" loss, which is None where the
            loss grew without bound. Rates at which a run failed aren't compared, and of
            the others not those that fewer seeds tried.

    Returns:
        rate: a float.

    Raises:
        ValueError: no rate is left to choose from.
    """
    found: dict[float, list[float | None]] = {}
    for run in runs:
        found.setdefault(run["rate"], []).append(run["validation"])
    means = {
        rate: statistics.fmean(loss for loss in losses if loss is not None)
        for rate, losses in found.items()
        if None not in losses
    }
    most = max((len(found[rate]) for rate in means), default=0)
    means = {rate: mean for rate, mean in means.items() if len(found[rate]) == most}
    if not means:
        raise ValueError(
            f"runs must have a rate at which none failed, got {len(runs)} runs"
        )
    return min(means, key=means.__getitem__)


def has(run: Run, settings: dict[str, Any]) -> bool:
    """Whether a run was made with these settings, whatever its others are."""
    return all(run.get(name) == value for name, value in settings.items())


def at_best_rate(runs: Sequence[Run], **settings: Any) -> list[Run]:
    """What each seed gave at the rate that suits these settings best.

    Args:
        runs: dicts, the "runs" of a record.
        settings: what to look for, such as ``rung="two blocks"``.

    Returns:
        runs: those at the best rate, in the order of their seeds.

    Raises:
        ValueError: no run has these settings.

    The rate is chosen by the validation loss, on stories that no other number rests on.
    """
    fitting = [run for run in runs if has(run, settings)]
    if not fitting:
        raise ValueError(f"settings must be those of a run, got {settings}")
    best = best_rate(fitting)
    chosen = [run for run in fitting if run["rate"] == best]
    return sorted(chosen, key=lambda run: run["seed"])


def recorded_losses(name: str, **settings: Any) -> list[float]:
    """What each seed's model pays on the test stories, at the rate that suits it best.

    Args:
        name: a record of ``results.OF_RUNS`` whose runs have a "test" loss.
        settings: what to look for, such as ``rung="two blocks"``.

    Returns:
        losses: nats per character, in the order of their seeds.

    Raises:
        ValueError: an unknown name, or no run that has these settings.
    """
    runs = at_best_rate(results.record(name)["runs"], **settings)
    return [run["test"] for run in runs]
