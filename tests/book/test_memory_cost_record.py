"""What chapter 16 says of the time that a state and a cache take."""

import itertools

from experiments import memory_cost
from helpers.recorded import results

RUNS = results.record("memory_cost")["runs"]


def of(study):
    """The milliseconds of each length."""
    return {run["length"]: run["ms"] for run in RUNS if run["study"] == study}


def times_softmax(form):
    """A form's time beside that of softmax, by length."""
    return {T: ms[form] / ms["softmax"] for T, ms in of("reading").items()}


def test_the_record_lacks_nothing():
    assert tuple(of("decoding")) == memory_cost.DECODING
    assert tuple(of("reading")) == memory_cost.READING


def test_a_state_takes_more_time_up_to_512_tokens_and_less_from_1024_on():
    for S, ms in of("decoding").items():
        assert (ms["softmax"] < ms["delta"]) == (S <= 512)
    ratios = [ms["softmax"] / ms["delta"] for ms in of("decoding").values()]
    assert ratios == sorted(ratios)
    assert round(ratios[-1], 1) == 35.6


def test_a_state_needs_less_room_from_more_than_32_tokens_on():
    D = memory_cost.D
    for S in memory_cost.DECODING:
        assert (2 * S * D > D * D) == (S > 32)


def test_the_loop_gains_with_each_doubling_and_stays_slower():
    ratios = list(times_softmax("recurrent").values())
    assert ratios == sorted(ratios, reverse=True)
    assert round(ratios[0], 1) == 32.9
    assert round(ratios[-1], 1) == 3.2


def test_the_parallel_form_loses_ground_from_512_on():
    found = times_softmax("parallel")
    assert min(found, key=found.__getitem__) == 256
    assert found[256] < found[512] < found[1024] < found[2048]
    assert round(found[2048], 1) == 11.1


def test_the_chunked_form_passes_softmax_at_512_and_gains_with_each_doubling():
    found = times_softmax("chunked")
    assert all(a > b for a, b in itertools.pairwise(found.values()))
    assert found[256] > 1 > found[512]
    assert round(found[2048], 1) == 0.4
    for T in found:
        others = (times_softmax(form)[T] for form in ("recurrent", "parallel"))
        assert found[T] < min(others)
