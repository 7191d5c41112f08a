"""Sentences with a pronoun: what they hold, and what a layer learns from them."""

import pytest
import torch

from helpers.attention import SelfAttentionV2
from helpers.text import pronouns
from helpers.text.pronouns import (
    made_up_vectors,
    pronoun_sentences,
    word_vectors,
)

HOOK = ["the", "cook", "made", "the", "food", "because", "it", "was", "spicy"]


def loss_of(layer, x, target):
    return (layer(x)[:, pronouns.PRONOUN] - target).square().mean()


def trained(seed, *, rate=1.0, steps=500, number=200, only_values=False):
    """A layer after training, and its loss on held-out sentences."""
    _, x, target = pronoun_sentences(number, seed=1)
    torch.manual_seed(seed)
    layer = SelfAttentionV2(11, 6)
    learned = layer.W_value if only_values else layer
    optimizer = torch.optim.SGD(learned.parameters(), lr=rate)
    for _ in range(steps):
        loss = loss_of(layer, x, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    _, x, target = pronoun_sentences(100, seed=2, held_out=True)
    with torch.no_grad():
        return layer, loss.item(), loss_of(layer, x, target).item()


@pytest.mark.parametrize("held_out", [False, True])
def test_each_pronoun_stands_for_the_noun_that_is_its_target(held_out):
    sentences, x, target = pronoun_sentences(7, seed=3, held_out=held_out, d_out=4)
    assert x.shape == (7, len(HOOK), 9)
    assert target.shape == (7, 4)
    kinds = [pronouns.KINDS[i] for i in x[0, :, :5].argmax(dim=1)]
    expected = ["other"] * len(HOOK)
    expected[pronouns.PERSON], expected[pronouns.THING] = "person", "thing"
    expected[pronouns.PRONOUN] = "it"
    assert kinds == expected
    for words, row, meant in zip(sentences, x, target, strict=True):
        place = {"it": pronouns.THING, "she": pronouns.PERSON}
        noun = place[words[pronouns.PRONOUN]]
        torch.testing.assert_close(meant, row[noun, 5:], rtol=0, atol=0)
        torch.testing.assert_close(row, word_vectors(words, d_out=4), rtol=0, atol=0)
        assert (row[:, :5].sum(dim=1) == 1).all()
        for silent in (0, 3, 5, pronouns.PRONOUN, 7):
            assert not row[silent, 5:].any()
    assert {words[pronouns.PRONOUN] for words in sentences} == {"it", "she"}


def test_a_seed_chooses_the_sentences_but_not_the_meanings():
    first, again, other = (pronoun_sentences(40, seed=seed) for seed in (1, 1, 2))
    assert first[0] == again[0] != other[0]
    torch.testing.assert_close(first[1], again[1], rtol=0, atol=0)
    state = torch.get_rng_state()
    pronoun_sentences(3, seed=1)
    assert torch.equal(state, torch.get_rng_state())


def test_held_out_sentences_share_only_what_has_no_meaning_of_its_own():
    seen, unseen = (
        {
            word
            for words in pronoun_sentences(400, seed=1, held_out=one)[0]
            for word in words
        }
        for one in (False, True)
    )
    assert seen & unseen == {"it", "she", *pronouns.FUNCTION_WORDS}
    assert {*HOOK} <= unseen


@pytest.mark.parametrize("wrong", [0, -1, 1.0, True])
def test_there_is_at_least_one_sentence_and_one_number(wrong):
    with pytest.raises(ValueError, match="number must be an integer"):
        pronoun_sentences(wrong, seed=0)
    with pytest.raises(ValueError, match="d_out must be an integer"):
        pronoun_sentences(2, seed=0, d_out=wrong)


def test_a_seed_that_is_none_is_named():
    with pytest.raises(ValueError, match="seed must be an integer, got 'a'"):
        pronoun_sentences(2, seed="a")


@pytest.mark.parametrize("words", [[], "cook"])
def test_words_that_are_no_list_of_words_are_named(words):
    with pytest.raises(ValueError, match="words must be a list of at least one word"):
        word_vectors(words)


def test_an_unknown_word_is_named():
    with pytest.raises(ValueError, match=r"\['wombat'\]"):
        word_vectors(["the", "wombat"])
    with pytest.raises(ValueError, match="d_out"):
        word_vectors(["the"], d_out=0)
    with pytest.raises(ValueError, match=r"\['wombat'\]"):
        made_up_vectors(["wombat"])


def test_made_up_vectors_have_the_same_kinds_and_two_numbers_of_meaning():
    x = made_up_vectors([*HOOK, "she", "hungry"])
    assert x.shape == (11, 7)
    expected = word_vectors([*HOOK, "she", "hungry"])[:, :5]
    torch.testing.assert_close(x[:, :5], expected, rtol=0, atol=0)
    assert x[[1, 4, 6, 9], 5:].tolist() == [[1, 2], [2, 0], [0, 0], [0, 0]]
