"""helpers.text.probes: the grammar answers everything, each mistake costs."""

import math

import pytest
import torch

from helpers.models.language_model import CharLanguageModel
from helpers.text import corpus, probes
from helpers.text.little_world import whole_world
from helpers.text.ngram import NGramModel
from helpers.text.tokenizer import CharTokenizer

WORLD = whole_world()
STORIES = corpus.load("little-world", train_stories=300, held_out_stories=200).train
CERTAIN = ("colour", "thing", "name", "quote")
S = WORLD.alphabet.index("s")


def one_hot(character, probability=1.0):
    """That much on one character, and the rest shared among the others."""
    row = torch.full((len(WORLD.alphabet),), (1 - probability) / 45)
    row[WORLD.alphabet.index(character)] = probability
    return row


def knows(story, places, probability=1.0):
    return torch.stack([one_hot(story[place], probability) for place in places])


def test_who_knows_the_story_is_right_everywhere():
    shares = probes.accuracy(STORIES, knows)
    assert tuple(shares) == probes.KINDS
    assert all(share == 1 for share, _ in shares.values())


def test_every_marked_character_is_asked_for():
    shares = probes.accuracy(STORIES, knows)
    marks = [kind for story in STORIES for kind in WORLD.read(story)[1].values()]
    assert {kind: count for kind, (_, count) in shares.items()} == {
        kind: marks.count(kind) for kind in probes.KINDS
    }


def test_who_expects_an_s_is_right_at_singular_verbs_alone():
    def always_s(story, places):
        return torch.stack([one_hot("s")] * len(places))

    shares = probes.accuracy(STORIES, always_s)
    for kind in probes.KINDS[:3]:
        singular = [
            story[place] == "s"
            for story in STORIES
            for place, mark in WORLD.read(story)[1].items()
            if mark == kind
        ]
        assert shares[kind] == (sum(singular) / len(singular), len(singular))
        assert 0.3 < shares[kind][0] < 0.7
    # Some she's and she-sentences begin with "s" or "S".
    assert 0.3 < shares["pronoun"][0] < 0.7
    assert all(shares[kind][0] < 0.2 for kind in ("name", "quote"))


@pytest.mark.parametrize(
    ("found", "row", "right"),
    [
        ("s", {"s": 0.51, " ": 0.49}, True),
        ("s", {"s": 0.49, " ": 0.26, ".": 0.25}, False),
        (" ", {"s": 0.49, ".": 0.51}, True),
        (" ", {"s": 0.51, " ": 0.49}, False),
    ],
)
@pytest.mark.parametrize("kind", probes.KINDS[:3])
def test_agreement_asks_whether_an_s_comes(kind, found, row, right):
    probabilities = torch.zeros(len(WORLD.alphabet))
    for character, probability in row.items():
        probabilities[WORLD.alphabet.index(character)] = probability
    answer = probes.answers(f"cat{found}", kind, 3, probabilities, WORLD.alphabet)
    assert answer is right


@pytest.mark.parametrize(
    ("found", "row", "right"),
    [
        ("S", {"S": 0.2, "H": 0.1, '"': 0.7}, True),
        ("S", {"S": 0.1, "H": 0.2, '"': 0.7}, False),
        ("h", {"h": 0.2, "s": 0.1, "c": 0.7}, True),
        ("h", {"h": 0.1, "s": 0.2, "c": 0.7}, False),
        ("H", {"h": 0.2, "S": 0.1}, True),
    ],
)
def test_a_pronoun_is_compared_with_the_other_one_alone(found, row, right):
    probabilities = torch.zeros(len(WORLD.alphabet))
    for character, probability in row.items():
        probabilities[WORLD.alphabet.index(character)] = probability
    answer = probes.answers(f"x{found}", "pronoun", 1, probabilities, WORLD.alphabet)
    assert answer is right


@pytest.mark.parametrize("kind", CERTAIN)
def test_a_recalled_word_must_be_the_most_likely(kind):
    for probability, right in ((0.4, True), (0.01, False)):
        row = one_hot("r", probability)
        assert probes.answers("red", kind, 0, row, WORLD.alphabet) is right


def test_predictions_of_a_model_are_read_from_the_start_of_the_story():
    tokenizer = CharTokenizer(WORLD.alphabet)
    torch.manual_seed(0)
    model = CharLanguageModel(tokenizer.vocab_size, 128, 12, 3)
    story, places = STORIES[0], [0, 5, len(STORIES[0]) - 1]
    rows = probes.model_predictions(model, tokenizer)(story, places)
    for place, row in zip(places, rows, strict=True):
        ids = torch.tensor([tokenizer.encode("\n" + story[:place])])
        torch.testing.assert_close(row, model(ids)[0, -1].softmax(-1))


def test_many_stories_are_computed_at_once_and_give_the_same(monkeypatch):
    monkeypatch.setattr(probes, "STORIES_AT_A_TIME", 3)
    tokenizer = CharTokenizer(WORLD.alphabet)
    torch.manual_seed(0)
    model = CharLanguageModel(tokenizer.vocab_size, 128, 12, 3)
    one_by_one = probes.model_predictions(model, tokenizer)
    *stories, other = STORIES[:8]
    at_once = probes.model_predictions(model, tokenizer, stories)
    expected = [one_by_one(story, [0, 5, len(story) - 1]) for story in STORIES[:8]]
    model.head.weight.data.zero_()  # what is known doesn't change any more
    for story, rows in zip(stories, expected, strict=False):
        torch.testing.assert_close(at_once(story, [0, 5, len(story) - 1]), rows)
    assert (at_once(other, [0, 5, len(other) - 1]) - expected[-1]).abs().max() > 1e-4


def test_predictions_of_an_ngram_model_are_its_own():
    ngram = NGramModel(STORIES, 3, alphabet=WORLD.alphabet, start="\n")
    story = STORIES[0]
    rows = probes.ngram_predictions(ngram)(story, range(len(story)))
    for place, row in enumerate(rows):
        log_probability = math.log(row[WORLD.alphabet.index(story[place])])
        expected = ngram.log_probabilities(story)[place]
        assert log_probability == pytest.approx(expected, abs=1e-5)


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match=r"story must be one that this grammar tells"):
        probes.accuracy(["Once upon a time."], knows)
    model = CharLanguageModel(3, 4, 6, 3)
    with pytest.raises(ValueError, match=r"tokenizer must have a start character"):
        probes.model_predictions(model, CharTokenizer("abc"))
    with pytest.raises(ValueError, match=r"predict must return .*\(\d+, 46\).*\(1, 2"):
        probes.accuracy(STORIES[:1], lambda *_: torch.zeros(1, 2))
    with pytest.raises(ValueError, match=r"what predict returns .*torch.Tensor.*list"):
        probes.accuracy(STORIES[:1], lambda *_: [])


def test_a_model_is_asked_in_eval_mode_and_keeps_its_own():
    tokenizer = CharTokenizer(WORLD.alphabet)
    torch.manual_seed(0)
    model = CharLanguageModel(tokenizer.vocab_size, 256, 16, 2, dropout=0.5)
    first, second = (
        probes.log_probabilities(model.train(), tokenizer, STORIES[:1])[0]
        for _ in range(2)
    )
    assert torch.equal(first, second)
    assert model.training
