"""What the page "Reading on" says of models that read beyond their training."""

import statistics

import pytest

from experiments import reading_on, sweeps
from helpers.recorded import results
from helpers.recorded.reading_on import COLUMNS, SIDES, summary
from helpers.recorded.sweeps import at_best_rate, has

RUNS = results.record("reading_on")["runs"]
NEAR, END, CLOSE, FAR = range(len(COLUMNS))


def column(side, place, part="before"):
    return [row[place] for row in summary(side, part)]


def mean(side, place, part="before"):
    return round(statistics.fmean(column(side, place, part)), 2)


def test_the_record_lacks_nothing():
    assert reading_on.wanted({"runs": RUNS}) == []
    for side in SIDES:
        assert len(summary(side)) == len(sweeps.SEEDS)


@pytest.mark.parametrize("kind", reading_on.KINDS)
def test_within_the_trained_length_every_note_is_recalled(kind):
    runs = at_best_rate(RUNS, part="trained", kind=kind)
    assert {run["rate"] for run in runs} == {0.004}  # with a neighbour on both sides
    for run in runs:
        assert min(run["notes"][:2]) > 0.99
    tried = {
        run["rate"] for run in RUNS if (run["part"], run["kind"]) == ("trained", kind)
    }
    assert tried >= {0.002, 0.004, 0.008}


def test_alibi_goes_on_telling_stories_and_forgets_notes():
    assert (mean("ALiBi", NEAR), mean("ALiBi", END)) == (0.67, 0.73)
    assert mean("ALiBi", FAR) == 0.78
    assert round(min(column("ALiBi", FAR)), 2) == 0.66
    assert max(column("ALiBi", FAR)) < 0.93
    rises = [row[END] - row[NEAR] for row in summary("ALiBi")]
    assert max(rises) < 0.12
    for one, other in zip(column("YaRN", FAR), column("ALiBi", FAR), strict=True):
        assert one > other


def test_an_unscaled_rotary_model_loses_both():
    assert (mean("as trained", NEAR), mean("as trained", END)) == (0.67, 3.00)
    assert mean("as trained", FAR) == 0.65
    assert max(column("as trained", FAR)) < 0.75
    assert min(column("as trained", END)) > 2


def test_interpolation_keeps_notes_and_spoils_stories_everywhere():
    assert (mean("interpolation", NEAR), mean("interpolation", FAR)) == (3.17, 0.98)
    assert min(column("interpolation", NEAR)) > 2.5
    assert min(column("interpolation", FAR)) > 0.9


def test_ntk_aware_scaling_keeps_near_stories_and_loses_far_notes():
    assert (mean("NTK-aware", NEAR), mean("NTK-aware", FAR)) == (0.80, 0.69)
    scaled = [
        side for side in SIDES if side not in ("as trained", "ALiBi", "NTK-aware")
    ]
    for side in scaled:
        pairs = zip(column(side, NEAR), column("NTK-aware", NEAR), strict=True)
        assert all(one > other for one, other in pairs), side
        pairs = zip(column(side, FAR), column("NTK-aware", FAR), strict=True)
        assert all(one > other for one, other in pairs), side


def test_yarn_and_a_larger_base_recall_the_far_notes():
    assert (mean("YaRN", FAR), mean("YaRN", END)) == (1.00, 1.53)
    assert (mean("larger base", FAR), mean("larger base", END)) == (0.99, 1.70)
    assert min(column("YaRN", FAR)) > 0.99
    for side in ("larger base", "interpolation"):
        pairs = zip(column("YaRN", END), column(side, END), strict=True)
        assert all(one < other for one, other in pairs), side


def test_a_hundred_steps_at_the_new_length_mend_most_of_it():
    ends = {side: mean(side, END, "longer") for side in list(SIDES)[:5]}
    assert ends == {
        **{"as trained": 0.74, "larger base": 0.70, "interpolation": 0.97},
        **{"NTK-aware": 0.67, "YaRN": 0.69},
    }
    for side in ends:
        assert mean(side, FAR, "longer") == 1.00
    unscaled = column("as trained", END, "longer")
    for side in ("larger base", "NTK-aware", "YaRN"):
        pairs = zip(column(side, END, "longer"), unscaled, strict=True)
        below = [one - other for one, other in pairs]
        assert statistics.fmean(below) < 0, side
    pairs = zip(column("interpolation", END, "longer"), unscaled, strict=True)
    assert all(one > other + 0.1 for one, other in pairs)


def test_as_many_steps_at_the_old_length_mend_what_is_near():
    near = [mean("interpolation", NEAR, part) for part in ("control", "longer")]
    assert near == [0.91, 0.93]
    assert mean("interpolation", END, "control") == 1.49
    assert mean("as trained", END, "control") == 3.03
    (rate,) = {
        run["rate"]
        for run in at_best_rate(RUNS, part="control", kind="rotary", way="as trained")
    }
    assert rate == min(sweeps.RATES)
    settings = {"part": "control", "kind": "rotary", "way": "as trained", "seed": 0}
    first = sorted(
        (run["rate"], run["validation"]) for run in RUNS if has(run, settings)
    )
    losses = [loss for _, loss in first]
    assert len(losses) >= 5
    assert losses == sorted(losses)
    for side in ("as trained", "larger base", "interpolation"):
        pairs = zip(
            column(side, END, "control"), column(side, END, "longer"), strict=True
        )
        assert all(one > other + 0.2 for one, other in pairs), side


def test_an_unknown_side_is_named():
    with pytest.raises(ValueError, match=r"side must be one of .* got 'LongRoPE'"):
        summary("LongRoPE")
