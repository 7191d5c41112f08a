"""What chapters say of their examples holds for other inputs and seeds."""

import contextlib
import io
import itertools
import re

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from helpers import attention
from helpers.models.switches import silenced
from helpers.recorded.story_model import load_story_model
from helpers.text import corpus, probes
from helpers.text.little_world import LittleWorld
from tests.book.test_notebooks import CHAPTERS
from tools import notebooks


def cells_of(chapter):
    return {cell.id: cell for cell in notebooks.read(CHAPTERS / chapter).cells}


def run(chapter, *names, changed=("", "")):
    """Run some cells of a chapter; returns its variables and what it printed."""
    cells, namespace, printed = cells_of(chapter), {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        for name in ("setup", *names):
            source = cells[name].source
            if name == names[-1]:
                assert changed[0] in source
                source = source.replace(*changed)
            exec(source, namespace)  # noqa: S102
    return namespace, printed.getvalue()


def test_words_look_away_as_often_as_one_pair_of_matrices_lets_them():
    twenty = ("range(5)", "range(5, 25)")
    chapter, printed = run("02_queries_keys_values.ipynb", "look-away", changed=twenty)
    assert chapter["W_query"].shape == chapter["W_key"].shape == (4, 4)
    counts = [
        [int(count) for count in re.findall(r"(?:vector|matrices) (\d+)", line)]
        for line in printed.splitlines()
    ]
    one, two = zip(*counts, strict=True)
    assert set(one) == {0}
    assert min(two) > 0
    assert max(two) > 2 * min(two)


def test_the_formula_of_chapter_2_makes_the_weights_made_by_hand_less_sharp():
    chapter = "02_queries_keys_values.ipynb"
    food = ("food-sentence", "it-with-one-vector", "query-and-key-matrices")
    by_hand, _ = run(chapter, *food, "food-weights")
    story, _ = run(chapter, "kite-inputs", "kite")
    x, W_query, W_key = (story[name] for name in ("x", "W_query", "W_key"))
    printed = cells_of(chapter)["journey-context"].outputs[0].text
    query_of_it = by_hand["queries"][by_hand["it"]]
    for told, query, keys in (
        ("'it' on 'food'", query_of_it, by_hand["keys"]),
        ("'yellow' on 'kite'", x[-1] @ W_query, x @ W_key),
    ):
        root = keys.shape[-1] ** 0.5
        found, longer = (
            attention.scaled_dot_product_attention(one[None], keys, keys)[1].max()
            for one in (query, root * query)
        )
        undivided = attention.softmax(keys @ query).max()
        assert f"{told} {found:.4f}" in printed
        assert found < undivided - 0.05
        torch.testing.assert_close(longer, undivided)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_second_layer_needs_the_mask_even_where_the_text_ends(seed):
    torch.manual_seed(seed)
    unmasked = [attention.SelfAttentionV2(3, 3) for _ in range(2)]
    causal = [attention.CausalAttention(3, 3, 6, 0.0) for _ in range(2)]
    for layer, other in zip(causal, unmasked, strict=True):
        layer.load_state_dict(other.state_dict())
    x = torch.rand(1, 6, 3)
    torch.testing.assert_close(unmasked[0](x[0, :3])[-1], causal[0](x)[0, 2])
    twice = unmasked[1](unmasked[0](x[0, :3]))[-1]
    apart = (twice - causal[1](causal[0](x))[0, 2]).abs().max()
    assert apart > 1e-3


class FirstNaN(TorchDispatchMode):
    """Keeps the name of the first operation whose result holds a NaN."""

    name = None

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        if self.name is None and isinstance(result, torch.Tensor):
            with torch.utils._python_dispatch._disable_current_modes():
                if result.isnan().any():
                    self.name = operation.overloadpacket.__name__
        return result


def test_softmax_over_nothing_fails_where_it_subtracts_the_largest_score():
    with FirstNaN() as first:
        attention.softmax(torch.full((2, 3), -torch.inf))
    assert first.name == "sub"


@pytest.mark.parametrize("first_weight", [0.1, 0.4, 0.6, 0.7, 0.9])
def test_from_a_fixed_row_a_matrix_reads_one_name_and_never_both(first_weight):
    chapter, _ = run("06_multi_head.ipynb", "sentence-vectors", "half-and-half")
    names, who = chapter["names"], chapter["who"]
    pairs = list(itertools.permutations(range(3), 2))
    row = torch.tensor([first_weight, 0.0, 1 - first_weight, 0.0])
    contexts = torch.stack(
        [row @ chapter["tokens_of"](names[a], names[b])[:, who] for a, b in pairs]
    )
    asked, answered = torch.tensor(pairs).T
    larger, smaller = (asked, answered) if first_weight > 0.5 else (answered, asked)
    assert torch.equal(contexts.argmax(dim=-1), larger)
    # Of the other name's margins, a combination with positive factors is 0 for every
    # matrix and bias, so in no case are all of them positive.
    apart, smallest = abs(2 * first_weight - 1), min(first_weight, 1 - first_weight)
    for seed in range(5):
        torch.manual_seed(seed)
        found = torch.nn.Linear(3, 3)(contexts)
        of_smaller, of_larger, of_third = (
            found.gather(1, name[:, None]).sum()
            for name in (smaller, larger, 3 - larger - smaller)
        )
        combined = (of_smaller - of_larger) / apart + (of_smaller - of_third) / smallest
        torch.testing.assert_close(combined, torch.tensor(0.0), atol=1e-4, rtol=0)


def test_of_two_names_a_matrix_reads_both():
    contexts = torch.tensor([[0.7, 0.3], [0.3, 0.7]])
    assert contexts.argmax(dim=-1).tolist() == [0, 1]
    assert (-contexts).argmax(dim=-1).tolist() == [1, 0]


def test_heads_3_and_4_look_back_in_other_stories_too():
    others = ("held_out_stories=100", "held_out_stories=100, seed=1")
    names = ("trained-heads", "trained-counted")
    chapter, _ = run("06_multi_head.ipynb", *names, changed=others)
    everywhere = len(chapter["found"])
    assert everywhere > 50
    hits = chapter["hits"].tolist()
    assert hits == [[0, 0], [0, 0], [everywhere, 0], [0, everywhere]]


def test_a_head_may_change_an_answer_that_no_probability_shows():
    """Chapter 11 on stories that it doesn't read: log-odds tell 2.4 from nothing."""
    model, tokenizer = load_story_model()
    stories = corpus.load("little-world", seed=5, held_out_stories=100).held_out
    grammar = LittleWorld()

    def log_odds():
        rows = probes.log_probabilities(model, tokenizer, stories)
        return torch.stack(
            [
                row[place].exp()[tokenizer.encode(story[place])[0]].logit()
                for story, row in zip(stories, rows, strict=True)
                for place, kind in grammar.read(story)[1].items()
                if kind == "colour"
            ]
        )

    whole, change = log_odds(), {}
    assert len(whole) > 50
    for layer, head in ((0, 0), (0, 3), (1, 1), (1, 3)):
        with silenced(model, layer, head):
            change[layer, head] = log_odds() - whole
    without = whole + change[1, 3]
    assert without.sigmoid().median() > 0.99
    assert (without > 0).all()
    assert -3 < change[1, 3].mean() < -1
    assert change[0, 3].mean() < 2 * change[0, 0].mean() < -4
    assert change[1, 1].mean() < 3 * change[1, 3].mean()
