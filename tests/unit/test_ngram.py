"""helpers.text.ngram: probabilities that sum to 1, counts that one can redo."""

import collections
import math
import random

import pytest

from helpers.text.corpus import load
from helpers.text.ngram import NGramModel

TEXT = "the cat sat on the mat, the rat sat on the cat. that is that."


def words(rng, alphabet, longest):
    return "".join(rng.choices(alphabet, k=rng.randrange(longest + 1)))


def naive_probability(text, order, alphabet, context, character):
    """The definition by recursion, counting in the text each time."""
    if order == 0:
        return 1 / len(alphabet)
    context = context[max(0, len(context) - order + 1) :]
    size = len(context)
    followers = [
        text[i + size] for i in range(len(text) - size) if text[i : i + size] == context
    ]
    # "size" characters of context make order size + 1; the next lower has order size.
    lower = naive_probability(text, size, alphabet, context[1:], character)
    if not followers:
        return lower
    kinds = len(set(followers))
    return (followers.count(character) + kinds * lower) / (len(followers) + kinds)


@pytest.mark.parametrize("order", [*range(1, 8), 12, len(TEXT), 100])
def test_it_is_the_definition(order):
    model = NGramModel(TEXT, order, alphabet="".join(sorted({*TEXT, "z"})))
    rng = random.Random(order)
    begun = [TEXT[: rng.randrange(len(TEXT))] for _ in range(20)]
    foreign = [words(rng, model.alphabet, 8) for _ in range(20)]
    for context in ["", *begun, *foreign]:
        expected = {
            one: naive_probability(TEXT, order, model.alphabet, context, one)
            for one in model.alphabet
        }
        assert model.next_probabilities(context) == pytest.approx(expected)


@pytest.mark.parametrize("start", ["", "."])
@pytest.mark.parametrize("order", [*range(1, 7), 12, 40])
def test_probabilities_are_positive_and_sum_to_1(order, start):
    rng = random.Random(order)
    documents = [words(rng, "abcd .", 30) for _ in range(50)]
    model = NGramModel(documents, order, alphabet=" .abcdexyz", start=start)
    for _ in range(300):
        probabilities = model.next_probabilities(words(rng, model.alphabet, 9))
        assert list(probabilities) == list(model.alphabet)
        assert min(probabilities.values()) > 0
        assert math.fsum(probabilities.values()) == pytest.approx(1, abs=1e-12)


def test_one_character_by_hand():
    """In "abab" an a is followed by b, both times: (2 + 1 p) / (2 + 1)."""
    lower = (2 + 2 * (1 / 2)) / (4 + 2)
    probabilities = NGramModel("abab", 2).next_probabilities("a")
    assert probabilities == pytest.approx(
        {"a": (0 + lower) / 3, "b": (2 + lower) / 3}, abs=1e-12
    )


@pytest.mark.parametrize("start", ["", "\n"])
@pytest.mark.parametrize("order", [1, 3, 6, 20])
def test_a_score_is_the_log_of_the_next_probability(order, start):
    model = NGramModel([TEXT, "on that mat."], order, start=start)
    document = "the rat is on that"
    expected = [
        math.log(model.next_probabilities(document[:i])[character])
        for i, character in enumerate(document)
    ]
    assert model.log_probabilities(document) == pytest.approx(expected)
    loss = -math.fsum(expected) / len(document)
    assert model.nats_per_character(document) == pytest.approx(loss)
    assert model.nats_per_character([document, "", document]) == pytest.approx(loss)


def test_the_loss_is_a_mean_over_characters_not_documents():
    model = NGramModel(TEXT, 3)
    scores = [*model.log_probabilities("the cat sat"), *model.log_probabilities("i")]
    loss = model.nats_per_character(["the cat sat", "i"])
    assert loss == pytest.approx(-math.fsum(scores) / 12)


@pytest.mark.parametrize("start", ["", "\n"])
def test_one_pass_gives_the_loss_of_each_order(start):
    documents = [TEXT, "on that mat.", "a"]
    asked = ["the rat is on that mat", "", "cats"]
    options = {"alphabet": "".join(sorted({*TEXT, "\n"})), "start": start}
    losses = NGramModel(documents, 30, **options).losses_by_order(asked)
    expected = [
        NGramModel(documents, order, **options).nats_per_character(asked)
        for order in range(1, 31)
    ]
    assert losses == pytest.approx(expected)
    assert len(set(expected[:8])) == 8


@pytest.mark.parametrize(("order", "start"), [(1, ""), (3, ""), (4, "."), (9, "..")])
def test_each_run_is_counted_where_it_ends(order, start):
    """Runs may begin before a document, but none ends there."""
    documents = ["abab", "b", "", "aab" * 4]
    expected = collections.Counter(
        (start + document)[end - size : end]
        for document in documents
        for end in range(len(start) + 1, len(start + document) + 1)
        for size in range(1, min(order, end) + 1)
    )
    model = NGramModel(documents, order, alphabet=".ab", start=start)
    assert model._counts == expected


def test_a_high_order_of_many_stories_stays_small():
    """Stories repeat their words: of 12 runs at each character, nine in ten are old."""
    train = load("little-world", train_stories=2_000).train
    counts = NGramModel(train, 12, start="\n")._counts
    assert len(counts) < 12 * sum(map(len, train)) / 10
    # What is shorter costs nothing more when nothing is that long.
    assert len(NGramModel("ab", 10**6)._counts) == 3


def test_documents_are_read_apart_and_from_their_start():
    model = NGramModel(["ab\n", "ac\n"], 3, start="\n")
    joined = NGramModel("ab\nac\n", 3)
    assert model.next_probabilities("")["a"] > 0.5
    assert model.next_probabilities("\n\n\n") == model.next_probabilities("")
    assert joined.next_probabilities("b\n")["a"] > joined.next_probabilities("")["a"]
    # No document goes on behind its last character.
    assert NGramModel(["ab", "ba"], 2)._counts["bb"] == 0
    assert NGramModel("abba", 2)._counts["bb"] == 1


def test_the_start_is_read_but_never_counted():
    """Counts are a 1 and b 1, so ("." is new): (0 + 2 / 3) / (2 + 2)."""
    probabilities = NGramModel(["ab"], 1, start=".").next_probabilities("")
    assert probabilities == pytest.approx({".": 1 / 6, "a": 5 / 12, "b": 5 / 12})


def test_a_higher_order_reads_further_back():
    text = "xaby zabw " * 20
    losses = [NGramModel(text, order).nats_per_character(text) for order in (1, 3, 4)]
    assert losses[0] > losses[1] > losses[2] + 0.05
    assert NGramModel(text, 3).next_probabilities("xab") == pytest.approx(
        NGramModel(text, 3).next_probabilities("zab")
    )
    assert NGramModel(text, 4).next_probabilities("xab")["y"] > 0.9


def test_no_order_beats_the_floor():
    corpus = load("little-world", train_stories=1_000, held_out_stories=200)
    model = NGramModel(corpus.train, 12, alphabet=corpus.alphabet, start="\n")
    losses = model.losses_by_order(corpus.held_out)
    assert losses[0] > 2.5
    assert losses[:5] == sorted(losses[:5], reverse=True)
    assert min(losses) > 1.3 * corpus.floor


MODEL = NGramModel("abc", 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NGramModel("ab", 0), "order must be an integer of at least 1, got 0"),
        (lambda: NGramModel("ab", -3), "order must be an integer .* got -3"),
        (lambda: NGramModel("ab", 2.0), "order must be an integer .* got 2.0"),
        (lambda: NGramModel("", 2), "text must hold at least one character"),
        (lambda: NGramModel([], 2), "text must hold at least one character"),
        (lambda: NGramModel(["", ""], 2), "text must hold at least one character"),
        (lambda: NGramModel([1, 2], 2), "text must be a string or several, got int"),
        (lambda: NGramModel(5, 2), "text must be a string or several, got int"),
        (lambda: NGramModel("abX", 2, alphabet="ab"), "'X' at position 2, .* 'ab'"),
        (
            lambda: NGramModel("ab", 2, alphabet="ab", start="\n"),
            r"'\\n' at position 0",
        ),
        (lambda: NGramModel("ab", 2, alphabet="aab"), "alphabet must not repeat"),
        (lambda: NGramModel("ab", 2, alphabet=3), "alphabet must be a string, got int"),
        (
            lambda: NGramModel("ab", 2, start=None),
            "start must be a string, got NoneType",
        ),
        (lambda: MODEL.next_probabilities("ad"), "'d' at position 1"),
        (lambda: MODEL.next_probabilities(["a"]), "text must be a string, got list"),
        (lambda: MODEL.log_probabilities("abcd"), "'d' at position 3"),
        (lambda: MODEL.nats_per_character("dab"), "'d' at position 0"),
        (lambda: MODEL.nats_per_character(""), "text must hold at least one character"),
        (lambda: MODEL.losses_by_order(["", "abd"]), "'d' at position 2"),
        (lambda: MODEL.losses_by_order([]), "text must hold at least one character"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
