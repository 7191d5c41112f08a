"""What chapter 18 says of SmolLM2's induction heads, asserted on the record."""

import itertools
import statistics

import pytest
import torch

from experiments.real_model import copying
from experiments.real_model.copying_losses import losses
from experiments.real_model.copying_scores import HEADS, LAYERS, told_twice
from experiments.real_model.heads import head_name as named
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import has
from tests.real_models import need

RUNS = [
    run for run in results.record("real_model")["runs"] if run["study"] == "copying"
]
PLACES = list(itertools.product(range(LAYERS), range(HEADS)))


def the(part, **settings):
    (found,) = (run for run in RUNS if has(run, {"part": part} | settings))
    return found


def by_template(numbers):
    """The mean of each template's sentences: what is independent of the others."""
    rows = {}
    for template, one in zip(the("names")["templates"], numbers, strict=True):
        rows.setdefault(template, []).append(one)
    return [statistics.fmean(row) for row in rows.values()]


def test_the_record_is_whole():
    for one in copying.PLAN:
        the(**one)
    assert len(RUNS) == len(copying.PLAN)


def test_what_is_measured_anew_is_what_the_record_has():
    need("smollm2-135m")
    found = losses(told_twice(copying.TESTED, "test"))
    for one, expected in zip(found, the("switched off")["whole"], strict=True):
        torch.testing.assert_close(one, torch.tensor(expected), atol=2e-3, rtol=1e-3)


def test_few_heads_go_back_to_what_came_next_and_both_halves_agree():
    scores = the("scores")
    test, chosen = scores["test"]["prefix"], scores["choose"]["prefix"]
    high = [(layer, head) for layer, head in PLACES if test[layer][head] > 0.3]
    assert len(high) == 12
    assert min(layer for layer, _ in high) == 17
    assert statistics.median(itertools.chain(*test)) < 0.01
    order = the("switched off")["heads"]
    assert {named(one) for one in high} == set(order[:12])
    for layer, head in PLACES:
        assert abs(test[layer][head] - chosen[layer][head]) < 0.02
    assert max(itertools.chain(*scores["errors"])) < 0.02


def test_heads_that_share_keys_go_back_together():
    heads = [tuple(map(int, one.split("."))) for one in top(8)]
    pairs = itertools.combinations(heads, 2)
    same_layer = [(a, b) for (one, a), (other, b) in pairs if one == other]
    assert len(same_layer) == 5
    assert sum(a // 3 == b // 3 for a, b in same_layer) == 4


def top(count):
    return the("switched off")["heads"][:count]


def test_without_eight_heads_the_second_copy_is_nearly_new():
    found = the("switched off")
    first, second = (statistics.fmean(one) for one in found["whole"])
    assert second < 2
    assert first > 14.5
    for kind, least in (("zeros", 10), ("means", 8.2)):
        assert mean_and_interval(found[f"{kind} 8"][1]).low > least
        assert statistics.fmean(found[f"next {kind} 8"][1]) < 3.3
    for kind in ("drawn zeros 8", "drawn zeros 16", "drawn means 8"):
        assert len(found[kind]) == copying.DRAWS
        assert max(one[1] for one in found[kind]) < 2.8
    for name in ("zeros 8", "means 8"):
        assert abs(statistics.fmean(found[name][0]) - first) < 0.5


@pytest.mark.parametrize(("tokens", "length", "start"), copying.OTHERS)
def test_so_it_is_with_other_lengths_and_tokens(tokens, length, start):
    run = the("other texts", tokens=tokens, length=length, start=start)
    second = {name: statistics.fmean(run[name][1]) for name in ("whole", "top")}
    drawn = max(one[1] for one in run["drawn"])
    assert second["top"] - second["whole"] > 5.5
    assert second["top"] - second["whole"] > 5 * (drawn - second["whole"])


def test_made_up_names_are_finished_by_the_same_heads():
    found = the("names")
    whole, other, off = (
        mean_and_interval(by_template(found[name]["loss"]))
        for name in ("whole", "another", "zeros 8")
    )
    assert whole.high < 0.7
    assert other.low > 7.5
    assert off.low > 5.5
    share = (off.mean - whole.mean) / (other.mean - whole.mean)
    assert 0.7 < share < 0.8
    assert mean_and_interval(by_template(found["means 8"]["loss"])).low > 4.7
    assert max(found["drawn zeros 8"]["loss"]) < 0.45
    assert statistics.fmean(found["next zeros 8"]["loss"]) < 0.7
    unread = statistics.fmean(found["another, zeros 8"]["loss"])
    assert abs(unread - other.mean) < 0.1


def test_the_keys_of_induction_heads_need_one_head_before_them():
    found = the("composition")
    whole = statistics.fmean(found["whole"])
    assert statistics.fmean(found["keys"]) < 0.03
    assert f"{whole:.2f} {statistics.fmean(found['first, keys']):.2f}" == "0.67 0.02"
    # Where the MLPs between may answer, a part comes back.
    assert 0.1 < statistics.fmean(found["keys, MLPs"]) < 0.15
    assert whole > 0.65
    for name in ("queries", "values"):
        assert statistics.fmean(found[name]) > 0.59
    assert min(found["drawn, keys"]) > 0.53
    alone = dict(zip(found["previous"], found["each, keys"], strict=True))
    assert all(int(name.split(".")[0]) < 17 for name in found["previous"])
    assert alone.pop("16.0") < 0.03
    assert statistics.fmean(found["first, keys"]) == pytest.approx(
        found["each, keys"][0], abs=1e-3
    )
    assert min(alone.values()) > 0.61


def test_the_matrices_do_not_tell_the_induction_heads():
    rank, positive = the("matrices")["own rank"], the("matrices")["positive"]
    heads = [tuple(map(int, one.split("."))) for one in top(8)]
    for of, bound in ((rank, 0.64), (positive, 0.36)):
        mean = statistics.fmean(of[layer][head] for layer, head in heads)
        assert mean < statistics.median(itertools.chain(*of)) < bound + 0.01


def test_without_that_one_head_most_of_a_copy_is_lost():
    found = the("one head")
    assert found["head"] == "16.0"
    for kind in ("zeros", "means"):
        assert mean_and_interval(found[kind][1]).low > 6
        assert abs(statistics.fmean(found[kind][0]) - 14.8) < 0.2
        names = by_template(found[f"names, {kind}"]["loss"])
        assert mean_and_interval(names).low > 1.5
    assert max(second for _, second in found["others"]) < 2.2
    assert max(found["names, others"]) < 0.4


def test_eight_others_leave_a_name_as_it_is():
    names = the("names")
    same = statistics.fmean(names["whole"]["loss"][::2])  # the draws' sentences
    drawn = names["drawn zeros 8"]["loss"]
    assert min(drawn) < same < max(drawn)
    assert abs(statistics.fmean(drawn) - same) < 0.05


def test_four_of_the_eight_raise_what_they_look_at_two_of_them_a_little():
    scores = the("scores")["test"]
    added = {
        name: scores["copied"][layer][head]
        for name in top(8)
        for layer, head in [map(int, name.split("."))]
    }
    assert f"{sum(added.values()):.1f}" == "1.2"
    assert added.pop("24.4") < -0.5
    for name in ("18.6", "18.7", "23.2", "23.7"):
        assert added.pop(name) > 0.1
    assert set(added) == {"17.3", "17.4", "17.5"}
    assert max(map(abs, added.values())) < 0.02
    others = sorted(
        scores["copied"][layer][head]
        for layer, head in PLACES
        if f"{layer}.{head}" not in top(8)
    )
    assert others[len(others) * 95 // 100] < 0.09 < 0.13 < others[-9]  # nine as much
    assert abs(others[len(others) * 5 // 100]) < 0.005  # hardly one lowers
    assert abs(statistics.median(itertools.chain(*scores["copied"]))) < 0.001


def test_in_real_texts_the_eight_carry_a_part_of_what_a_repetition_saves():
    found = the("real texts")
    (new, again), without = found["whole"], found["zeros 8"][1]

    def more(than):
        return mean_and_interval([a - b for a, b in zip(than, again, strict=True)])

    assert len(again) == copying.TESTED
    saved = more(new)
    assert saved.low > 3.4
    assert more(without).low > 0.8
    assert more(without).high < 0.45 * saved.mean
    assert more(found["means 8"][1]).low > 0.6
    drawn = [second - statistics.fmean(again) for _, second in found["drawn zeros 8"]]
    assert len(drawn) == copying.DRAWS
    assert max(drawn) < 0.3


def test_with_means_in_place_of_zeros_less_is_lost_but_not_much_less():
    lost = {
        part: mean_and_interval(found["means 8"][1]).mean
        - mean_and_interval(found["whole"][1]).mean
        for part, found in (
            ("noise", the("switched off")),
            ("real texts", the("real texts")),
        )
    }
    names = the("names")
    lost["names"] = statistics.fmean(by_template(names["means 8"]["loss"]))
    lost["names"] -= statistics.fmean(by_template(names["whole"]["loss"]))
    assert [f"{one:.1f}" for one in lost.values()] == ["6.9", "0.9", "5.2"]
