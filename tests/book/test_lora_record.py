"""What the page "Fine-tuning with LoRA" says of training, asserted on the record."""

from experiments import everyday, lora
from helpers.recorded import results
from helpers.text import corpus

RUNS = results.record("lora")["runs"]
FEW, LINEAR, EVERY = (
    {"text": "stories", "trains": trains}
    for trains in (lora.FEW, lora.LINEAR, lora.EVERY)
)
# Where each kind has learned about as much of stories.
LEVEL = {
    "all weights": EVERY | {"rate": 0.0001},
    "all 7, rank 16": LINEAR | {"rank": 16, "rate": 0.001},
    "all 7, rank 4": LINEAR | {"rank": 4, "rate": 0.003},
    "2 matrices, rank 4": FEW | {"rank": 4, "rate": 0.009},
}


def losses(measured, **settings):
    """One loss of each run of these settings."""
    found = [run for run in RUNS if settings.items() <= run.items()]
    assert found
    seeds = lora.SEEDS.get(found[0]["trains"], range(1))
    assert {run["seed"] for run in found} >= set(seeds)
    return [run[measured] for run in found]


BEFORE = losses("test", text="none")[0]


def test_the_record_is_whole():
    assert lora.wanted({"runs": RUNS}) == []
    assert {run["steps"] for run in RUNS if run["text"] != "none"} == {24}


def test_no_everyday_sentence_is_counted_twice():
    both = (*corpus.EVERYDAY, *everyday.MORE)
    assert len(set(both)) == len(both) == 48


def test_other_stories_become_much_easier_with_each_kind():
    for settings in LEVEL.values():
        assert max(losses("test", **settings)) < BEFORE / 2


def test_pairs_beside_every_matrix_forget_less_than_beside_two():
    """And most of what training all weights spares, at rank 16."""
    every, wide, thin, few = (losses("elsewhere", **one) for one in LEVEL.values())
    assert max(wide) < min(thin) <= max(thin) < min(few)
    assert max(wide) < 1.1 * max(every)
    came = losses("elsewhere", text="none")[0]
    assert max(every) - came < 0.6 * (min(thin) - came)


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


def test_the_lowest_rates_learn_stories_and_forget_nothing():
    came = losses("elsewhere", text="none")[0]
    for settings in (
        EVERY | {"rate": 0.00003},
        LINEAR | {"rank": 4, "rate": 0.001},
        FEW | {"rank": 4, "rate": 0.003},
    ):
        assert max(losses("test", **settings)) < 0.65 * BEFORE
        assert max(losses("elsewhere", **settings)) < came
