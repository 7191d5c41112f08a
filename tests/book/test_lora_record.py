"""What the page "Fine-tuning with LoRA" says of training, asserted on the record."""

import statistics

from experiments import everyday, lora
from helpers.recorded import results
from helpers.text import corpus

RUNS = results.record("lora")["runs"]
FEW, LINEAR, EVERY = (
    {"text": "stories", "trains": trains}
    for trains in (lora.FEW, lora.LINEAR, lora.EVERY)
)
# The lowest rate of each kind, and one where all have learned about as much.
LOWEST = (
    EVERY | {"rate": 0.00003},
    LINEAR | {"rank": 16, "rate": 0.0003},
    LINEAR | {"rank": 4, "rate": 0.001},
    FEW | {"rank": 4, "rate": 0.003},
)
LEVEL = (
    EVERY | {"rate": 0.0001},
    LINEAR | {"rank": 16, "rate": 0.001},
    LINEAR | {"rank": 4, "rate": 0.003},
    FEW | {"rank": 4, "rate": 0.009},
)
ELSEWHERE = ("elsewhere", "more")  # eight everyday sentences, and forty others


def losses(measured, **settings):
    """One loss of each run of these settings; not all have read the forty others."""
    found = [run for run in RUNS if settings.items() <= run.items()]
    assert found
    seeds = lora.SEEDS.get(found[0]["trains"], range(1))
    assert {run["seed"] for run in found} >= set(seeds)
    return [run[measured] for run in found if measured in run]


BEFORE = losses("test", text="none")[0]


def test_the_record_is_whole():
    assert lora.wanted({"runs": RUNS}) == []
    assert {run["steps"] for run in RUNS if run["text"] != "none"} == {24}


def test_no_everyday_sentence_is_counted_twice():
    both = (*corpus.EVERYDAY, *everyday.MORE)
    assert len(set(both)) == len(both) == 48


def test_other_stories_become_much_easier_with_each_kind():
    for settings in LEVEL:
        assert max(losses("test", **settings)) < BEFORE / 2


def test_two_matrices_forget_most_and_learn_least():
    *_, seven, two = LEVEL
    for measured in ("test", *ELSEWHERE):
        assert max(losses(measured, **seven)) < min(losses(measured, **two))


def test_both_ranks_beside_every_matrix_lie_close_to_all_weights():
    every, higher = ({**EVERY, "rate": rate} for rate in (0.0001, 0.0003))
    rank_16, rank_4 = ({**LINEAR, "rank": rank} for rank in (16, 4))
    for theirs, adapters in (
        (every, rank_16 | {"rate": 0.001}),
        (every, rank_4 | {"rate": 0.003}),
        (higher, rank_16 | {"rate": 0.003}),
        (higher, rank_4 | {"rate": 0.009}),
    ):
        for measured in ("test", "elsewhere"):
            here, there = (
                statistics.fmean(losses(measured, **side))
                for side in (adapters, theirs)
            )
            assert here < 1.2 * there


def test_the_order_of_words_is_what_was_learned():
    found = losses("test", text="shuffled", rank=4)
    assert min(found) > 0.9 * BEFORE


def test_a_higher_rate_was_tried_and_is_worse():
    for trains, rank in lora.RATES:
        best = lora.best({"runs": RUNS}, trains, rank)
        rates = lora.RATES[trains, rank]
        side = {"text": "stories", "trains": trains, "rank": rank}
        here, higher = (
            losses("validation", **side, rate=rate)
            for rate in (best, rates[rates.index(best) + 1])
        )
        assert sum(higher) > sum(here)


def test_at_the_highest_rates_more_than_half_break_down():
    found = [
        one
        for side, rate in zip(LEVEL, (0.003, 0.027, 0.027, 0.081), strict=True)
        for one in losses("test", **side | {"rate": rate})
    ]
    assert len(found) == 12
    assert sum(one > 1 for one in found) == 7


def test_the_lowest_rates_learn_stories_and_forget_nothing():
    """But for the forty other sentences, and adapters beside two matrices."""
    came, others = (losses(one, text="none")[0] for one in ELSEWHERE)
    for settings in LOWEST:
        assert max(losses("test", **settings)) < 0.75 * BEFORE
        assert max(losses("elsewhere", **settings)) < came
    *seven, two = (losses("more", **settings) for settings in LOWEST)
    assert max(map(max, seven)) < others < min(two)


def test_a_higher_rate_learns_more_and_forgets_more():
    for low, level in zip(LOWEST, LEVEL, strict=True):
        assert max(losses("test", **level)) < min(losses("test", **low))
        for measured in ELSEWHERE:
            assert min(losses(measured, **level)) > max(losses(measured, **low))
