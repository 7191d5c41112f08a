"""experiments.latent_attention: what is asked, who may read what, and short runs."""

import pytest
import torch

from experiments import latent_attention as experiment
from experiments import sweeps
from helpers.models.switches import attending_with
from tests.samples.models import model

pytestmark = pytest.mark.usefixtures("one_thread")
RECALL = {"study": "recall", "side": "all", "rate": 0.032, "seed": 1, "steps": 3}
SINKS = {"study": "sinks", "side": "gate", "rate": 0.004, "seed": 1, "steps": 2}
FEW = {"validation": 3, "test": 4}


def texts(count=2, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return experiment.recall_texts(count, generator)


def test_each_question_has_one_answer_that_stands_in_the_text():
    keys, values, answers = texts(3)
    items, asked = experiment.ITEMS, experiment.ASKED
    assert keys.shape == values.shape == (3, items + asked)
    for row in range(3):
        told = dict(
            zip(keys[row, :items].tolist(), values[row, :items].tolist(), strict=True)
        )
        assert len(told) == items
        questions = keys[row, items:].tolist()
        assert [told[key] for key in questions] == answers[row].tolist()
        assert len(set(questions)) == asked
    assert (values[:, items:] == experiment.VALUES).all()
    keys, *_ = texts(50)
    places = (keys[:, items:, None] == keys[:, None, :items]).nonzero()[:, 2]
    assert set(places.tolist()) == set(range(items))  # any of them may be asked for


@pytest.mark.parametrize("side", experiment.SIDES)
def test_each_side_reads_as_many_positions(side):
    T = experiment.ITEMS + experiment.ASKED
    torch.manual_seed(2)
    queries, keys = torch.randn(2, 2, 1, T, 4)
    core = experiment.core_of(side)
    if core is None:
        assert side == "all"
        return
    identity = torch.eye(T).expand(2, 1, T, T)
    weights = core(queries, keys, identity, causal=True, window=None, sinks=0)
    read = (weights[0, 0] > 0).sum(-1)
    assert (read <= experiment.READ).all()
    size = experiment.SIDES[side]["block_size"]
    ends = torch.arange(size - 1, T, size)  # a whole block is seen from its end
    assert (read[ends] == (ends + 1).clamp(max=experiment.READ)).all()
    if side.startswith("random"):
        again = core(queries, keys, identity, causal=True, window=None, sinks=0)
        assert not torch.equal(again > 0, weights > 0)


def test_weight_on_a_token_is_a_mean_over_late_queries():
    made = model(num_layers=1, context_length=40)

    def even(queries, keys, values, **_):
        raise AssertionError("weights are asked for")

    data = experiment.Documents([[1] * 20, [2] * 30], 40, start_id=0)
    with attending_with(made, even):
        found = experiment.weight_on(made, data, 1)
    ids = [torch.tensor([[0] + [one] * (n - 1)]) for one, n in ((1, 20), (2, 30))]
    late = [
        made(one, return_weights=True)[1][0][0, :, experiment.FROM :, 1] for one in ids
    ]
    expected = torch.cat(late, dim=-1).mean(-1)
    torch.testing.assert_close(torch.tensor(found[0]), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("side", experiment.CACHES)
def test_each_cache_holds_as_many_numbers_as_it_says(side):
    layer = experiment.attention_of(side)
    assert layer.num_heads == experiment.HEADS
    kept = (layer.W_latent, layer.W_rotary) if side == "MLA" else ()
    kept = kept or (layer.W_key, layer.W_value)
    expected = {"MHA": 64, "MQA": 8, "MLA": 8}[side]
    assert sum(one.out_features for one in kept) == expected


@pytest.mark.parametrize("settings", [RECALL, SINKS], ids=["recall", "sinks"])
def test_a_run_repeats_itself(settings):
    run = experiment.train_one(settings, **FEW)
    assert run == experiment.train_one(settings, **FEW)
    assert run != experiment.train_one(settings | {"seed": 2}, **FEW)
    expected = {
        "recall": {"validation", "right"},
        "sinks": {"validation", "test", "first", "second"},
    }
    assert set(run) == expected[settings["study"]]


def test_every_side_is_swept_and_then_repeated():
    asked = experiment.wanted({"runs": []})
    sides = {(one["study"], one["side"]) for one in asked}
    studies = (experiment.SIDES, experiment.CACHES, experiment.GATES)
    assert len(sides) == sum(map(len, studies))
    assert {one["seed"] for one in asked} == {sweeps.SEEDS[0]}
    assert len(asked) == 3 * len(sides)
