"""What the page What does "it" mean? says of pronouns in SmolLM2, on the record."""

import pytest

from experiments.real_model import (
    pronoun_causes,
    pronoun_frames,
    pronoun_roles,
    pronoun_words,
    pronouns,
)
from helpers.recorded import results
from tests.real_models import need

RUNS = [
    one for one in results.record("real_model")["runs"] if one["study"] == "pronouns"
]


def run(**settings):
    (found,) = [one for one in RUNS if settings.items() <= one.items()]
    return found


def test_the_record_is_whole():
    assert len(RUNS) == len(pronouns.PLAN)
    for settings in pronouns.PLAN:
        run(**settings)


def test_the_head_gives_it_to_both_nouns_and_hardly_follows_the_meaning():
    own = run(part="looking", model="smollm2")["it"]["it"]["found"]
    assert own["head"] == "13.8"
    for half in ("half 0", "half 1"):
        assert own[half]["on meant"][0] + own[half]["on other"][0] > 0.85
        assert own[half]["meant"][0] < 0.65
        assert own[half]["subject"][0] > 0.8


def test_no_head_knows_at_it_what_only_a_later_verb_decides():
    own = run(part="looking", model="smollm2")["behind"]["it"]
    assert own["heads"]["meant"] == own["heads"]["not meant"] == 0
    assert own["found"]["half 1"]["meant"] == [0.5, 0.5, 0.5]


def test_the_answer_is_better_without_the_scene():
    own = run(part="answers", start=True)
    for half in ("half 0", "half 1"):
        assert own["it"][half]["meant"][0] < own["no scene"][half]["meant"][0]
        assert own["it"][half]["meant more than other"][2] < 0


def test_the_head_knows_things_from_persons():
    own = run(part="roles")["kinds"]
    assert own["best"]["head"] == "13.8"
    half = own["found"]["half 1"]
    assert half["it to thing"][1] > half["it to person"][2]
    assert half["he to person"][1] > half["he to thing"][2]


def test_no_look_at_the_nouns_is_needed_one_by_one_or_together():
    own = run(part="cutting")["half 1"]
    assert own["n"] == 34
    for cut in ("it to nouns", "It to nouns", "both to nouns", "verb to nouns"):
        _, low, high = own[cut]
        assert low < 0 < high, cut
    assert own["the to nouns"][1] > 0
    assert own["behind to nouns"][1] > 0
    assert own["it to verb"][2] < -own["lead"][0] / 5


def test_a_part_of_the_answer_passes_through_it():
    turned = run(part="patching")["half 1"]
    verb, it, last = (
        [one[0] for one in turned[word]] for word in ("verb", "it", "the")
    )
    assert 4 <= it.index(max(it)) <= 5  # layers 12 and 15
    chosen = run(part="patching")["half 0"]
    best = {
        word: chosen[word].index(max(chosen[word])) for word in ("it", "stop", "It")
    }
    assert best["it"] == 4
    low = turned["it"][4][1]
    assert 0.19 < low < turned["it"][4][0] < 0.3
    assert low > max(turned[word][best[word]][2] for word in ("stop", "It"))
    for layer in (4, 5):
        for word in ("stop", "It", "was"):
            assert turned["it"][layer][1] > turned[word][layer][2]
    assert verb[0] == 1 > 0.1 > verb[-1]
    assert last[0] == 0 < 0.8 < last[-1]


def test_a_head_follows_the_verb_from_another_pronoun_too():
    looking = run(part="looking", model="smollm2")
    assert looking["it"]["it"]["best"]["head"] == "15.6"
    assert looking["it"]["it"]["found"]["half 1"]["meant"][1] > 0.5  # hardly more
    found = run(part="words")
    for word in ("it", "something"):
        own = looking[word]["it"]
        for name, head in (("found", "13.8"), ("best", "15.6")):
            for key in ("meant", "on meant", "on other"):
                assert found[word][head][key] == own[name]["half 1"][key]
    own = {word: found[word]["15.6"] for word in pronoun_words.INSTEAD}
    assert own["it"]["both"][1] > 0.5 > found["it"]["13.8"]["both"][2]
    for word in ("something", "him"):
        assert own[word]["meant"][1] > 0.7
        assert own[word]["both"][2] > own["it"]["both"][0]
    assert own["quickly"]["meant"][2] < own["it"]["meant"][1]
    assert own["quickly"]["on meant"][2] < 0.002


def test_to_hide_the_word_before_may_be_costly_in_itself():
    own = run(part="cutting")["half 1"]
    for cut in ("its the to previous", "verb to previous", "noun to previous"):
        mean, low, high = own[cut]
        assert own["it to verb"][0] < low < 0 < high
        assert mean > -0.3
    assert own["was to previous"][2] < -0.3
    assert own["was to previous"][1] < own["it to verb"][0]  # no telling which
    assert own["it to before"][1] < 0 < own["it to before"][2]


def test_the_verb_counts_more_than_the_word_before_most_others():
    own = run(part="cutting")["half 1"]
    for place in ("its the", "noun", "verb", "It"):
        assert own[f"it to verb, beyond {place}"][2] < -0.05
    for place in ("was", "the"):
        assert own[f"it to verb, beyond {place}"][2] > 0
    for half in ("half 0", "half 1"):
        own = run(part="cutting")[half]
        for place in pronoun_causes.BY_THEIR_SIDE:
            apart = own["it to verb"][0] - own[f"{place} to previous"][0]
            beyond = own[f"it to verb, beyond {place}"]
            assert beyond[0] == pytest.approx(apart, abs=2e-4)


def test_where_the_pronoun_decides_one_head_costs_more_than_those_beside_it():
    assert "13.8" in run(part="roles")["needed"]["ten"]
    assert [len(frames) for frames in pronoun_frames.KINDS] == [4, 6]
    needed = run(part="roles")["needed"]["half 1"]
    others = [needed[f"13.{head} mean"][0] for head in range(8)]
    assert -0.13 < min(others) < max(others) < 0.15
    assert needed["13.8 mean"][0] > 2 * max(others)
    assert needed["ten mean"][1] < needed["random, highest"] < needed["ten mean"][0] / 2


# Eighty sentences.
@pytest.mark.slow
def test_one_role_is_what_the_record_says():
    need("smollm2-135m")
    role = "preposition, object"
    frames = pronoun_frames.ROLES[role][1]
    again = pronoun_roles.one_role(frames, 1, pronoun_roles.EACH)
    recorded = run(part="roles")["roles"][role]["half 1"]
    assert again["by frame"] == pytest.approx(recorded["by frame"], abs=0.051)
    for name in ("first", "on first", "on second"):
        assert again[name][0] == pytest.approx(recorded[name][0], abs=0.02)
