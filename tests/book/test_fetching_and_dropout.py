"""What chapters 3 and 5 say of training holds for other rates, seeds and losses."""

import itertools
import math
import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.book.test_notebooks import CHAPTERS
from tools import notebooks


def sources(name):
    return {cell.id: cell.source for cell in notebooks.read(CHAPTERS / name).cells}


def run(source, namespace):
    exec(source, namespace)  # noqa: S102


def printed_counts(name, cell_id):
    """Each printed line's label, and its pairs of heads and words, in order."""
    cells = {cell.id: cell for cell in notebooks.read(CHAPTERS / name).cells}
    text = "".join(output.get("text", "") for output in cells[cell_id].outputs)
    found = {}
    for line in text.splitlines():
        pairs = re.findall(r"(\d) of 5 heads, +(\d+) words", line)
        label = re.split(r"  (?:divided|not): ", line)[0].strip()
        found[label] = [tuple(map(int, pair)) for pair in pairs]
    return found


def learner(seed=0, optimizer="Adam"):
    """What chapter 3 trains with, by name, for other seeds and optimisers."""
    cells, namespace = sources("03_scaling.ipynb"), {}
    run(cells["setup"], namespace)
    train = cells["train"].replace("manual_seed(0)", f"manual_seed({seed})")
    run(train.replace("torch.optim.Adam", f"torch.optim.{optimizer}"), namespace)
    run(cells["losses"].partition("for name")[0], namespace)
    namespace["softmax"] = lambda scores: torch.softmax(scores, dim=-1)
    return namespace


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def words_found(found):
    """How many of 15 words each head finds."""
    return (found > 0.5).sum(dim=-1)


@pytest.fixture
def dropout():
    """What chapter 5 computes with, by name."""
    cells, namespace = sources("05_dropout.ipynb"), {}
    run(cells["setup"], namespace)
    run(cells["given-mask"].partition("keep = ")[0], namespace)
    run(cells["expected-value"].partition("for p in")[0], namespace)
    keeps = torch.tensor(list(itertools.product([0, 1], repeat=3)))
    namespace["keeps"] = keeps
    run(cells["leaning"], namespace)
    namespace["rows-learn"] = cells["rows-learn"].partition("cases = {")[0]
    return namespace


# --- chapter 3 and the page on how sharp attention begins --------------------------


def test_heads_that_learn_are_those_of_the_text():
    rates = printed_counts("03_scaling.ipynb", "both-heads")
    del rates["how many heads learned it, and how many of 15 words find theirs"]
    divided, undivided = zip(*rates.values(), strict=True)
    assert divided == ((3, 15), *[(5, 15)] * 4)
    assert [heads for heads, _ in undivided] == [0] * 5
    assert max(words for _, words in undivided) == 9
    losses = printed_counts("03_scaling.ipynb", "losses")
    assert len(losses) == 4
    for label, (divided, undivided) in losses.items():
        assert divided == (5, 15)
        assert undivided[0] == (5 if label.startswith("-ln w") else 0)
    new = printed_counts("how_sharp_at_first.ipynb", "new-layers-fetching")
    assert len(new) == 4
    for label, (divided, undivided) in new.items():
        assert divided == (5, 15)
        assert undivided[0] == (5 if label.startswith("D =  64") else 0)


def test_both_pages_train_with_the_same_code():
    first = sources("03_scaling.ipynb")["train"]
    assert sources("how_sharp_at_first.ipynb")["train"].partition("\n")[2] == first


def require_what_the_text_says(names, rate, steps=300):
    train, losses = names["train"], ("squared_distance", "minus_ln_p")
    for loss in (names[one] for one in losses):
        assert words_found(train(loss, rate, 8, steps=steps)).min() == 15
        assert words_found(train(loss, rate, 1, steps=steps)).max() < 15
    for divisor in (1, 8):
        logarithm = train(names["minus_ln_w"], rate, divisor, steps=steps)
        assert words_found(logarithm).min() == 15
    loss, root = names["squared_distance"], math.sqrt(8)
    small = train(loss, rate, 1, start=1 / root, steps=steps)
    assert words_found(small).min() == 15
    assert words_found(train(loss, rate, 8, start=root, steps=steps)).max() < 15


def test_other_words_and_matrices_at_another_rate_say_the_same():
    require_what_the_text_says(learner(seed=1), rate=0.002)


@pytest.mark.parametrize("seed", [1, 2])
def test_words_that_stay_lost_began_with_a_tiny_weight(seed):
    names = learner(seed)
    loss = names["squared_distance"]
    start = names["train"](loss, 0.001, 1, steps=1)
    found = names["train"](loss, 0.001, 1) > 0.5
    assert found[start > 1e-4].double().mean() > 0.9
    assert found[start <= 1e-4].double().mean() < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "steps"), [(0.0003, 900), (0.001, 900), (0.003, 900)])
def test_neither_other_rates_nor_more_steps_open_it(rate, steps):
    require_what_the_text_says(learner(seed=2), rate, steps)


@pytest.mark.slow
def test_after_5000_steps_few_undivided_heads_have_learned_the_task():
    names = learner()
    found = names["train"](names["squared_distance"], 0.001, 1, steps=5000)
    words = words_found(found)
    assert (words == 15).sum() in (1, 2)  # after so many steps, rounding matters
    assert words.min() > 9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("D", "optimizer", "rates"),
    [
        (D, optimizer, rates)
        for D in (16, 64, 256)
        for optimizer, rates in (
            ("Adam", (0.0001, 0.0003, 0.001, 0.003, 0.01)),
            ("SGD", (0.3, 1, 3, 10)),
        )
    ],
)
def test_no_width_needs_another_sentence(D, optimizer, rates):
    """All divided heads learn at some rates; of undivided ones, some at width 16."""
    names = learner(optimizer=optimizer)
    loss, train = names["squared_distance"], names["train"]
    steps = 600 if D < 256 else 300
    for divisor in (math.sqrt(D), 1):
        found = [words_found(train(loss, r, divisor, D=D, steps=steps)) for r in rates]
        if divisor > 1:
            assert sum(one.min() == 15 for one in found) >= 1
        else:
            assert all(one.min() < 15 for one in found)
            assert any(one.max() == 15 for one in found) == (D == 16)


def test_the_square_root_is_the_quickest_divisor():
    names = learner(seed=1)
    loss, train = names["squared_distance"], names["train"]
    found = [train(loss, 0.001, c, steps=40) for c in (8, 512**0.5, 64)]
    words = [words_found(one).sum() for one in found]
    assert words[0] > words[1] > words[2]
    for c in (512**0.5, 64):
        assert words_found(train(loss, 0.001, c)).min() == 15
    assert words_found(train(loss, 0.001, 2**0.5)).max() < 15


# --- chapter 5 ---------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_no_other_row_beats_the_best_of_the_table(dropout, p):
    printed = dropout["losses"][:, dropout["probabilities"].index(p)]
    steps = torch.arange(61) / 60
    rows = torch.cartesian_prod(steps, steps)
    rows = rows[rows.sum(dim=-1) <= 1.001]
    rows = torch.cat([rows, 1 - rows.sum(dim=-1, keepdim=True)], dim=-1)
    keeps, colour = dropout["keeps"], dropout["colour"]
    contexts = dropout["drop"](rows.unsqueeze(1), keeps, p) @ colour
    expected = (contexts - 1).square() @ dropout["chances"](keeps, p)
    assert printed.min() < expected.min() + 0.005


@pytest.mark.parametrize(("seed", "rate"), [(1, 0.03), (2, 0.3)])
def test_other_rows_learn_the_same(dropout, seed, rate):
    source = dropout["rows-learn"].replace("manual_seed(123)", f"manual_seed({seed})")
    run(source.replace("lr=0.1", f"lr={rate}"), dropout)
    learned, squared = dropout["learned"], dropout["squared"]
    for loss, p, options, on_average in (
        (squared, 0.1, (), 0.947),
        (squared, 0.5, (), 0.667),
        (squared, 0.5, (True,), 0.667),
        (dropout["logarithm"], 0.5, (), 1.0),
    ):
        rows, contexts = learned(loss, p, *options)
        assert (rows[:, 0] - rows[:, 1]).abs().max() < 0.03
        assert (contexts - on_average).abs().max() < 0.02
    rows, _ = learned(squared, 0.0)
    assert (rows[:, 0] - rows[:, 1]).abs().max() > 0.2


def told_twice(count, generator):
    """Texts (count, 10) in which one of eight colours stands at two places."""
    colours = torch.randint(0, 8, (count,), generator=generator)
    ids = torch.randint(8, 16, (count, 10), generator=generator)
    places = torch.rand(count, 9, generator=generator).topk(2).indices
    ids.scatter_(1, places, colours.unsqueeze(1).expand(-1, 2))
    ids[:, -1] = 16
    return ids, colours, places


def trained_head(p, seed, loss, steps=1000, C=32):
    """The smaller share of the weight on the two places, and the colour's output."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(50 + seed)
    tokens, positions = nn.Embedding(17, C), nn.Embedding(10, C)
    layers = nn.ModuleList([*(nn.Linear(C, C, bias=False) for _ in "qkvo")])
    W_query, W_key, W_value, out_proj = layers
    head = nn.Linear(C, 8)
    parts = nn.ModuleList([tokens, positions, layers, head])
    optimizer = torch.optim.Adam(parts.parameters(), lr=0.003)

    def read(ids, p):
        x = tokens(ids) + positions(torch.arange(10))
        scores = W_query(x[:, -1:]) @ W_key(x).mT / C**0.5
        weights = scores.softmax(dim=-1)
        context = F.dropout(weights, p) @ W_value(x)
        return head(out_proj(context)).squeeze(1), weights.squeeze(1)

    for _ in range(steps):
        ids, colours, _ = told_twice(64, generator)
        optimizer.zero_grad()
        loss(read(ids, p)[0], colours).backward()
        optimizer.step()
    ids, colours, places = told_twice(1000, generator)
    with torch.no_grad():
        outputs, weights = read(ids, 0.0)
    two = weights.gather(1, places)
    own = outputs.gather(1, colours.unsqueeze(1))
    return (two.amin(dim=-1) / two.sum(dim=-1)).mean(), own.mean()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_dropout_keeps_a_whole_head_from_leaning(seed):
    assert trained_head(0.0, seed, F.cross_entropy)[0] < 0.38
    assert trained_head(0.1, seed, F.cross_entropy)[0] > 0.4


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_with_a_squared_loss_trained_projections_do_not_undo_the_shrinking(seed):
    def squared(outputs, colours):
        return (outputs - F.one_hot(colours, 8)).square().sum(dim=-1).mean()

    assert trained_head(0.0, seed, squared)[1] > 0.97
    assert trained_head(0.5, seed, squared)[1] < 0.82
