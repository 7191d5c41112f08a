"""The soft lookup, moved by keyboard and compared with PyTorch."""

import pytest
import torch
import torch.nn.functional as F

from helpers.views import soft_lookup
from tests.samples.six_words import INPUTS, WORDS

T, D_IN, D_OUT = 6, 3, 2


def matrices():
    """W_query, W_key and W_value of chapter 2."""
    torch.manual_seed(123)
    return [torch.rand(D_IN, D_OUT) for _ in range(3)]


@pytest.fixture
def shown(show_views):
    return show_views(soft_lookup(INPUTS, *matrices(), WORDS, word=1))


def compare(shown, word, W_query=None):
    """Each number of the view is PyTorch's."""
    first, W_key, W_value = matrices()
    query = INPUTS[word] @ (first if W_query is None else W_query)
    keys, values = INPUTS @ W_key, INPUTS @ W_value
    scores = keys @ query
    weights = (scores / D_OUT**0.5).softmax(dim=0)
    one = query.unsqueeze(0), keys, values
    context = F.scaled_dot_product_attention(*(part.unsqueeze(0) for part in one))[0, 0]
    expected = {f"query {j}": query[j] for j in range(D_OUT)}
    expected |= {f"context {j}": context[j] for j in range(D_OUT)}
    for i in range(T):
        expected |= {f"score {i}": scores[i], f"scaled {i}": scores[i] / D_OUT**0.5}
        expected[f"weight {i}"] = weights[i]
        for j in range(D_OUT):
            expected[f"weighted {i} {j}"] = weights[i] * values[i, j]
    seen = shown.values()
    for name, number in expected.items():
        assert seen.number(name) == pytest.approx(float(number), abs=5.1e-5), name
    asking, best = WORDS[word], WORDS[int(weights.argmax())]
    start = f"\u2068{asking}\u2069 takes most from \u2068{best}\u2069: "
    assert seen["sentence"].startswith(start)
    return best


def test_the_numbers_are_those_of_the_chapter(shown):
    query = [shown.value(f"query {j}") for j in range(D_OUT)]
    assert query == ["0.4306", "1.4551"]
    assert shown.value("score 1") == "1.8524"
    weights = [shown.value(f"weight {i}") for i in range(T)]
    assert weights == ["0.1500", "0.2264", "0.2199", "0.1311", "0.0906", "0.1820"]
    assert "context is (0.3061, 0.8210)" in shown.value("sentence")


def test_every_number_follows_the_word_and_the_matrix(shown):
    compare(shown, 1)
    for word in (0, 2, 3, 4, 5):
        shown.press(f"word {word}", "Space")
        compare(shown, word)
    W_query = matrices()[0]
    for i in range(D_IN):
        for j in range(D_OUT):
            name = f"W_query {i} {j}"
            times = 1 + i + 2 * j
            shown.press(name, "ArrowDown", times)
            # The field starts at four decimals.
            W_query[i, j] = round(float(W_query[i, j]), 4) - times * 0.1
            compare(shown, T - 1, W_query)
    shown.press("word 0", "ArrowRight")  # to "journey"
    shown.moved.add("word 1")
    compare(shown, 1, W_query)
    shown.press("reset", "Enter")
    compare(shown, 1)
    assert shown.value("sentence").endswith("W_query is back as it was.")
    assert shown.control("W_query 0 0").input_value() == "0.2961"
    assert shown.moved == shown.controls()


def test_one_entry_turns_journey_but_not_one_itself(shown):
    """What chapter 2 says of its last field."""
    assert compare(shown, 1) == "journey"
    shown.type("W_query 2 1", "-2")
    W_query = matrices()[0]
    W_query[2, 1] = -2
    assert compare(shown, 1, W_query) == "one"
    shown.press("word 4", "Space")
    assert compare(shown, 4, W_query) == "journey"


def test_a_query_of_zeros_takes_the_same_from_all(shown):
    for i in range(D_IN):
        for j in range(D_OUT):
            shown.type(f"W_query {i} {j}", "0")
    assert shown.value("weight 3") == "0.1667"
    assert "the most, 0.1667 each, from 6 words alike" in shown.value("sentence")


@pytest.mark.parametrize("features", [None, ["one", "two", "three"]])
def test_each_row_of_the_matrix_has_its_features_name(show_views, features):
    shown = show_views(soft_lookup(INPUTS, *matrices(), WORDS, features=features))
    names = features or ["0", "1", "2"]
    rows = shown.page.locator('table:has([data-control="W_query 0 0"]) tbody th')
    assert rows.all_inner_texts() == names
    for i, name in enumerate(names):
        label = f"W_query, row \u2068{name}\u2069, column 1"
        assert shown.control(f"W_query {i} 1").get_attribute("aria-label") == label


@pytest.mark.parametrize("text", ["", "1e9", "-100.5"])
def test_what_cannot_be_used_gives_way_to_the_number_in_use(shown, text):
    shown.type("W_query 2 1", "3")
    W_query = matrices()[0]
    W_query[2, 1] = 3
    shown.type("W_query 2 1", text)
    compare(shown, 1, W_query)
    shown.page.keyboard.press("Tab")
    assert shown.control("W_query 2 1").input_value() == "3.0000"


def test_an_entry_that_comes_back_has_all_its_decimals_again(shown):
    shown.press("W_query 0 0", "ArrowUp", 2)
    shown.press("W_query 0 0", "ArrowDown", 2)
    compare(shown, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": torch.ones(6)}, r"inputs must have two axes .*got \(6,\)"),
        ({"inputs": torch.ones(0, 3)}, r"inputs must have two axes .*got \(0, 3\)"),
        ({"W_query": torch.ones(4, 2)}, r"inputs and W_query must agree in d_in"),
        ({"W_value": torch.ones(2, 3)}, r"inputs and W_value must agree in d_in"),
        ({"W_key": torch.ones(3, 3)}, r"W_query and W_key must agree in d_out"),
        ({"W_key": torch.ones(3, 2).long()}, r"W_key must be floating point"),
        ({"words": WORDS[:5]}, r"words must hold 6 names, got 5"),
        ({"word": 6}, r"word must be a whole number from 0 to 5, got 6"),
        ({"word": -1}, r"word must be a whole number from 0 to 5, got -1"),
        ({"word": "one"}, r"word must be a whole number from 0 to 5, got 'one'"),
        ({"features": ["x", "y"]}, r"features must hold d_in = 3 names, got 2"),
        ({"word": True}, r"word must be a whole number from 0 to 5, got True"),
    ],
)
def test_bad_input_is_named(change, message):
    names = ("inputs", "W_query", "W_key", "W_value", "words")
    arguments = dict(zip(names, [INPUTS, *matrices(), WORDS], strict=True))
    with pytest.raises(ValueError, match=message):
        soft_lookup(**arguments | change)
