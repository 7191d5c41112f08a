"""helpers.text.coreference, and what experiments.real_model measures on it."""

import dataclasses

import pytest
import torch

from experiments.real_model import (
    intervals,
    pretrained_models,
    pronoun_causes,
    pronoun_frames,
    pronoun_weights,
    pronouns,
)
from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.text import coreference
from tests.real_models import need

KINDS = (
    {},
    {"kind": "behind"},
    {"kind": "neutral"},
    {"instead": "something"},
    {"scene": False},
)


@pytest.fixture
def two_layers():
    torch.manual_seed(0)
    return TransformerLM(TransformerConfig(13, 7, 12, 3, 3, positions="rotary")).eval()


def test_the_first_sentence_of_each_half():
    first, other = (coreference.sentences(half, 1)[0] for half in (0, 1))
    assert first.text == "The cake was next to the taxi. Anna cooked it. It was the"
    assert first.choices == ("cake", "taxi")
    assert other.text == "The bike was near the jacket. My brother rode it. It was the"


@pytest.mark.parametrize("options", KINDS)
def test_places_are_those_of_the_words(options):
    for half in (0, 1):
        for one in coreference.sentences(half, 2, **options):
            if options.get("scene", True):
                assert tuple(one.words[place] for place in one.nouns) == one.names
            else:
                assert one.nouns == (-1, -1)
                assert not set(one.names) & set(one.words)
            it = options.get("instead", "it")
            assert one.words[one.it].lower() == it
            if options.get("kind") == "behind":
                assert one.it < one.verb
            else:
                assert one.verb == one.it - 1
            assert one.text.endswith(". It was the")


@pytest.mark.parametrize("options", KINDS)
def test_every_rule_that_ignores_the_verb_is_right_in_half_of_them(options):
    for half in (0, 1):
        some = coreference.sentences(half, 3, **options)
        assert sum(one.meant == 0 for one in some) == len(some) / 2
        by_role = [one for one in some if one.subject is not None]
        assert sum(one.meant == one.subject for one in by_role) == len(by_role) / 2
        assert sum(one.subject == 0 for one in by_role) == len(by_role) / 2
        for noun in {name for one in some for name in one.names}:
            told = [one for one in some if noun in one.names]
            assert sum(one.choices[0] == noun for one in told) == len(told) / 2


def test_the_halves_share_no_noun_verb_or_scene():
    halves = [coreference.sentences(half, 20) for half in (0, 1)]
    for of in (
        lambda one: set(one.names),
        lambda one: {one.words[one.verb]},
    ):
        first, other = (set().union(*map(of, half)) for half in halves)
        assert not first & other
    assert not set(coreference.SCENES[0]) & set(coreference.SCENES[1])
    few = [coreference.sentences(half, pronouns.PAIRS) for half in (0, 1)]
    assert len({name for half in few for one in half for name in one.names}) >= 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 1, {}), "half must be 0 or 1, got 2"),
        ((0, 0, {}), "pairs must be"),
        ((0, 1, {"kind": "far"}), "kind must be 'before', 'behind' or 'neutral'"),
    ],
)
def test_bad_arguments(arguments, message):
    half, pairs, options = arguments
    with pytest.raises(ValueError, match=message):
        coreference.sentences(half, pairs, **options)


def test_a_head_that_follows_a_cue():
    """Made-up weights: head 0 follows the meaning, 1 the first noun, 2 the subject."""
    some = coreference.sentences(0, 1)
    weights = torch.zeros(len(some), 4, 2)
    for row, one in zip(weights, some, strict=True):
        row[0, one.meant] = 0.3
        row[1, 0] = 0.2
        row[2, 1 - (one.subject or 0)] = 0.1
    rates = pronouns.follows(some, weights).nanmean(dim=1)
    expected = [[1.0, 0.5, 0.5, 0.5], [0.5, 1.0, rates[1, 2], 0.5], [0.5, 0.5, 0, 0.5]]
    torch.testing.assert_close(rates, torch.tensor(expected))


def test_intervals_are_over_groups_and_leave_nan_out():
    numbers = torch.tensor([1.0, 3.0, torch.nan, 4.0, torch.nan])
    assert intervals.over([0, 0, 0, 1, 2], numbers)[0] == 3.0
    assert intervals.over([0, 0, 0, 0, 1], numbers) == [round(8 / 3, 4)]


def test_a_cut_hides_some_words_from_some_others(two_layers):
    """Without a look at word 2, the last word doesn't notice that it changes."""
    config = dataclasses.replace(two_layers.config, num_layers=1, num_kv_heads=1)
    torch.manual_seed(0)
    model = TransformerLM(config).eval()
    ids = torch.randint(13, (1, 6))
    other = ids.clone()
    other[0, 3] = (ids[0, 3] + 1) % 13
    for keys, same in (([2], True), ([1], False)):
        core = pronoun_causes.blind(6, [4], keys)
        with pronoun_causes.attending_with(model, core):
            before, after = model(ids)[0], model(other)[0]
        assert torch.equal(before[5], after[5]) == same
        assert not torch.equal(before[4], after[4])


def test_who_cannot_look():
    """The cut places, and the words that stand there."""
    one = coreference.sentences(1, 1)[0]
    for place, words in {
        "it": ["it"],
        "both": ["it", "It"],
        "on": ["rode", "it", ".", "It", "was", "the"],
        "end": ["the"],
    }.items():
        at = pronoun_causes.asking(one, place)
        assert [one.words[i] for i in at] == words


def test_an_answer_that_ignores_the_verb_is_the_same_for_both():
    """Of three pairs, one has the first noun leading with either verb."""
    leads = torch.tensor([1.0, 2.0, 3.0, -3.0, 1.0, 1.0])
    found = pronoun_causes._shares([0] * 6, leads)
    assert found == {"meant": [0.8333], "same": [0.3333]}


def test_frames_have_two_nouns():
    for half in pronoun_frames.KINDS:
        for frame, *_ in half:
            assert frame.count("{thing}") == frame.count("{person}") == 1
    assert not set(pronoun_frames.KINDS[0]) & set(pronoun_frames.KINDS[1])


@pytest.mark.parametrize("name", ["smollm2-135m", "minilm"])
def test_each_word_is_one_token(name):
    need(name)
    of_name = {"smollm2-135m": "smollm2", "minilm": "minilm"}[name]
    _, tokenizer = getattr(pretrained_models, of_name)()
    around = 2 if name == "minilm" else 0
    for options in KINDS:
        for half in (0, 1):
            for one in coreference.sentences(half, 2, **options):
                assert len(tokenizer.encode(one.text)) - around == len(one.words)


def test_what_stands_before_the_verb_knows_nothing_of_it():
    """SmolLM2's weights from "It" are the same for both verbs behind it."""
    need("smollm2-135m")
    some = coreference.sentences(0, 1, kind="behind")[:2]
    weights = pronoun_weights.on_nouns(*pretrained_models.smollm2(), some, start=True)
    it, verb = pronoun_weights.PLACES.index("it"), pronoun_weights.PLACES.index("verb")
    torch.testing.assert_close(weights[0, :, it], weights[1, :, it])
    assert (weights[0, :, verb] - weights[1, :, verb]).abs().max() > 0.1
