"""What the page "Reading on" says of models that read beyond their training."""

import statistics

import pytest

from experiments import reading_on, sweeps
from helpers.recorded import results
from helpers.recorded.reading_on import COLUMNS, SIDES, summary
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate, has

RUNS = results.record("reading_on")["runs"]
NEAR, END, CLOSE, FAR = range(len(COLUMNS))
COMPARED, ALONE, OTHERS = list(SIDES)[:6], list(SIDES)[6:9], list(SIDES)[9:13]
#: Nats per character below the unscaled model, after 100 steps at the new length.
GAINED = {"larger base": 0.036, "NTK-aware": 0.063, "YaRN": 0.050}
CHOSEN = {"t5": 0.008}  # at the others, 0.004 is best


def column(side, place, part="before"):
    return [row[place] for row in summary(side, part)]


def mean(side, place, part="before"):
    return round(statistics.fmean(column(side, place, part)), 2)


def ahead(side, other, place):
    """By how much each seed of one side is above the other's."""
    pairs = zip(column(side, place), column(other, place), strict=True)
    return mean_and_interval([a - b for a, b in pairs])


def test_the_record_lacks_nothing():
    assert reading_on.wanted({"runs": RUNS}) == []
    for side in SIDES:
        assert len(summary(side)) == len(sweeps.SEEDS)
    for side in COMPARED:
        for part in ("longer", "control"):
            assert len(summary(side, part)) == len(sweeps.SEEDS)


@pytest.mark.parametrize("kind", reading_on.KINDS)
def test_within_the_trained_length_every_note_is_recalled(kind):
    runs = at_best_rate(RUNS, part="trained", kind=kind)
    (best,) = {run["rate"] for run in runs}
    assert best == CHOSEN.get(kind, 0.004)
    for run in runs:
        assert min(run["notes"][:2]) > (0.99 if kind in ("rotary", "alibi") else 0.96)
    tried = {
        run["rate"] for run in RUNS if (run["part"], run["kind"]) == ("trained", kind)
    }
    assert tried >= {best / 2, best, best * 2}  # a neighbour on both sides


def test_alibi_goes_on_telling_stories_and_forgets_notes():
    assert (mean("ALiBi", NEAR), mean("ALiBi", END)) == (0.67, 0.73)
    assert mean("ALiBi", FAR) == 0.78
    assert max(column("ALiBi", FAR)) < 0.9
    rises = [row[END] - row[NEAR] for row in summary("ALiBi")]
    assert max(rises) < 0.12
    for one, other in zip(column("YaRN", FAR), column("ALiBi", FAR), strict=True):
        assert one > other


def test_every_note_is_asked_for_once_and_the_near_ones_are_recalled():
    for side in (*COMPARED, *ALONE):
        assert min(column(side, CLOSE)) > 0.96
        assert mean(side, CLOSE) >= 0.99
    once = [run for run in RUNS if run["part"] == "once"]
    assert len(once) == len(SIDES) * len(sweeps.SEEDS)


def test_an_unscaled_rotary_model_loses_stories_and_far_notes():
    assert (mean("as trained", NEAR), mean("as trained", END)) == (0.67, 3.00)
    assert mean("as trained", FAR) == 0.62
    assert max(column("as trained", FAR)) < 0.75
    assert min(column("as trained", END)) > 2


def test_interpolation_keeps_notes_and_spoils_stories_everywhere():
    assert (mean("interpolation", NEAR), mean("interpolation", FAR)) == (3.17, 0.99)
    assert min(column("interpolation", NEAR)) > 2.5
    assert min(column("interpolation", FAR)) > 0.9


def test_ntk_aware_scaling_keeps_near_stories_and_loses_far_notes():
    assert (mean("NTK-aware", NEAR), mean("NTK-aware", FAR)) == (0.80, 0.70)
    scaled = ("larger base", "interpolation", "YaRN")
    for side in scaled:
        pairs = zip(column(side, NEAR), column("NTK-aware", NEAR), strict=True)
        assert all(one > other for one, other in pairs), side
        pairs = zip(column(side, FAR), column("NTK-aware", FAR), strict=True)
        assert all(one > other for one, other in pairs), side


def test_yarn_and_a_larger_base_recall_the_far_notes():
    assert [mean("YaRN", place) for place in (FAR, END, NEAR)] == [1.00, 1.53, 1.08]
    assert (mean("larger base", FAR), mean("larger base", END)) == (0.99, 1.70)
    assert min(column("YaRN", FAR)) > 0.99
    for side in ("larger base", "interpolation"):
        pairs = zip(column("YaRN", END), column(side, END), strict=True)
        assert all(one < other for one, other in pairs), side


def test_pairs_3_and_4_find_the_far_notes_and_mend_a_part_of_a_storys_end():
    fast, middle, slow = ALONE
    assert [mean(middle, place) for place in (NEAR, END, FAR)] == [0.72, 1.55, 0.96]
    more = {side: ahead(side, "as trained", FAR) for side in ALONE}
    assert round(more[middle].mean, 2) == 0.34
    assert more[middle].low > 0.2
    assert more[fast].low < 0 < more[fast].high < 0.02
    assert 0 < more[slow].low < more[slow].high < 0.1
    for side in (fast, slow):
        assert ahead(middle, side, FAR).low > 0.1
        assert min(column(side, END)) > 2
    assert min(column(fast, NEAR)) > 2.5
    assert mean(slow, NEAR) == 0.67


def test_each_pair_mends_the_distances_where_its_angles_were_new():
    found = {}
    for way in reading_on.BY_DISTANCE:
        once = at_best_rate(RUNS, part="by distance", way=way)
        assert [run["seed"] for run in once] == list(sweeps.SEEDS)
        found[way] = list(zip(*(run["notes"] for run in once), strict=True))
    more = {
        way: [
            mean_and_interval([one - its for one, its in zip(*both, strict=True)])
            for both in zip(found[way], found["as trained"], strict=True)
        ]
        for way in ("pair 3", "pair 4")
    }
    third, fourth = more["pair 3"], more["pair 4"]
    means = [round(third[1].mean, 2), round(fourth[1].mean, 2)]
    assert [*means, round(fourth[5].mean, 2)] == [0.36, 0.12, 0.36]
    assert round(third[2].mean, 2) == 0.33
    for gain in (*third[:4], *fourth):
        assert gain.low > 0
    assert -0.1 < third[5].mean < third[5].high < 0
    assert max(fourth) == fourth[5]  # its angles go on moving away
    assert max(third) == third[1]
    assert min(map(statistics.fmean, found["pairs 3 and 4"])) > 0.85


def test_a_sliding_window_reads_an_end_about_as_well_as_alibi():
    runs = at_best_rate(RUNS, part="window")
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    losses = [run["loss"] for run in runs]
    assert round(statistics.fmean(losses), 2) == 0.75
    more = [one - its for one, its in zip(losses, column("ALiBi", END), strict=True)]
    found = mean_and_interval(more)
    assert found.low < 0 < found.high < 0.1


def test_no_way_shown_mends_the_end_of_a_story():
    shown = [*COMPARED[:5], *ALONE]
    ends = {side: mean(side, END) for side in shown}
    assert min(ends, key=ends.__getitem__) == "YaRN"
    assert ends["YaRN"] == 1.53


def test_what_other_positions_lose_beyond_their_training():
    t5, partial, half, nope = OTHERS
    assert [mean(side, FAR) for side in OTHERS] == [1.00, 0.85, 0.60, 1.00]
    assert min(column(t5, FAR) + column(nope, FAR)) > 0.97
    assert [mean(side, NEAR) for side in OTHERS] == [0.87, 1.17, 0.79, 1.55]
    assert [mean(side, END) for side in OTHERS] == [1.35, 1.63, 2.54, 2.03]
    rises = {side: mean(side, END) - mean(side, NEAR) for side in OTHERS}
    lost = [rises[side] for side in (t5, partial, nope)]
    assert (round(min(lost), 2), round(max(lost), 2)) == (0.46, 0.48)
    assert max(lost) < 0.6 < rises[half] < 2
    for side in OTHERS:
        for row in summary(side):
            assert row[END] > row[NEAR] + 0.2
            assert row[NEAR] > 0.67


def test_a_hundred_steps_at_the_new_length_mend_most_of_it():
    ends = {side: mean(side, END, "longer") for side in COMPARED[:5]}
    assert ends == {
        **{"as trained": 0.74, "larger base": 0.70, "interpolation": 0.97},
        **{"NTK-aware": 0.67, "YaRN": 0.69},
    }
    far = {side: mean(side, FAR, "longer") for side in COMPARED[:5]}
    assert far.pop("as trained") == 0.99
    assert far.pop("NTK-aware") == 0.98
    assert set(far.values()) == {1.00}
    assert mean("ALiBi", END, "longer") == 0.62
    assert mean("ALiBi", FAR, "longer") == 0.98
    again = [run for run in RUNS if run["part"] == "longer"]
    assert all(len(run["once"]) == len(run["notes"]) for run in again)
    assert min(column("ALiBi", FAR, "longer")) > 0.9
    for one in COMPARED[:5]:
        pairs = zip(
            column("ALiBi", END, "longer"), column(one, END, "longer"), strict=True
        )
        assert all(alibi < other for alibi, other in pairs), one
    unscaled = column("as trained", END, "longer")
    for side in GAINED:
        pairs = zip(column(side, END, "longer"), unscaled, strict=True)
        below = mean_and_interval([other - one for one, other in pairs])
        assert below.low > 0, side
        assert round(below.mean, 3) == GAINED[side]
    pairs = zip(column("interpolation", END, "longer"), unscaled, strict=True)
    assert all(one > other + 0.1 for one, other in pairs)


def test_steps_at_the_old_length_are_enough_for_alibi_alone():
    ends = {side: mean(side, END, "control") for side in COMPARED}
    assert ends == {
        **{"as trained": 3.03, "larger base": 1.08, "interpolation": 1.49},
        **{"NTK-aware": 1.63, "YaRN": 1.14, "ALiBi": 0.68},
    }
    falls = {side: mean(side, END) - end for side, end in ends.items()}
    assert max(falls, key=falls.__getitem__) == "interpolation"


def test_as_many_steps_at_the_old_length_mend_what_is_near():
    near = [mean("interpolation", NEAR, part) for part in ("control", "longer")]
    assert near == [0.91, 0.93]
    assert mean("interpolation", END, "control") == 1.49
    assert mean("as trained", END, "control") == 3.03
    assert mean("NTK-aware", END, "control") == 1.63
    for way in ("as trained", "ntk"):
        (rate,) = {
            run["rate"]
            for run in at_best_rate(RUNS, part="control", kind="rotary", way=way)
        }
        assert rate == min(sweeps.RATES)
    settings = {"part": "control", "kind": "rotary", "way": "as trained", "seed": 0}
    first = sorted(
        (run["rate"], run["validation"]) for run in RUNS if has(run, settings)
    )
    losses = [loss for _, loss in first]
    assert len(losses) >= 5
    assert losses == sorted(losses)
    for side in COMPARED[:5]:
        pairs = zip(
            column(side, END, "control"), column(side, END, "longer"), strict=True
        )
        assert all(one > other + 0.2 for one, other in pairs), side


def test_an_unknown_side_is_named():
    with pytest.raises(ValueError, match=r"side must be one of .* got 'LongRoPE'"):
        summary("LongRoPE")
