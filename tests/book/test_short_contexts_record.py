"""What the page on the KV cache says of short windows."""

from experiments import short_contexts, sweeps
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate
from helpers.text.little_world import whole_world

SHORT = results.record("short_contexts")
FLOOR = whole_world().floor


def test_the_record_lacks_nothing():
    assert short_contexts.wanted(SHORT) == []


def test_the_cuts_cost_a_short_window_most_and_a_long_one_less():
    means = {"pieces": [], "sliding": []}
    for length in short_contexts.CONTEXT_LENGTHS:
        runs = at_best_rate(SHORT["runs"], context_length=length)
        assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
        gains = [run["pieces"] - run["sliding"] for run in runs]
        assert mean_and_interval(gains).low > 0.03
        for way, losses in means.items():
            losses.append(sum(run[way] for run in runs) / len(runs) - FLOOR)
    pieces, sliding = means.values()
    assert pieces == sorted(pieces, reverse=True)
    assert sliding == sorted(sliding, reverse=True)
    cut = [(one - other) / one for one, other in zip(pieces, sliding, strict=True)]
    assert cut == sorted(cut, reverse=True)
    assert cut[0] > 0.7
    assert sliding[0] - sliding[-1] < 0.05
