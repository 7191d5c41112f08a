"""What the page on the two-core minute says of its record."""

import statistics

from experiments import two_core_minute as minute
from helpers.recorded import results
from helpers.recorded.spread import standard_error
from helpers.training.config import preset


def test_the_record_in_the_book_is_one():
    record = results.record("two_core_minute")
    numbers = range(1, len(record["records"]) + 1)
    assert {run["record"] for run in record["runs"]} == set(numbers)
    for number in numbers:
        of_one = [run for run in record["runs"] if run["record"] == number]
        before = {
            "records": record["records"][: number - 1],
            "runs": [run for run in record["runs"] if run["record"] < number],
        }
        assert minute.verdict(of_one, before)[0]
        seeds = minute.new_seeds(before)
        for recipe in minute.RECIPES:
            assert minute.chosen(of_one, recipe, "seed") == list(seeds)
    losses = minute.chosen(of_one, "minute", "loss")
    assert statistics.fmean(losses) + 2 * standard_error(losses) < 1.55
    assert minute.share(of_one, "minute", "seconds") < 0.75
    seconds = (
        minute.chosen(of_one, recipe, "seconds") for recipe in ("minute", "in bfloat16")
    )
    shares = [one / other for one, other in zip(*seconds, strict=True)]
    assert round(statistics.median(shares), 2) == 0.92
    # A character takes half the time, and twice as many are read.
    presets = [preset(name, vocab_size=65) for name in ("small-gpt", "one-minute")]
    before, after = (
        training.steps * training.batch_size * model.context_length
        for model, training in presets
    )
    assert 1.8 < after / before < 2
    assert 0.48 < statistics.median(shares) * before / after < 0.5
    assert statistics.fmean(minute.chosen(of_one, "sprint", "loss")) < 1.886
    assert minute.share(of_one, "sprint", "seconds") < 0.15
