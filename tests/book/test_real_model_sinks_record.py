"""What chapter 18 says of SmolLM2's attention sinks, asserted on the record."""

import itertools
import statistics

import pytest

from experiments.real_model import sink_texts, sinks
from experiments.real_model.sink_weights import HEADS, LAYERS, weights
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import has
from tests.real_models import need

RUNS = [run for run in results.record("real_model")["runs"] if run["study"] == "sinks"]
PLACES = list(itertools.product(LAYERS, HEADS))


def runs(part, **settings):
    return [run for run in RUNS if has(run, {"part": part} | settings)]


def above(text, window, kept):
    """What a window loses against full attention, a number a piece."""
    found = runs("windows", text=text, window=window, kept=kept)
    losses = {run["group"]: run["losses"] for run in found}
    whole = runs("windows", text=text, window=sinks.LONG, kept="first 0")
    full = {run["group"]: run["losses"] for run in whole}
    return [
        a - b
        for group in sorted(losses)
        for a, b in zip(losses[group], full[group], strict=True)
    ]


def test_the_record_is_whole():
    for one in sinks.PLAN:
        assert len(runs(**one)) == 1, one
    assert len(RUNS) == len(sinks.PLAN)


@pytest.mark.parametrize("text", ["stories", *sink_texts.OF_THE_BOOK])
def test_what_is_measured_anew_is_what_the_record_has(text):
    need("smollm2-135m")
    ids = sink_texts.windows(text, sinks.PIECES, sinks.LENGTH)[1:6:2]
    record = runs("weights", text=text)[0]["test"]
    for found, expected in zip(weights(ids)["heads"], record["heads"][:3], strict=True):
        for one, other in zip(found, expected, strict=True):
            assert abs(one - other) <= 1  # one that is at a threshold


@pytest.mark.slow
@pytest.mark.parametrize("text", sink_texts.OF_THE_BOOK)
def test_a_long_piece_of_the_book_costs_what_it_did(text):
    need("smollm2-135m")
    pieces = sink_texts.windows(text, 4 * sinks.GROUPS, sinks.LONG)
    settings = {"text": text, "window": sinks.LONG, "group": 5}
    recorded = runs("windows", **settings)[0]["losses"][2]
    row = pieces[5 :: sinks.GROUPS][2:3]
    assert sinks.sliding(row, sinks.LONG, "first 0")[0] == pytest.approx(
        recorded, abs=2e-3
    )


def test_many_heads_rest_on_the_first_token_in_every_kind_of_text():
    for run in runs("weights"):
        for half, (low, high) in (("chosen on", (67, 120)), ("test", (66, 120))):
            counts = [one[1] for one in run[half]["heads"]]
            assert low < mean_and_interval(counts).mean < high, run["text"]
        weak, _, strong = zip(*run["test"]["heads"], strict=True)
        assert 145 < statistics.fmean(weak) < 195
        assert 15 < statistics.fmean(strong) < 65


def test_the_same_heads_do_it_in_all_five_and_none_of_them_is_early():
    def resting(half):
        return {
            (layer, head)
            for layer, head in PLACES
            if all(run[half]["first"][layer][head] > 0.5 for run in runs("weights"))
        }

    both = resting("chosen on") & resting("test")
    assert len(both) == 38
    assert (len(resting("chosen on")), len(resting("test"))) == (41, 39)
    assert min(layer for layer, _ in both) == 13


def test_where_much_weight_lies_little_is_fetched():
    for run in runs("weights"):
        test = run["test"]
        ratios = [a / b for a, b in test["values"][12:]]
        assert 0.22 < statistics.fmean(ratios) < 0.26
        weight, fetched = (
            statistics.fmean(itertools.chain(*test[kind][12:]))
            for kind in ("first", "of norms")
        )
        assert weight > 0.46
        assert 0.5 < fetched / weight < 0.6


def test_the_mlp_of_layer_11_writes_one_number_at_the_first_place():
    for run in runs("weights"):
        stream, mlp = run["test"]["stream"], run["test"]["mlp"]
        assert stream[11][0] < 2 * stream[11][1]
        assert stream[12][0] > 150 * stream[12][1]
        assert mlp[11][0] > 23_000 > 100 > mlp[11][1]
        feature, size = next(iter(run["test"]["features"].items()))
        assert feature == "507"
        assert size > 0.99 * stream[12][0]


def test_it_is_the_place_and_not_the_token():
    for run in runs("first token"):
        usual = statistics.fmean(run["as it is"]["weight 0"])
        for name in ("end of text first", "newline first", "a random token first"):
            other = statistics.fmean(run[name]["weight 0"])
            assert abs(other - usual) < 0.06, name
            assert statistics.fmean(run[name]["norm 0"]) > 20_000
        again = run["first token again inside"]
        assert statistics.fmean(again["weight 32"]) < 0.01
        assert statistics.fmean(again["norm 32"]) < 200


def test_a_token_that_sees_only_itself_is_a_first_token():
    for run in runs("first token"):
        alone = run["sees itself alone inside"]
        weights = [statistics.fmean(alone[f"weight {place}"]) for place in (0, 32)]
        assert abs(weights[0] - weights[1]) < 0.02
        before = statistics.fmean(run["as it is"]["weight 0"])
        assert sum(weights) == pytest.approx(before, abs=0.06)  # they share it
        assert min(alone["norm 32"]) > 18_000
        four = run["first token four times"]["places"]
        assert min(four[:4]) > 0.999 * max(four[:4]) > 20_000 > 1000 > four[4]
        assert statistics.fmean(run["end of text inside"]["weight 32"]) > 0.2


def test_what_is_lost_without_the_sink_and_without_its_mark():
    for run in runs("ablation"):

        def lost(name, run=run):
            pairs = zip(run[name], run["whole"], strict=True)
            return mean_and_interval([a - b for a, b in pairs])

        assert lost("key of the first").low > 1.1
        assert lost("key of another").high < 0.07
        assert (
            0.15
            < lost("value of the first").low
            < lost("value of the first").high
            < 0.5
        )
        draws = run["key of the first, other heads"]
        assert len(draws) == sinks.DRAWS
        whole = statistics.fmean(run["whole"])
        drawn = [statistics.fmean(one) - whole for one in draws]
        assert statistics.fmean(drawn) < 0.8 * lost("key of the first").mean
        assert lost("unmarked").low > 0.8
        assert abs(lost("another mark").mean) < 0.005
        assert statistics.fmean(run["another mark, weight"]) > 0.55
        assert statistics.fmean(run["unmarked, weight"]) < 0.09
        assert statistics.fmean(run["whole, weight"]) > 0.55


@pytest.mark.parametrize("text", sinks.THREE)
def test_one_first_token_kept_makes_up_for_most_of_what_a_window_loses(text):
    none = mean_and_interval(above(text, 64, "first 0"))
    four = mean_and_interval(above(text, 64, "first 4"))
    assert none.low > 0.9
    assert four.high < 0.7
    assert four.mean < none.mean / 3
    kept = above(text, 64, "first 1")
    pairs = zip(kept, above(text, 64, "first 4"), strict=False)
    assert abs(statistics.fmean(a - b for a, b in pairs)) < 0.1
    for control in ("middle 4", "second 4"):
        assert mean_and_interval(above(text, 64, control)).low > 0.9
    for window in (32, 128, 256):
        without = statistics.fmean(above(text, window, "first 0"))
        assert without > 3 * statistics.fmean(above(text, window, "first 4"))


@pytest.mark.parametrize("text", sink_texts.OF_THE_BOOK)
def test_nearly_all_of_the_twelve_texts_begin_with_different_tokens(text):
    need("smollm2-135m")
    tested = sink_texts.windows(text, sinks.PIECES, sinks.LENGTH)[1::2][:12]
    assert len(tested[:, 0].unique()) > 10


def test_the_marks_size_is_not_what_draws_heads_and_another_mlp_is_not_missed():
    for run in runs("controls"):

        def lost(name, run=run):
            pairs = zip(run[name], run["whole"], strict=True)
            return mean_and_interval([a - b for a, b in pairs])

        before = runs("ablation", text=run["text"])[0]
        assert run["whole"] == before["whole"]
        weight = {
            name: statistics.fmean(run[f"{name}, weight"])
            for name in ("whole", "MLP 10 as elsewhere", "a tenth of the mark")
        }
        assert abs(weight["a tenth of the mark"] - weight["whole"]) < 0.01
        assert abs(weight["MLP 10 as elsewhere"] - weight["whole"]) < 0.04
        assert lost("MLP 10 as elsewhere").high < 0.03
        assert lost("a tenth of the mark").high < 0.15
        # A mean of other texts' first values does as well as the text's own.
        assert abs(lost("mean value").mean) < 0.003


def test_a_look_at_the_first_token_adds_little():
    for run in runs("controls"):
        (of,) = runs("weights", text=run["text"])
        sinking = [
            run["added"][layer][head]
            for layer, head in PLACES
            if of["chosen on"]["first"][layer][head] > 0.5
        ]
        assert len(sinking) > 70
        assert statistics.median(sinking) < 0.2
        assert max(sinking) < 0.8


def test_the_first_token_stands_out_until_the_last_layer():
    for run in runs("weights"):
        times = [first / other for first, other in run["test"]["stream"]]
        assert min(times[12:21]) > 100
        assert 12 < times[29] < 14


def test_two_equal_tokens_at_the_beginning_get_the_mark_together():
    for run in runs("first token"):
        found = run["first token four times"]
        assert found["heads"] == [0] * len(found["heads"])  # over half on one place


def test_a_mark_draws_heads_while_it_drowns_its_stream_and_at_another_token_too():
    for run in runs("marks"):
        (before,) = runs("controls", text=run["text"])
        weight = {
            name: statistics.fmean(run[f"{name}, weight"])
            for name in ("a hundredth", "a thousandth", "as it is")
        }
        usual = statistics.fmean(before["whole, weight"])
        assert run["as it is"] == pytest.approx(before["whole"], abs=2e-3)
        assert weight["as it is"] == pytest.approx(usual, abs=1e-3)
        assert weight["a thousandth"] < 0.15 < weight["a hundredth"] < 0.5 * usual
        assert 15 < run["first tokens"] < 20  # of the 20 texts of the mean value
        (first, other), (left, drawn) = (
            map(statistics.fmean, zip(*run["second mark, late"][name], strict=True))
            for name in ("as it is", "marked")
        )
        assert other < 0.01
        assert drawn > 0.2
        assert left + drawn == pytest.approx(first, abs=0.08)  # they share it
