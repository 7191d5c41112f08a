"""What the page What does "it" mean? says of chosen heads and other frames."""

import pytest

from experiments.real_model import same_frames
from helpers.recorded import results
from tests.real_models import need

RECORD = results.record("real_model")["runs"]
RUNS = {one["relation"]: one for one in RECORD if one["study"] == "same_frames"}
MEAN, LOW, HIGH = 0, 1, 2


def test_the_record_is_whole():
    assert RUNS.keys() == {one["relation"] for one in same_frames.PLAN}


def test_the_heads_and_their_first_and_last_numbers_are_those_of_the_claims():
    (claims,) = (
        one["relations"]
        for one in RECORD
        if one["study"] == "head_claims" and one["model"] == "minilm"
    )
    for name, run in RUNS.items():
        assert run["head"] == claims[name]["head"]
        assert run["chosen on"] == claims[name]["half 0"]
        assert run["other frames"] == claims[name]["half 1"]


def test_new_sentences_cost_little_and_other_frames_nearly_all():
    for run in RUNS.values():
        assert run["same frames"][LOW] > run["other frames"][HIGH]
        assert run["other frames"][MEAN] < 0.1
    verb, determiner = RUNS["subject to verb"], RUNS["noun to determiner"]
    assert verb["same frames"][MEAN] >= verb["chosen on"][MEAN]
    assert determiner["same frames"][MEAN] < determiner["chosen on"][MEAN] - 0.1


@pytest.mark.slow
def test_one_relation_measured_again_is_as_recorded():
    need("minilm")
    settings = {"model": "minilm", "relation": "subject to verb"}
    assert same_frames.measure(settings)["same frames"] == pytest.approx(
        RUNS["subject to verb"]["same frames"], abs=0.02
    )
