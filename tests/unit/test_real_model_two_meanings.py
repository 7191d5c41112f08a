"""Two meanings of a word: the sentences, and what is measured on made-up vectors."""

import itertools

import pytest
import torch

from experiments.real_model import (
    meaning_measures,
    two_meanings_heads,
    two_meanings_rest,
    two_meanings_steering,
)
from experiments.real_model.prefixes import read, repeated, streams
from helpers.models import pretrained
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, replaced, watched
from helpers.models.transformer_block import TransformerConfig
from helpers.text.ambiguous_words import FRAMES, PLAIN_WORDS, WORDS
from tests.real_models import need


def made_up(shift, *, frames=2, clues=3, seed=0):
    """Vectors (2, frames, clues, 2, 6): noise, and in layer 1 a meaning."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(2, frames, clues, 2, 6, generator=generator)
    vectors[0, ..., 1, 0] += shift
    vectors[1, ..., 1, 0] -= shift
    return vectors


def test_each_sentence_is_there_once_and_halves_share_no_clue():
    assert len(FRAMES) == len(set(FRAMES)) == 10
    for word, senses in WORDS.items():
        clues = [clue for sense in senses for clue in sense.clues]
        assert len(set(clues)) == 24, word
        for sense in senses:
            assert not {*sense.relatives, word, *PLAIN_WORDS} & set(clues)
            for sentence in sense.natural:
                assert sentence.endswith(f" {word}"), sentence


def test_what_lies_apart_is_found_in_its_layer():
    fit, test = made_up(9.0), made_up(9.0, seed=1)
    axis = torch.zeros(2, 6)
    axis[:, 0] = 36.0
    found = meaning_measures.apart(fit, test, axis)
    assert found["accuracy"][1] == 1
    assert 0.2 < found["accuracy"][0] < 0.8
    assert found["gap"][1] > 1.5
    assert abs(found["gap"][0]) < 0.5
    torch.testing.assert_close(found["toward"][1].item(), 0.5, atol=0.05, rtol=0)
    assert found["direction"][1] > 0.97
    assert abs(found["toward"][0]) < 0.05
    turned = meaning_measures.apart(fit, test.flip(0), axis)
    assert turned["accuracy"][1] == 0
    assert turned["toward"][1] < -0.4


def test_the_gap_is_over_pairs_of_different_nouns():
    vectors = made_up(1.0, frames=2, clues=3)
    centre = vectors.mean(dim=(0, 1, 2))
    unit = torch.nn.functional.normalize(vectors - centre, dim=-1)
    within, between = [], []
    for (m, f, c), (n, g, d) in itertools.product(
        itertools.product(range(2), range(2), range(3)), repeat=2
    ):
        cosine = (unit[m, f, c] * unit[n, g, d]).sum(dim=-1)
        if m != n:
            between.append(cosine)
        elif c != d:
            within.append(cosine)
    expected = torch.stack(within).mean(dim=0) - torch.stack(between).mean(dim=0)
    torch.testing.assert_close(meaning_measures.gap(vectors, centre), expected)


def test_labels_by_chance_find_as_little_as_chance():
    fit, test = made_up(9.0, clues=6), made_up(9.0, clues=6, seed=1)
    assert meaning_measures.right(fit, test)[1] == 1
    found = meaning_measures.shuffled(fit, test, seed="bank")[1]
    assert 0.2 < found < 0.8


def test_a_repeated_prefix_is_gone_on_from_as_if_read_anew():
    torch.manual_seed(0)
    config = TransformerConfig(
        *(11, 9, 12, 6, 2),
        **{"positions": "rotary", "num_kv_heads": 3, "norm": "rms"},
        tie_weights=True,
    )
    model = TransformerLM(config).double().eval()
    ids = torch.randint(11, (2, 6))
    before, behind = ids[:, :4], ids[:, 4:]
    cache = read(model, before)
    for times in (1, 3):
        twice = repeated(cache, before, times)
        rows = streams(model, behind.repeat_interleave(times, dim=0), 1, cache=twice)
        whole = streams(model, ids.repeat_interleave(times, dim=0), 5)
        torch.testing.assert_close(rows, whole)
    assert cache.length == 4
    with torch.no_grad():
        last = model.final_norm(whole[:, -1]) @ model.token_embedding.weight.T
        torch.testing.assert_close(last[0], model(ids)[0, -1])


@pytest.mark.parametrize("layer", range(3))
def test_the_last_blocks_go_on_as_the_model_does(layer):
    torch.manual_seed(0)
    config = TransformerConfig(13, 7, 12, 3, 3, positions="rotary")
    model = TransformerLM(config).eval()
    ids = torch.randint(13, (2, 5))
    part = Part("stream", layer)
    with watched(model, [part]) as given:
        expected = model(ids)
    upper = two_meanings_steering.last_blocks(model, layer)
    assert len(upper.blocks) == 3 - layer
    with replaced(upper, {Part("stream", 0): given[part]}):
        torch.testing.assert_close(upper(torch.zeros_like(ids)), expected)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_first_blocks_read_what_they_read_in_the_model(count):
    torch.manual_seed(0)
    config = TransformerConfig(13, 7, 12, 3, 3, positions="rotary")
    model = TransformerLM(config).eval()
    ids, part = torch.randint(13, (2, 5)), Part("stream", count - 1)
    lower = two_meanings_rest.first_blocks(model, count)
    assert len(lower.blocks) == count
    with watched(model, [part]) as given:
        model(ids)
    with watched(lower, [part]) as found:
        lower(ids)
    torch.testing.assert_close(found[part], given[part])


def test_each_word_is_one_token_of_both_models():
    for name in ("smollm2-135m", "minilm"):
        need(name)
        tokenizer = pretrained.load(name).tokenizer
        around = 0 if name == "smollm2-135m" else 2
        space = " " if name == "smollm2-135m" else ""
        words = [*PLAIN_WORDS, *WORDS]
        for senses in WORDS.values():
            for sense in senses:
                words += [*sense.clues, *sense.relatives]
        for word in words:
            assert len(tokenizer.encode(space + word)) == 1 + around, (name, word)


def test_what_a_noun_lends_to_any_word_is_not_on_the_way():
    lent = torch.randn(2, 1, 3, 2, 6, generator=torch.Generator().manual_seed(2))
    meant = torch.eye(6)[:4]
    found = meaning_measures.way([lent + 9 * one for one in meant])
    expected = torch.tensor([4.5, 4.5, -4.5, -4.5, 0.0, 0.0]).expand(2, 6)
    torch.testing.assert_close(found, expected)


def test_what_moves_a_word_is_measured_along_the_axis():
    need("smollm2-135m")
    nouns = [clue for sense in WORDS["bank"] for clue in sense.clues[:2]]
    axis = two_meanings_heads.axis_of("bank", FRAMES[:1], nouns)
    found = two_meanings_heads.in_frame("bank", FRAMES[0], nouns, axis)
    move = found["move"]
    assert move > 0.1
    assert abs(found["plain"]) < 0.2 * move
    assert abs(found["plain mlps"].sum()) < 0.3 * move
    assert found["without clue"] < 0.3 * move < 0.8 * move < found["without another"]
    assert found["without heads"] < 0.3 * move < 0.8 * move < found["without random"]
    assert found["without mlps"] < 0.3 * move
    assert found["without earlier mlps"] > 0.7 * move
    written = found["heads"].sum() + found["mlps"].sum()
    torch.testing.assert_close(written, move, atol=1e-3, rtol=0)
    turned = two_meanings_heads.in_frame("bank", FRAMES[0], nouns, -2 * axis)
    torch.testing.assert_close(turned["move"], -move / 2)


def test_a_word_does_not_see_the_noun_behind_it():
    need("smollm2-135m")
    nouns = [clue for sense in WORDS["bank"] for clue in sense.clues[:2]]
    assert two_meanings_heads.ahead("bank", FRAMES[0], nouns) == 0
