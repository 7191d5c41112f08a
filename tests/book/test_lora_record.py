"""What the page "Fine-tuning with LoRA" says of training, asserted on the record."""

from experiments import lora
from helpers.recorded import results

RUNS = results.record("lora")["runs"]
MEASURED = ("test", "elsewhere")


def losses(measured, **settings):
    """One loss of each run of these settings."""
    found = [run[measured] for run in RUNS if settings.items() <= run.items()]
    assert len(found) == (1 if settings["text"] == "none" else 3)
    return found


BEFORE = losses("test", text="none")[0]
ELSEWHERE = losses("elsewhere", text="none")[0]


def test_the_record_is_whole():
    assert lora.wanted({"runs": RUNS}) == []
    assert {run["steps"] for run in RUNS if run["text"] != "none"} == {24}


def test_other_stories_become_easier_with_either_rank():
    for rate in (0.009, 0.027):
        found = losses("test", text="stories", rank=4, rate=rate)
        assert max(found) < BEFORE / 2
    assert max(losses("test", text="stories", rank=1, rate=0.027)) < 0.65 * BEFORE


def test_the_order_of_words_is_what_was_learned():
    found = losses("test", text="shuffled", rank=4)
    assert min(found) > 0.9 * BEFORE


def test_everyday_english_pays_at_the_rates_that_learn_most():
    for rate in (0.009, 0.027):
        found = losses("elsewhere", text="stories", rank=4, rate=rate)
        assert 1.4 * ELSEWHERE < min(found) <= max(found) < 2.1 * ELSEWHERE
    assert max(losses("elsewhere", text="stories", rank=4, rate=0.003)) < ELSEWHERE
    found = losses("test", text="stories", rank=4, rate=0.003)
    assert 0.6 * BEFORE < min(found) <= max(found) < 0.7 * BEFORE


def test_all_weights_learn_more_and_forget_less():
    low, middle = (
        [losses(of, text="stories", rank=lora.ALL, rate=rate) for of in MEASURED]
        for rate in (0.00003, 0.0001)
    )
    pairs = [losses(of, text="stories", rank=4, rate=0.009) for of in MEASURED]
    for all_weights, thin in zip(middle, pairs, strict=True):
        assert max(all_weights) < min(thin)
    assert max(low[0]) < BEFORE / 1.8
    assert max(low[1]) < ELSEWHERE
    assert max(middle[1]) < 0.9


def test_a_higher_rate_was_tried_and_is_worse():
    for rank, best in ((lora.ALL, 0.001), (1, 0.027), (4, 0.027)):
        assert lora.best({"runs": RUNS}, rank) == best
        rates = lora.RATES[rank]
        here, higher = (
            losses("validation", text="stories", rank=rank, rate=rate)
            for rate in (best, rates[rates.index(best) + 1])
        )
        assert sum(higher) > sum(here)
