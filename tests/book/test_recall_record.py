"""What chapter 16 says of what a memory of fixed size can recall."""

import itertools
import statistics

import pytest
import torch
import torch.nn.functional as F

from experiments import recall, sweeps
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate

RECORD = results.record("recall")
ADDING = ("linear", "decay")
OVERWRITING = ("delta", "gated delta")
FIXED = (*ADDING, *OVERWRITING)


def seeds(side, kind, pairs):
    """The share of right answers of each seed at the best rate."""
    runs = at_best_rate(RECORD["runs"], side=side)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return [run[kind][recall.PAIRS.index(pairs)] for run in runs]


def mean(side, kind, pairs):
    return statistics.fmean(seeds(side, kind, pairs))


def ahead(side, other, kind, pairs):
    """By how much each seed of one side is ahead of the other's."""
    both = zip(seeds(side, kind, pairs), seeds(other, kind, pairs), strict=True)
    return mean_and_interval([a - b for a, b in both])


def test_the_record_lacks_nothing():
    assert recall.wanted(RECORD) == []


@pytest.mark.parametrize("side", recall.SIDES | recall.BESIDE)
def test_each_rate_is_the_best_of_those_around_it(side):
    rates = sorted({run["rate"] for run in RECORD["runs"] if run["side"] == side})
    best = at_best_rate(RECORD["runs"], side=side)[0]["rate"]
    assert rates[0] < best < rates[-1]


def test_softmax_keeps_every_pair_and_the_hybrid_with_four_seeds_of_five():
    for pairs in recall.PAIRS:
        assert mean("softmax", "once", pairs) > 0.98
        assert sorted(seeds("hybrid", "once", pairs))[1] > 0.96
    assert min(seeds("hybrid", "once", 32)) < 0.5


@pytest.mark.parametrize("side", FIXED)
def test_each_rule_loses_more_the_more_pairs_there_are(side):
    means = [mean(side, "once", pairs) for pairs in recall.PAIRS]
    assert all(a > b for a, b in itertools.pairwise(means[1:]))
    assert means[0] >= 0.9
    assert means[-1] < 0.55
    assert ahead("softmax", side, "once", 32).low > 0.3
    if side in OVERWRITING:
        assert means[2] > 0.94
        assert means[3] < 0.85


def test_one_layer_of_softmax_recalls_all_that_the_hybrid_does():
    for pairs in recall.PAIRS:
        assert min(seeds("softmax, one layer", "once", pairs)) > 0.98


def test_a_larger_state_recalls_more_of_32_pairs():
    sides = [f"delta, {rows} rows" for rows in recall.ROWS]
    assert [round(mean(side, "once", 32), 2) for side in sides] == [0.72, 0.86, 0.95]
    for smaller, larger in itertools.pairwise(sides):
        assert ahead(larger, smaller, "once", 32).low > 0
    for side, pairs in itertools.product(sides, (2, 4, 8)):
        assert min(seeds(side, "once", pairs)) > 0.98
    longer = "delta, 8 rows, twice the steps"
    assert round(mean(longer, "once", 32), 2) == 0.79
    assert ahead(longer, sides[0], "once", 32).low > 0
    more = ahead(sides[1], longer, "once", 32)
    assert round(more.mean, 2) == 0.07
    assert more.low > 0
    first = recall.LAYERS * recall.HEADS * (recall.D_MODEL // recall.HEADS) ** 2
    assert recall.WIDE * recall.ROWS[1] == first  # as many numbers
    assert min(seeds(sides[1], "once", 32)) > max(seeds("delta", "once", 32))
    assert min(seeds("softmax, heads of 8", "once", 32)) > 0.97


def test_states_of_all_sizes_have_the_same_layer_around_them():
    models = [recall.RecallModel(f"delta, {rows} rows") for rows in recall.ROWS]
    rows = [model.blocks[0].attention.norm.weight.numel() for model in models]
    assert rows == list(recall.ROWS)
    counts = [sum(one.numel() for one in model.parameters()) for model in models]
    assert max(counts) < 1.01 * min(counts)
    shapes = [
        {
            name: one.shape
            for name, one in model.named_parameters()
            if "W_beta" not in name and "attention.norm" not in name
        }
        for model in models
    ]
    assert shapes[0] == shapes[1] == shapes[2]
    steps = {
        side: {run["steps"] for run in RECORD["runs"] if run["side"] == side}
        for side in recall.SIDES | recall.BESIDE
    }
    for side, found in steps.items():
        expected = 1200 if side.endswith("rows") else 600
        assert found == {2400 if side.endswith("twice the steps") else expected}


def test_overwriting_recalls_more_than_adding_does():
    for side, other in itertools.product(OVERWRITING, ADDING):
        for kind, pairs in itertools.product(("once", "again"), (16, 32)):
            assert ahead(side, other, kind, pairs).low > 0
        for pairs in (2, 4, 8):
            assert ahead(side, other, "again", pairs).low > 0


def test_whether_decay_or_a_gate_helps_five_seeds_do_not_say():
    for side, other in (("decay", "linear"), ("gated delta", "delta")):
        for pairs in (8, 16, 32):
            found = ahead(side, other, "once", pairs)
            assert found.low < 0 < found.high


def test_what_adds_fails_where_two_keys_are_written_again_and_again():
    for side in ADDING:
        assert mean(side, "again", 2) < 0.35
        assert mean(side, "once", 2) > mean(side, "again", 2) + 0.5
    for side in (*OVERWRITING, "softmax", "hybrid"):
        assert mean(side, "again", 2) > 0.9


def test_decay_helps_a_little_where_two_keys_are_written_again_and_again():
    found = ahead("decay", "linear", "again", 2)
    assert (round(found.mean, 2), round(found.low, 2)) == (0.11, 0.03)
    assert round(mean("decay", "again", 2), 2) == 0.33


def test_linear_attention_recalls_little_more_than_the_most_frequent_value():
    texts = recall.draw(torch.Generator().manual_seed(1), 2_000, 2, recall.WRITES)
    mine = texts.keys == texts.asked[:, :1]
    written = F.one_hot(texts.values, recall.VALUES) * mine[..., None]
    most = written.sum(dim=1).amax(dim=-1) / mine.sum(dim=1)
    assert most.mean().item() == pytest.approx(0.19, abs=0.01)
    assert 0.19 < mean("linear", "again", 2) < 0.24


@pytest.mark.parametrize(
    ("side", "kind", "expected"),
    [
        ("linear", "once", [0.95, 0.88, 0.69, 0.45, 0.28]),
        ("delta", "once", [1.0, 0.99, 0.95, 0.80, 0.50]),
        ("gated delta", "once", [1.0, 0.99, 0.96, 0.84, 0.54]),
        ("linear", "again", [0.22, 0.25, 0.28, 0.29, 0.28]),
        ("delta", "again", [0.94, 0.90, 0.81, 0.68, 0.51]),
        ("softmax", "again", [0.93, 0.91, 0.89, 0.91, 0.99]),
    ],
)
def test_the_figures_in_the_text(side, kind, expected):
    found = [round(mean(side, kind, pairs), 2) for pairs in recall.PAIRS]
    assert found == expected


def test_a_short_run_is_the_recorded_one_shortened():
    first, again = (
        recall.train_one({"side": "decay", "rate": 0.008, "seed": 1, "steps": 2})
        for _ in range(2)
    )
    assert first == again
