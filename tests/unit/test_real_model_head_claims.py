"""helpers.text.relations, and what experiments.real_model measures on it."""

import random

import pytest
import torch

from experiments.real_model import head_claims, other_askers, pretrained_models
from helpers.text import relations
from tests.real_models import need

ALL = {**relations.RELATIONS, "behind": relations.BEHIND}


@pytest.mark.parametrize("name", ALL)
def test_places_are_those_of_the_words(name):
    relation = ALL[name]
    for half in (0, 1):
        lists = {kind: own[half].split() for kind, own in relations.WORDS.items()}
        lists["ambiguous"] = list(relations.CLUES[half])
        clues = relations.CLUES[half]
        for one in relations.sentences(relation, half, 3):
            asks, target = one.words[one.asks].lower(), one.words[one.target].lower()
            assert asks in lists[relation.asks]
            if relation.target == "clue":
                assert target in clues[asks].split()
            else:
                assert target in lists[relation.target]
            if one.distractor is not None:
                assert one.distractor not in (one.asks, one.target)


@pytest.mark.parametrize("name", ALL)
def test_the_halves_share_no_template_and_no_word_that_counts(name):
    templates = ALL[name].templates
    assert not set(templates[0]) & set(templates[1])
    for kind, (first, other) in relations.WORDS.items():
        if kind != "determiner":
            assert not set(first.split()) & set(other.split()), kind
    assert not set(relations.CLUES[0]) & set(relations.CLUES[1])


@pytest.mark.parametrize("name", ALL)
def test_no_fixed_offset_finds_most(name):
    for half in (0, 1):
        some = relations.sentences(ALL[name], half, 20)
        offsets = [one.target - one.asks for one in some]
        assert len(some) == 120
        assert max(map(offsets.count, set(offsets))) <= 60


def test_a_distractor_stands_where_the_target_does_half_of_the_time():
    for half in (0, 1):
        some = relations.sentences(relations.RELATIONS["two meanings to clue"], half, 4)
        assert sum(one.target < one.distractor for one in some) == len(some) / 2


def test_shuffled_turned_and_mismatched():
    (one,) = relations.sentences(relations.RELATIONS["two meanings to clue"], 0, 1)[:1]
    clue, word = one.words[one.target], one.words[one.asks]
    mixed = one.shuffled(random.Random(0), before=True)
    assert mixed.words != one.words
    assert sorted(mixed.words) == sorted(one.words)
    assert (mixed.words[mixed.target], mixed.asks) == (clue, one.asks)
    free = one.shuffled(random.Random(1), before=False)
    assert (free.words[free.target], free.words[free.asks]) == (clue, word)
    assert (one.turned().asks, one.turned().target) == (one.target, one.asks)
    other = one.mismatched()
    assert other.words[other.asks] in set(relations.CLUES[0]) - {word}
    assert clue not in relations.CLUES[0][other.words[other.asks]].split()
    with pytest.raises(ValueError, match="must be one of CLUES, got"):
        one.turned().mismatched()


def test_another_word_asks_in_the_same_place():
    one = relations.sentences(relations.RELATIONS["verb to subject"], 1, 1)[0]
    other = other_askers.asked_by("and", one)
    assert (other.asks, other.target) == (one.asks, one.target)
    changed = [i for i, own in enumerate(one.words) if own != other.words[i]]
    assert changed == [one.asks]
    assert other.words[one.asks] == "and"


def test_bad_arguments():
    relation = relations.RELATIONS["verb to subject"]
    with pytest.raises(ValueError, match="half must be 0 or 1, got 3"):
        relations.sentences(relation, 3, 1)
    with pytest.raises(ValueError, match="each must be"):
        relations.sentences(relation, 0, 0)


def test_a_hit_is_the_largest_weight_on_the_target():
    some = relations.sentences(relations.RELATIONS["object to verb"], 0, 1)
    weights = []
    for one in some:
        row = torch.rand(3, len(one.words)) / 2
        row[1, one.target] = 0.9
        row[2, one.target] = 0.0
        weights.append(row)
    rates = head_claims.hits_of(some, weights).mean(dim=0)
    assert (rates[1], rates[2]) == (1.0, 0.0)


@pytest.mark.parametrize("name", ["smollm2-135m", "minilm"])
def test_each_word_is_one_token(name):
    need(name)
    of_name = {"smollm2-135m": "smollm2", "minilm": "minilm"}[name]
    _, tokenizer = getattr(pretrained_models, of_name)()
    around = 2 if name == "minilm" else 0
    for relation in ALL.values():
        for half in (0, 1):
            for one in relations.sentences(relation, half, 5):
                assert len(tokenizer.encode(one.text)) - around == len(one.words)


@pytest.mark.parametrize("start", [True, False])
def test_weights_are_those_on_words(start):
    """Nothing on the word itself; all words' weights and the start's make 1."""
    need("smollm2-135m")
    model, tokenizer = pretrained_models.smollm2()
    some = relations.sentences(relations.RELATIONS["verb to subject"], 0, 1)[:2]
    rows = head_claims.on_words(model, tokenizer, start, some)
    for one, row in zip(some, rows, strict=True):
        assert row.shape == (270, len(one.words))
        assert row[:, one.asks].abs().max() == 0
        assert row.sum(dim=1).max() < 1
        assert (row[:, 0].max() > 0) == start
