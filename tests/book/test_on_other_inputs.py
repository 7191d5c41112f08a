"""What chapters say of their examples holds for other inputs and seeds."""

import contextlib
import io
import itertools

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from helpers import attention
from helpers.models.patching import Part, replaced
from helpers.models.switches import silenced
from helpers.recorded import results
from helpers.recorded.story_model import load_story_model
from helpers.recorded.sweeps import at_best_rate
from helpers.text import corpus, decisions, excess, probes
from tests.book.test_notebooks import CHAPTERS
from tools import notebooks

slow = pytest.mark.slow  # trains, or reads hundreds of stories


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


def test_one_vector_never_makes_all_words_look_away_and_two_matrices_may():
    torch.manual_seed(0)
    x, (W_query, W_key) = torch.randn(1000, 3, 4), torch.randn(2, 4, 4)
    looks_away = [
        ((queries @ keys.mT).argmax(dim=-1) != torch.arange(3)).all(dim=-1).sum()
        for queries, keys in ((x, x), (x @ W_query, x @ W_key))
    ]
    assert looks_away[0] == 0
    assert looks_away[1] > 100


BY_HAND = ("food-sentence", "query-and-key-matrices", "food-weights")
LAYER = ("attention-function", "self-attention-v2", "pronoun-data")


def test_the_weights_made_by_hand_in_chapter_2_are_those_of_the_formula():
    chapter, _ = run("02_queries_keys_values.ipynb", *BY_HAND)
    queries, keys = chapter["queries"], chapter["keys"]
    expected = attention.scaled_dot_product_attention(queries, keys, keys)[1]
    torch.testing.assert_close(chapter["weights"], expected)


@pytest.mark.parametrize(
    ("rate", "steps"),
    [
        pytest.param(1 / 3, 900, marks=slow),
        (1.0, 300),
        pytest.param(3.0, 300, marks=slow),
    ],
)
@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=slow) for n in (2, 3))])
def test_the_layer_of_chapter_2_learns_where_to_look_and_its_control_does_not(
    seed, rate, steps
):
    chapter, _ = run("02_queries_keys_values.ipynb", *BY_HAND, *LAYER)
    cells = cells_of("02_queries_keys_values.ipynb")
    source = cells["training-loop"].source + "\n" + cells["training"].source
    for old, new in (
        ("def new_layer(seed=0)", f"def new_layer(seed={seed})"),
        ("lr=1.0", f"lr={rate}"),
        ("steps=300", f"steps={steps}"),
    ):
        assert old in source
        source = source.replace(old, new)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(source, chapter)  # noqa: S102
        for name in ("hook-learned", "learned-scores"):
            exec(cells[name].source, chapter)  # noqa: S102
    held_out = (chapter["new_x"], chapter["new_target"])
    with torch.no_grad():
        learned, frozen = (
            chapter["layer_loss"](chapter[name], *held_out)
            for name in ("learned", "frozen")
        )
    assert learned < 0.1 * frozen
    assert chapter["losses"]["W_value alone"][-1] > 0.5
    assert chapter["opening_weights"][chapter["it"]].argmax() == chapter["food"]
    received, meaning = chapter["both"]
    assert torch.cosine_similarity(received, meaning, dim=0) > 0.9
    it_asks, she_asks = chapter["by_kind"][2:4]
    assert it_asks.argmax() == 1
    assert she_asks.argmax() == 0
    assert it_asks[0] < 0 > she_asks[1]


@slow
@pytest.mark.parametrize("seed", range(1, 3))
def test_a_small_rate_only_takes_longer_and_ten_sentences_are_too_few(seed):
    """Chapter 2, "Change the experiment"."""
    names = (*BY_HAND, *LAYER, "training-loop", "training")
    chapter, _ = run("02_queries_keys_values.ipynb", *names)
    losses = {}
    for name, number, options in (
        ("ten", 10, {"steps": 1000}),
        ("slow", 200, {"lr": 0.3}),
        ("slow, longer", 200, {"lr": 0.3, "steps": 1000}),
    ):
        torch.manual_seed(seed)
        layer = attention.SelfAttentionV2(11, 6)
        x, target = chapter["train_x"][:number], chapter["target"][:number]
        chapter["train"](layer, layer.parameters(), x, target, **options)
        losses[name] = chapter["layer_loss"](
            layer, chapter["new_x"], chapter["new_target"]
        )
    assert losses["slow, longer"] < 0.05 < 0.2 < losses["slow"]
    assert losses["ten"] > 0.2


@pytest.mark.parametrize("seed", range(10, 20))
def test_random_weights_leave_a_loss_that_no_matrix_of_values_lowers(seed):
    chapter, _ = run("02_queries_keys_values.ipynb", "food-sentence", "pronoun-data")
    torch.manual_seed(seed)
    x, target = chapter["train_x"], chapter["target"]
    layer = attention.SelfAttentionV2(11, 6)
    with torch.no_grad():
        _, shares = attention.scaled_dot_product_attention(
            layer.W_query(x), layer.W_key(x), x
        )
    mixed = (shares @ x)[:, chapter["it"]]
    best = torch.linalg.lstsq(mixed, target, driver="gelsd").solution
    assert (mixed @ best - target).square().mean() > 0.35


def test_no_matrix_reads_the_meaning_of_the_noun_from_a_plain_average():
    chapter, _ = run("02_queries_keys_values.ipynb", "food-sentence", "pronoun-data")
    average, target = chapter["train_x"].mean(dim=1), chapter["target"]
    best = torch.linalg.lstsq(average, target, driver="gelsd").solution
    assert (average @ best - target).square().mean() > 0.5


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
    pairs = list(itertools.permutations(range(3), 2))
    contexts = torch.zeros(6, 3)
    for context, (first, second) in zip(contexts, pairs, strict=True):
        context[first], context[second] = first_weight, 1 - first_weight
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


def test_head_2_keeps_to_the_place_and_head_3_to_the_mark_in_other_stories_too():
    others = ("held_out_stories=100", "held_out_stories=100, seed=1")
    names = ("trained-heads", "trained-counted")
    chapter, _ = run("06_multi_head.ipynb", *names, changed=others)
    everywhere = len(chapter["found"])
    assert everywhere > 50
    hits = chapter["hits"].tolist()
    # Columns: the name and the mark; then the name, its old place and the mark, moved.
    nowhere, place = [0] * 5, [everywhere, 0, 0, everywhere, 0]
    assert hits == [nowhere, nowhere, place, [0, everywhere, 0, 0, everywhere]]


class OtherStories:
    """A hundred that chapter 11 doesn't read, and how its model reads them."""

    def __init__(self):
        self.model, self.tokenizer = load_story_model()
        self.stories = corpus.load(
            "little-world", seed=5, held_out_stories=100
        ).held_out
        self.truth = excess.Truth(self.stories)

    def rows(self):
        return probes.log_probabilities(self.model, self.tokenizer, self.stories)

    def asked(self, kind):
        """Of each such question: what is expected, and the ids of two letters."""
        rivals = dict(zip("sShH", "hHsS", strict=True))
        for story, row in zip(self.stories, self.rows(), strict=True):
            for place, found in self.truth.world.read(story)[1].items():
                if found == kind:
                    letter = story[place]
                    both = letter + rivals.get(letter, letter)
                    yield row[place], *self.tokenizer.encode(both)

    def log_odds(self, kind):
        """Of the right letters; of she or he, those of one against the other."""
        found = [
            row[right] - row[rival] if rival != right else row.exp()[right].logit()
            for row, right, rival in self.asked(kind)
        ]
        return torch.stack(found)

    def nats(self, kind):
        expected = self.truth.excess(self.rows()).expected
        return expected[:, decisions.DECISIONS.index(kind)].mean()


@pytest.fixture(scope="module")
def others():
    return OtherStories()


@slow
def test_a_head_may_change_an_answer_that_no_probability_shows(others):
    """Chapter 11: log-odds tell 2.4 from nothing."""
    whole, left = others.log_odds("colour"), []
    assert len(whole) > 50
    for head in ((0, 0), (0, 3), (1, 1), (1, 3)):
        with silenced(others.model, *head):
            left.append(others.log_odds("colour"))
    left = torch.stack(left)
    first, fourth, second, last = (left - whole).mean(dim=1).tolist()
    assert left[3].sigmoid().median() > 0.99
    assert -3 < last < -1
    assert fourth < 2 * first < -4
    assert second < 3 * last
    # The same mean may be some colours lost, or nearly all.
    assert abs(fourth - second) < 2
    lost = (left < 0).double().mean(dim=1)
    assert lost[2] > 0.8 > 0.75 > lost[1] > 0.4
    assert lost[3] == 0


@slow
def test_most_that_is_lost_goes_to_characters_that_cannot_come(others):
    """Chapter 11: frequencies that are slightly off are the smaller part."""
    rows = others.rows()
    whole = others.truth.excess(rows).expected.sum()
    astray = -sum(
        row.masked_fill(log_p == -torch.inf, -torch.inf).logsumexp(dim=-1).sum()
        for row, log_p in zip(rows, others.truth.log_probabilities, strict=True)
    )
    assert 0.5 * whole < astray < 0.7 * whole


@slow
def test_two_heads_do_the_same_work_where_log_odds_say_so(others):
    """Chapter 11: what a pair costs beyond its heads, in nats and in log-odds."""
    for kind, *pair in (
        ("quote", (1, 0), (1, 3)),
        ("thing", (0, 1), (0, 3)),
        ("pronoun", (0, 0), (0, 3)),
    ):
        before = others.log_odds(kind).mean(), others.nats(kind)
        falls = []
        for heads in ([pair[0]], [pair[1]], pair):
            with replaced(others.model, {Part("context", *one): 0.0 for one in heads}):
                after = others.log_odds(kind).mean(), others.nats(kind)
            falls.append((float(before[0] - after[0]), float(after[1] - before[1])))
        (one, of_one), (other, of_other), (both, of_both) = falls
        if kind == "pronoun":
            assert both > 3 * (one + other)
        else:
            assert both < 1.25 * (one + other)
            assert of_both > 1.5 * (of_one + of_other)
        if kind == "quote":
            assert of_other < 0.05 * of_one
            assert other > 0.2 * one


@slow
def test_a_cache_may_drop_and_positions_must_be_those_of_training():
    """The KV cache: shorter and longer windows, and models trained on windows."""
    chapter, _ = run("kv_cache.ipynb", "kept", "kv-cache")
    slide, stories = cells_of("kv_cache.ipynb")["slide"].source, 'little-world"'
    for window, seed in ((16, 1), (40, 2)):
        source = slide.replace("WINDOW = 28", f"WINDOW = {window}")
        source = source.replace(stories, f"{stories}, seed={seed}")
        source = source.replace("[:100]", "[:20]")
        with contextlib.redirect_stdout(io.StringIO()):
            exec(source, chapter)  # noqa: S102
        (dropped, afresh), (wrongly_dropped, from_0) = chapter["losses"].tolist()
        assert abs(dropped - afresh) < 0.1
        assert dropped - chapter["whole"] < 0.3
        assert from_0 > afresh + 0.3
        assert wrongly_dropped > from_0 + 0.3
    runs = results.record("short_contexts")["runs"]
    for run_ in at_best_rate(runs, context_length=32):
        assert run_["sliding"] < 0.4  # afresh, and from position 0 as in training


def test_only_alibi_reads_on_at_whatever_rate_it_was_trained():
    """Chapter 12's answer holds for each seed at each rate of the record."""
    runs = results.record("positions")["runs"]
    for one in runs:
        rise = one["losses"][-1] - one["losses"][3]
        assert (rise < 0.1) == (one["positions"] == "alibi"), one
        assert rise < 0.1 or rise > 2
    assert len({one["rate"] for one in runs}) > 2


def test_a_softmax_that_is_sure_passes_only_a_gradient_that_grows_with_it():
    """Backward, by hand: what the second Jacobian stops, and what it doesn't."""
    names = ("one-number", "compare", "nudge-one-score", "softmax-backward")
    chapter, _ = run("backward_by_hand.ipynb", *names)
    weights = attention.softmax(32 * chapter["row"])
    for key in range(len(weights)):
        grad = torch.zeros_like(weights)
        grad[key] = -1
        small = chapter["softmax_backward"](weights, grad)
        assert small.abs().max() < 0.01
        of_the_logarithm = chapter["softmax_backward"](weights, grad / weights)
        torch.testing.assert_close(of_the_logarithm, weights + grad)
