"""What chapter 16 says of the time that a state and a cache take."""

from experiments import memory_cost
from helpers.recorded import results

RUNS = results.record("memory_cost")["runs"]


def of(study):
    """The milliseconds of each length."""
    return {run["length"]: run["ms"] for run in RUNS if run["study"] == study}


def test_the_record_lacks_nothing():
    assert tuple(of("decoding")) == memory_cost.DECODING


def test_a_state_takes_more_time_at_32_tokens_and_less_from_1024_on():
    for S, ms in of("decoding").items():
        assert (ms["softmax"] < ms["delta"]) == (S <= 512)
    ratios = [ms["softmax"] / ms["delta"] for ms in of("decoding").values()]
    assert ratios == sorted(ratios)
    assert 75 < ratios[-1] < 85
    state = [ms["delta"] for ms in of("decoding").values()]
    assert max(state) < 1.15 * min(state)


def test_a_state_needs_less_room_from_more_than_32_tokens_on():
    D = memory_cost.D
    for S in memory_cost.DECODING:
        assert (2 * S * D > D * D) == (S > 32)
