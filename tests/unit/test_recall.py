"""The texts, the models and the costs behind chapter 16's records."""

import pytest
import torch

from experiments import memory_cost, recall


@pytest.mark.parametrize(("pairs", "writes"), recall.kinds())
def test_an_answer_is_the_last_value_of_a_key_that_was_written(pairs, writes):
    generator = torch.Generator().manual_seed(3)
    texts = recall.draw(generator, 5, pairs, writes)
    assert texts.keys.shape == texts.values.shape == (5, writes)
    assert texts.asked.shape == texts.answers.shape == (5, recall.ASKED)
    for keys, values, asked, answers in zip(
        *map(torch.Tensor.tolist, texts), strict=True
    ):
        assert len(set(keys)) == pairs
        last = dict(zip(keys, values, strict=True))
        assert [last[key] for key in asked] == answers


def test_texts_of_one_seed_are_the_same_and_of_two_are_not():
    first, again, other = (
        recall.draw(torch.Generator().manual_seed(seed), 3, 8, 32) for seed in (1, 1, 2)
    )
    assert all(map(torch.equal, first, again))
    assert not torch.equal(first.keys, other.keys)


@pytest.mark.parametrize("side", recall.SIDES | recall.BESIDE)
def test_what_is_asked_depends_on_what_was_written_and_not_on_other_questions(side):
    torch.manual_seed(0)
    model = recall.RecallModel(side).double().eval()
    texts = recall.draw(torch.Generator().manual_seed(4), 2, 8, 32)
    before = model(texts)
    later = texts._replace(asked=texts.asked.clone())
    later.asked[:, -1] = (later.asked[:, -1] + 1) % recall.KEYS
    torch.testing.assert_close(model(later)[:, :-1], before[:, :-1])
    assert not torch.allclose(model(later)[:, -1], before[:, -1])
    changed = texts._replace(values=(texts.values + 1) % recall.VALUES)
    assert not torch.allclose(model(changed), before)


def test_sides_differ_in_their_attention_alone():
    for side in recall.SIDES:
        names = {name for name, _ in recall.RecallModel(side).named_parameters()}
        plain = {name for name, _ in recall.RecallModel("softmax").named_parameters()}
        assert plain <= names
        own = ("W_beta", "W_decay", "decay_bias", "attention.norm")
        assert all(any(one in name for one in own) for name in names - plain)


def test_a_short_run_measures_all_kinds():
    run = recall.train_one({"side": "delta", "rate": 0.016, "seed": 0, "steps": 3})
    assert len(run["once"]) == len(run["again"]) == len(recall.PAIRS)
    # With as many keys as writes, both kinds of text are one.
    assert abs(run["once"][-1] - run["again"][-1]) < 0.05
    assert 2.0 < run["validation"] < 4.0


def test_the_runs_that_lack_are_those_of_each_side():
    lacking = recall.wanted({"runs": []})
    assert {run["side"] for run in lacking} == set(recall.SIDES) | set(recall.BESIDE)
    rates = set(recall.BEGIN) | set(recall.BEGIN_WIDE)
    assert {run["rate"] for run in lacking} == rates


def test_both_ways_are_timed():
    run = memory_cost.decoding(70, 2)
    assert set(run["ms"]) == {"softmax", "delta"}
    assert run["length"] == 70
    assert all(taken > 0 for taken in run["ms"].values())
