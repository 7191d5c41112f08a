"""What the pages on the two-core minute and Muon say of the eleven rungs."""

import math
import re
import statistics

import pytest

from experiments import recipe_ablations, sweeps
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate
from tests.book.test_notebooks import CHAPTERS
from tools import notebooks

RECORD = results.record("recipe_ablations")
GAINING = ("Muon", "bigram embedding", "rotary positions")
KNOWN = {"Muon", "rotary positions", "RMSNorm"}  # from other pages


def losses(side, characters=recipe_ablations.CHARACTERS, part="test"):
    runs = at_best_rate(RECORD["runs"], side=side, characters=characters)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return [run[part] for run in runs]


def differences(low, high, *which):
    """By how much the loss falls from one side to another, seed by seed."""
    pairs = zip(losses(low, *which), losses(high, *which), strict=True)
    return [before - after for before, after in pairs]


def gain(*which):
    return mean_and_interval(differences(*which))


WHOLE = gain("bottom", "top")
ALONE = {rung: gain("bottom", f"alone: {rung}") for rung in recipe_ablations.RUNGS}
BESIDE = {rung: gain(f"without: {rung}", "top") for rung in recipe_ablations.RUNGS}


def test_the_page_says_what_each_rung_is():
    cells = notebooks.read(CHAPTERS / "two_core_minute.ipynb").cells
    texts = {one.id: one.source for one in cells}
    for rung in recipe_ablations.RUNGS:
        assert re.search(rf"\b{rung}\b", texts["rungs-read"]), rung
    rows = re.findall(r"^\| \W*([^|]*\w)\W* \|", texts["rungs-read"], re.MULTILINE)
    assert set(rows[1:]) == recipe_ablations.RUNGS.keys() - KNOWN
    assert (*GAINING, "two blocks") == recipe_ablations.FEW


def test_the_record_lacks_nothing():
    assert recipe_ablations.wanted(RECORD) == []


def test_muon_gains_as_much_alone_as_the_whole_ladder():
    assert round(WHOLE.mean, 2) == round(ALONE["Muon"].mean, 2) == 0.24
    assert ALONE["Muon"].low > 0.15
    for one in ("bottom", "alone: Muon", "AdamW in bfloat16: 1/16"):
        runs = at_best_rate(
            RECORD["runs"], side=one, characters=recipe_ablations.CHARACTERS
        )
        assert {run["steps"] for run in runs} == {1333}
    assert max(ALONE, key=lambda rung: ALONE[rung].mean) == "Muon"
    for rung, share in (("rotary positions", 0.6), ("bigram embedding", 0.5)):
        assert ALONE[rung].mean == pytest.approx(share * WHOLE.mean, rel=0.1)


def test_two_rates_gain_more_than_a_third_of_what_muons_rung_does():
    lowest = {
        share: min(
            run["validation"]
            for run in RECORD["runs"]
            if run["side"] == f"AdamW: {share}"
            and run["seed"] == 0
            and run["characters"] == recipe_ablations.CHARACTERS
        )
        for share in recipe_ablations.SHARES
    }
    # The best share stands inside what was tried.
    assert [*lowest][-2:] == ["1/16", "1/32"]
    assert recipe_ablations.best_share(RECORD["runs"]) == "1/16"
    assert lowest["1/8"] > lowest["1/16"] < lowest["1/32"]
    found = gain("bottom", "AdamW in bfloat16: 1/16")
    assert found.low > 0.05
    assert round(found.mean, 2) == 0.09
    assert ALONE["Muon"].mean / 3 < found.mean < ALONE["Muon"].mean / 2
    assert gain("AdamW in bfloat16: 1/16", "alone: Muon").low > 0.1
    (rate,) = {
        run["rate"]
        for run in at_best_rate(
            RECORD["runs"], side="AdamW: 1/16", characters=recipe_ablations.CHARACTERS
        )
    }
    assert rate == 0.032 == 16 * 0.002


def test_more_than_half_of_what_muon_gains_is_left_beside_adamw_with_two_rates():
    left = gain("AdamW in bfloat16: 1/16", "alone: Muon")
    assert (round(left.mean, 2), round(ALONE["Muon"].mean, 2)) == (0.15, 0.24)
    assert ALONE["Muon"].mean / 2 < left.low


def test_for_adamw_with_two_rates_the_type_makes_no_difference_that_shows():
    found = gain("AdamW in bfloat16: 1/16", "AdamW: 1/16")
    assert found.low < 0 < found.high
    assert abs(found.mean) < 0.005
    left = gain("AdamW: 1/16", "alone: Muon")
    assert round(left.mean, 2) == 0.15


def test_at_the_minutes_length_four_rungs_end_a_little_above_it():
    runs = at_best_rate(RECORD["runs"], side="few", characters=recipe_ablations.FULL)
    assert [run["seed"] for run in runs] == [0, 1, 2]
    four = [(run["validation"] + run["test"]) / 2 for run in runs]
    minute = [
        run["loss"]
        for run in results.record("two_core_minute")["runs"]
        if run["recipe"] == "minute"
    ]
    assert round(statistics.fmean(four), 2) == 1.57
    assert round(statistics.fmean(minute), 2) == 1.54
    assert min(four) > max(minute)
    assert round(statistics.fmean(four) - statistics.fmean(minute), 2) == 0.03


def test_muon_gains_beside_adamw_with_two_rates_and_1_3_times_the_steps():
    long, short = (
        losses("AdamW: 1/16", length)
        for length in (recipe_ablations.AS_LONG, recipe_ablations.CHARACTERS)
    )
    steps = {
        length: at_best_rate(RECORD["runs"], side="AdamW: 1/16", characters=length)[0]
        for length in (recipe_ablations.AS_LONG, recipe_ablations.CHARACTERS)
    }
    more, before = (one["steps"] for one in steps.values())
    assert round(more / before, 1) == 1.3
    assert steps[recipe_ablations.AS_LONG]["rate"] == 0.032
    assert max(long) < min(short)
    pairs = zip(long, losses("alone: Muon"), strict=True)
    left = mean_and_interval([adamw - muon for adamw, muon in pairs])
    assert f"{left:.2f}" == "0.10 [0.09, 0.12]"


def test_with_muons_best_rate_another_for_all_else_gains_nothing_that_shows():
    of_muon = 0.008 * recipe_ablations.MUON
    ratios = {"alone: Muon": recipe_ablations.MUON}
    ratios |= {f"Muon: ratio {one}": float(one) for one in recipe_ablations.RATIOS}
    tried = {
        run["rate"]: run["validation"]
        for run in RECORD["runs"]
        if run["seed"] == 0
        and run["side"] in ratios
        and math.isclose(run["rate"] * ratios[run["side"]], of_muon)
    }
    assert sorted(tried) == [0.008, 0.016, 0.032]
    assert tried[0.008] > tried[0.016] < tried[0.032]
    found = gain("alone: Muon", "Muon: ratio 0.85")
    assert f"{found:.3f}" == "-0.004 [-0.011, 0.003]"


def test_the_references_rate_is_the_best_of_all_five_seeds():
    found = {}
    for run in RECORD["runs"]:
        if run["side"] == "bottom":
            found.setdefault(run["rate"], {})[run["seed"]] = run["validation"]
    for rate in (0.001, 0.002, 0.004):
        assert sorted(found[rate]) == list(sweeps.SEEDS)
    best = statistics.fmean(found[0.002].values())
    for rate in (0.001, 0.004):
        assert best < statistics.fmean(found[rate].values()) - 0.02
    for rung in ("squared ReLU", "skip from the embeddings", "zero initialisation"):
        assert ALONE[rung].mean < 0.055  # a few hundredths: the rung's rate may do that


@pytest.mark.parametrize("side", recipe_ablations.SIDES)
def test_each_sides_rate_is_better_than_its_neighbours_with_the_first_seed(side):
    tried = {
        run["rate"]: run["validation"] or math.inf
        for run in RECORD["runs"]
        if (run["side"], run["seed"]) == (side, 0)
        and run["characters"] == recipe_ablations.CHARACTERS
    }
    (best,) = {
        run["rate"]
        for run in at_best_rate(
            RECORD["runs"], side=side, characters=recipe_ablations.CHARACTERS
        )
    }
    low, _, high = sweeps.neighbours(best)
    assert tried[low] > tried[best] < tried[high]


def test_muons_rung_takes_1_3_times_the_processors_time():
    taken = {
        side: statistics.median(
            run["processor"]
            for run in at_best_rate(
                RECORD["runs"], side=side, characters=recipe_ablations.CHARACTERS
            )
        )
        for side in ("bottom", "alone: Muon")
    }
    assert round(taken["alone: Muon"] / taken["bottom"], 1) == 1.3


def test_of_the_rungs_alone_only_muons_costs_time_and_only_two_blocks_save_any():
    taken = {}
    for side in ("bottom", *(f"alone: {rung}" for rung in recipe_ablations.RUNGS)):
        runs = at_best_rate(
            RECORD["runs"], side=side, characters=recipe_ablations.CHARACTERS
        )
        taken[side] = statistics.median(run["processor"] for run in runs)
    before = taken.pop("bottom")
    assert {side for side, each in taken.items() if each > 1.1 * before} == {
        "alone: Muon"
    }
    assert {side for side, each in taken.items() if each < 0.89 * before} == {
        "alone: two blocks"
    }


def test_two_blocks_take_four_tenths_of_the_time():
    alone, beside = (
        [
            statistics.median(
                run["processor"]
                for run in at_best_rate(
                    RECORD["runs"], side=side, characters=recipe_ablations.CHARACTERS
                )
            )
            for side in sides
        ]
        for sides in (("alone: two blocks", "bottom"), ("top", "without: two blocks"))
    )
    assert round(alone[0] / alone[1], 1) == round(beside[0] / beside[1], 1) == 0.4


def test_two_rungs_do_harm_alone():
    for rung, most in (("linear decay to zero", -0.04), ("256 characters", -0.4)):
        assert ALONE[rung].high < most
    assert min(other.high for other in ALONE.values()) == ALONE["256 characters"].high
    unclear = {rung for rung, found in ALONE.items() if found.low < 0 < found.high}
    assert unclear == {"RMSNorm", "two blocks"}
    steps = {
        at_best_rate(RECORD["runs"], side=side, characters=recipe_ablations.CHARACTERS)[
            0
        ]["steps"]
        for side in ("bottom", "alone: 256 characters")
    }
    assert steps == {1333, 500}


def test_what_a_part_gains_depends_on_its_neighbours():
    for rung, least, most in (("Muon", 0.05, 0.2), ("256 characters", -0.6, -0.35)):
        pairs = zip(
            differences("bottom", f"alone: {rung}"),
            differences(f"without: {rung}", "top"),
            strict=True,
        )
        less = mean_and_interval([alone - beside for alone, beside in pairs])
        assert least < less.low < less.high < most


def test_three_rungs_gain_beside_all_others_and_one_does_harm():
    assert {rung for rung, found in BESIDE.items() if found.low > 0} == set(GAINING)
    assert {rung for rung, found in BESIDE.items() if found.high < 0} == {"two blocks"}
    for rung, mean in zip(GAINING, (0.12, 0.05, 0.18), strict=True):
        assert round(BESIDE[rung].mean, 2) == mean
    assert round(BESIDE["two blocks"].mean, 2) == -0.04
    others = BESIDE.keys() - {*GAINING, "two blocks"}
    assert max(others, key=lambda rung: BESIDE[rung].low) == "linear decay to zero"


def test_on_the_other_half_three_more_gain_a_little():
    found = {
        rung: gain(f"without: {rung}", "top", recipe_ablations.CHARACTERS, "validation")
        for rung in recipe_ablations.RUNGS
    }
    more = {rung for rung, one in found.items() if one.low > 0} - set(GAINING)
    assert more == {
        *("linear decay to zero", "zero initialisation", "skip from the embeddings")
    }
    assert all(0.008 < found[rung].mean < 0.018 for rung in more)


def test_four_rungs_gain_what_all_eleven_do_and_muon_with_two_blocks_less():
    others = gain("few", "top")
    assert others.low < 0 < others.high
    assert round(others.mean, 3) == 0.003
    two = gain(recipe_ablations.TWO, "few")
    assert f"{two:.3f}" == "0.056 [0.044, 0.068]"


def test_two_simpler_recipes_end_where_the_ladder_does():
    over = {side: gain(side, "top") for side in ("alone: Muon", "few")}
    assert all(abs(one.mean) < 0.01 for one in over.values())
    assert all(-0.03 < one.low < 0 < one.high < 0.03 for one in over.values())
    short = {side: gain(recipe_ablations.SHORT, side) for side in ("top", *over)}
    assert f"{short['top']:.3f}" == "0.029 [0.024, 0.033]"
    assert all(one.low > 0 for one in short.values())  # tested alike, they end lower


def test_long_windows_need_rotary_positions_or_more_steps():
    costs = {
        long: gain(long, short)
        for long, short in (
            ("alone: 256 characters", "bottom"),
            (recipe_ablations.STEPS, "bottom"),
            (recipe_ablations.ROTARY, "alone: rotary positions"),
        )
    }
    alone, steps, rotary = costs.values()
    assert f"{alone:.2f}" == "0.46 [0.41, 0.50]"
    assert f"{steps:.2f}" == "0.20 [0.17, 0.23]"
    assert f"{rotary:.2f}" == "0.10 [0.07, 0.13]"
    assert rotary.high < steps.low
    ends = losses("alone: 256 characters")
    assert round(statistics.fmean(ends), 2) == 2.40
    counts = [
        at_best_rate(RECORD["runs"], side=one, characters=recipe_ablations.CHARACTERS)
        for one in ("bottom", *costs)
    ]
    assert [runs[0]["steps"] for runs in counts] == [1333, 500, 1333, 500]
    page = notebooks.read(CHAPTERS / "10_training.ipynb")
    assert re.search(r"n-grams of order 2 +2\.49 nats", str(page.cells))


def test_muon_alone_ends_as_low_as_the_four_in_over_twice_the_time():
    assert abs(gain("few", "alone: Muon").mean) < 0.01
    taken = {}
    for side in ("few", "alone: Muon"):
        runs = at_best_rate(
            RECORD["runs"], side=side, characters=recipe_ablations.CHARACTERS
        )
        taken[side] = statistics.median(run["processor"] for run in runs)
    assert taken["alone: Muon"] > 2 * taken["few"]


def test_the_first_half_of_the_held_out_text_is_easier():
    for side in recipe_ablations.SIDES:
        first = statistics.fmean(losses(side, part="validation"))
        assert first < statistics.fmean(losses(side))


def test_four_rungs_take_about_as_long_as_all_eleven():
    taken = {
        side: statistics.median(
            run["processor"]
            for run in at_best_rate(
                RECORD["runs"], side=side, characters=recipe_ablations.CHARACTERS
            )
        )
        for side in ("bottom", "few", "top")
    }
    assert taken["few"] < 0.65 * taken["bottom"]
    assert taken["few"] < 1.15 * taken["top"]
