"""What chapters 3 and 5 say of training holds for other rates, seeds and losses."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.book.test_notebooks import CHAPTERS
from tools import notebooks

SEEN_THROUGH_VALUES = ("(1 - w)²", "context", "-ln p")
SGD = torch.optim.SGD


def sources(name):
    return {cell.id: cell.source for cell in notebooks.read(CHAPTERS / name).cells}


def run(source, namespace):
    exec(source, namespace)  # noqa: S102


def last_numbers(name, cell_id):
    """The last number of each printed line, by the line's label."""
    cells = {cell.id: cell for cell in notebooks.read(CHAPTERS / name).cells}
    lines = [
        line.rsplit(maxsplit=4)
        for output in cells[cell_id].outputs
        for line in output.get("text", "").splitlines()
    ]
    return {line[0]: int(line[-1]) for line in lines if line[-1].isdigit()}


@pytest.fixture
def scaling():
    """The functions that chapter 3 trains with, by name."""
    threads = torch.get_num_threads()
    cells, namespace = sources("03_scaling.ipynb"), {}
    run(cells["setup"], namespace)
    run(cells["fetching"].partition("cases = {}")[0], namespace)
    yield namespace
    torch.set_num_threads(threads)


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


# --- chapter 3 ---------------------------------------------------------------------


def test_the_runs_that_find_all_words_are_those_of_the_text():
    found = last_numbers("03_scaling.ipynb", "fetching")
    assert found == {
        **{f"{loss}, not divided": 0 for loss in SEEN_THROUGH_VALUES},
        **{f"{loss}, divided": 15 for loss in SEEN_THROUGH_VALUES},
        "-ln w, not divided": 15,
        "-ln w, divided": 15,
        "context, smaller start": 15,
    }
    new = last_numbers("03_scaling.ipynb", "new-layers-fetching")
    assert 9 < new.pop("D = 64, not divided") < 15
    assert new == {
        "D = 64, divided": 15,
        "D = 256, not divided": 0,
        "D = 256, divided": 15,
    }


def require_what_the_text_says(words_found, rate, **options):
    for loss in SEEN_THROUGH_VALUES:
        assert words_found(loss, 8, rate, **options).min() == 15
        assert words_found(loss, 1, rate, **options).max() < 15
    for divisor in (1, 8):
        assert words_found("-ln w", divisor, rate, **options).min() == 15
    assert words_found("context", 1, rate, variance=1 / 8, **options).min() == 15


def test_through_the_values_a_too_sure_start_never_finds_all_words(scaling):
    require_what_the_text_says(scaling["words_found"], 0.002)


@pytest.mark.parametrize("loss", SEEN_THROUGH_VALUES)
def test_words_that_stay_lost_mostly_had_a_tiny_weight_at_first(scaling, loss):
    history = scaling["training"](loss, 1, 0.0005)
    found = scaling["is_found"](history[-1])
    at_first = history[0] < -math.log(0.0001)
    assert found[at_first].float().mean() > 0.9
    assert found[~at_first].float().mean() < 0.3
    assert scaling["is_found"](history[0]).sum(dim=-1).tolist() == [1, 0, 1, 2, 1]
    assert 0.3 < found.float().mean() < 0.6


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "steps"), [(0.0001, 900), (0.003, 900)])
def test_neither_other_rates_nor_more_steps_open_it(scaling, rate, steps):
    require_what_the_text_says(scaling["words_found"], rate, steps=steps)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.03, 0.1])
def test_nor_does_plain_gradient_descent(scaling, monkeypatch, rate):
    monkeypatch.setattr(
        torch.optim, "Adam", lambda parameters, lr, fused: SGD(parameters, lr=lr)
    )
    require_what_the_text_says(scaling["words_found"], rate, steps=900)


def test_the_square_root_is_the_quickest_divisor(scaling):
    steps = [
        len(scaling["training"]("context", divisor, 0.002, steps=900))
        for divisor in (8, 512**0.5, 64)
    ]
    assert steps[0] < steps[1] < steps[2] < 900


def test_too_even_a_start_can_be_made_up_for_and_too_peaked_a_one_cannot(scaling):
    for divisor in (512**0.5, 64):
        assert scaling["words_found"]("context", divisor, 0.001).min() == 15
    assert scaling["words_found"]("context", 2**0.5, 0.001).max() < 15


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
