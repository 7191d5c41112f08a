"""What the page What does "it" mean? says of heads where another word asks."""

import pytest

from experiments.real_model import other_askers
from experiments.real_model.heads import head_name
from helpers.recorded import results
from helpers.recorded.sweeps import has
from tests.real_models import need

RECORD = results.record("real_model")["runs"]
ALL = [one for one in RECORD if one["study"] == "other_askers"]
RUNS = {one["model"]: one for one in ALL if "relation" in one}
(CONTRAST,) = (one for one in ALL if "chosen by" in one)
MEAN, LOW, HIGH = 0, 1, 2


def test_the_record_is_whole():
    for settings in other_askers.PLAN:
        assert sum(has(run, settings) for run in ALL) == 1, settings
    assert len(ALL) == len(other_askers.PLAN)


def test_the_heads_and_what_they_find_are_those_of_the_claims():
    for model, run in RUNS.items():
        (claim,) = (
            one["relations"][run["relation"]]
            for one in RECORD
            if one["study"] == "head_claims"
            and (one["model"], one["start"]) == (model, model == "smollm2")
        )
        assert run["head"] == claim["head"]
        assert run["own"] == claim["half 1"]


def test_the_subject_is_found_for_some_words_and_a_clue_for_nearly_any():
    subject, clue = RUNS["smollm2"], RUNS["minilm"]
    assert subject["own"][LOW] > subject["and"][HIGH]
    assert subject["quickly"][LOW] > subject["and"][HIGH]
    assert clue["another"][LOW] > 0.7
    assert 0 < clue["beyond another"][LOW] < clue["beyond another"][HIGH] < 0.25
    assert clue["own"][MEAN] - clue["another"][MEAN] == pytest.approx(
        clue["beyond another"][MEAN], abs=2e-4
    )


def test_chosen_by_the_contrast_a_head_finds_a_clue_for_its_own_word():
    own = CONTRAST
    assert own["head"] == head_name(other_askers.RELATED) == "9.2"
    assert own["own"][LOW] > 0.25 > 0.1 > own["another"][HIGH]
    assert own["beyond another"][LOW] > 0.25
    assert own["beyond another"][MEAN] == pytest.approx(own["chosen"], abs=0.05)


def test_what_it_finds_is_related_to_a_word_of_one_meaning_too():
    (own,) = (one for one in ALL if "asked by" in one)
    assert own["same"][LOW] > own["another"][HIGH] > own["other"][HIGH]
    assert own["word"] == pytest.approx(own["same"], abs=0.05)


@pytest.mark.slow
def test_a_head_chosen_again_by_the_contrast_is_as_recorded():
    need("smollm2-135m")
    again = other_askers.by_contrast(other_askers.EACH)
    assert again["head"] == CONTRAST["head"]
    for name in ("own", "another", "beyond another"):
        assert again[name] == pytest.approx(CONTRAST[name], abs=0.02)


@pytest.mark.slow
def test_one_head_measured_again_is_as_recorded():
    need("minilm")
    again = other_askers.measure(other_askers.PLAN[1])
    assert again["head"] == RUNS["minilm"]["head"]
    for name in ("own", "another", "beyond another"):
        assert again[name] == pytest.approx(RUNS["minilm"][name], abs=0.02)
