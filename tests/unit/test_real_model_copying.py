"""What experiments.real_model.copying asks: texts, choices, and scores on a few."""

import itertools

import pytest
import torch
import torch.nn.functional as F

from experiments.real_model import copying_losses, copying_scores
from experiments.real_model.pretrained_models import smollm2
from helpers.models import induction
from helpers.models.patching import Part, watched
from helpers.text import repeated_names
from tests.real_models import need


@pytest.fixture
def real():
    need("smollm2-135m")
    return smollm2()


@pytest.mark.parametrize("tokens", copying_scores.RANGES)
def test_a_copy_repeats_no_token_and_is_told_twice(tokens):
    ids = copying_scores.told_twice(5, "test", length=9, tokens=tokens)
    assert ids.shape == (5, 19)
    assert torch.equal(ids[:, 1:10], ids[:, 10:])
    assert not ids[:, 0].any()
    low, high = copying_scores.RANGES[tokens]
    for row in ids[:, 1:10].tolist():
        assert len(set(row)) == 9
        assert low <= min(row) <= max(row) < high
    other = copying_scores.told_twice(5, "choose", length=9, tokens=tokens)
    assert not (ids == other)[:, 1:].all(dim=1).any()


def test_pieces_of_real_texts_are_told_twice(real, monkeypatch):
    monkeypatch.setattr(copying_scores, "REAL", ("prose", "code"))
    halves = {half: copying_scores.of_real_texts(half) for half in ("choose", "test")}
    n = copying_scores.COPY
    for ids in halves.values():
        assert ids.shape == (8, 1 + 2 * n)  # four of each
        assert torch.equal(ids[:, 1 : n + 1], ids[:, n + 1 :])
        assert not ids[:, 0].any()
    rows = {tuple(row) for ids in halves.values() for row in ids.tolist()}
    assert len(rows) == 16


def test_heads_are_ranked_by_their_mean():
    scores = torch.zeros(copying_scores.LAYERS, copying_scores.HEADS, 2)
    scores[3, 8] = torch.tensor([1.0, 0.0])
    scores[29, 0] = torch.tensor([0.4, 0.5])
    assert copying_scores.ranked(scores)[:2] == [(3, 8), (29, 0)]
    assert len(set(copying_scores.ranked(scores))) == 270


def test_scores_are_those_of_the_library(real):
    ids = copying_scores.told_twice(2, "test", length=6)
    found = copying_scores.scores(ids)
    prefix = induction.prefix_matching(real[0], ids[:, :-1])
    # The library asks the whole second copy, whose first token is one of them, too.
    rows = copying_scores.scores(torch.cat([ids[:, :-1], ids[:, -1:]], dim=1)).prefix
    assert torch.equal(rows, found.prefix)
    with torch.no_grad():
        _, weights = real[0](ids, return_weights=True)
    by_hand = torch.zeros(2)
    for text, place in itertools.product(range(2), range(7, 12)):
        by_hand[text] += weights[18][text, 6, place, place - 5] / 5
    torch.testing.assert_close(found.prefix[18, 6], by_hand)
    torch.testing.assert_close(prefix, found.prefix.mean(dim=-1))
    previous = induction.previous_token(real[0], ids)
    torch.testing.assert_close(found.previous.mean(dim=-1), previous)


@torch.no_grad()
def test_what_a_head_copies_is_what_it_adds_to_the_logits(real):
    model, ids = real[0], copying_scores.told_twice(1, "test", length=4)
    layer, head, D = 23, 2, 64
    last = []
    hook = model.final_norm.register_forward_pre_hook(lambda _, x: last.append(x[0]))
    with watched(model, [Part("context", layer, head)]) as given:
        model(ids)
    hook.remove()
    out = model.blocks[layer].attention.out_proj.weight[:, head * D : (head + 1) * D]
    mean = 0.0
    for place in range(5, 8):
        added = out @ given[Part("context", layer, head)][0, place]
        size = last[0][0, place].square().mean().sqrt()
        logits = model.token_embedding.weight @ (added * model.final_norm.weight / size)
        mean += (logits[ids[0, place + 1]] - logits[ids[0, 1:5]].mean()) / 3
    found = copying_scores.scores(ids).copied[layer, head, 0]
    torch.testing.assert_close(found, mean, rtol=1e-3, atol=1e-4)


def test_losses_are_those_of_the_library(real):
    ids = copying_scores.told_twice(2, "test", length=5)
    expected = induction.losses_of_copies(real[0], ids)
    found = [float(one.mean()) for one in copying_losses.losses(ids)]
    assert found == pytest.approx(expected, rel=1e-4)
    silent = {(18, 6): 0.0, (17, 4): 0.0, (17, 5): 0.0}
    first, second = copying_losses.losses(ids, silent)
    assert float(second.mean()) > found[1] + 0.1
    assert abs(float(first.mean()) - found[0]) < 1


def test_the_end_of_a_name_is_asked_behind_its_first_token(real):
    model, tokenizer = real
    asked = repeated_names.repeated_names(test=False)[:3]
    found = copying_losses.finished(asked, {}, False)
    for one, loss in zip(asked, found["loss"], strict=True):
        ids = torch.tensor([[copying_scores.START, *tokenizer.encode(one.text)]])
        count = len(tokenizer.encode(one.name)) - 1
        with torch.no_grad():
            rows = model(ids)[0, -count - 1 : -1]
        expected = float(F.cross_entropy(rows, ids[0, -count:]))
        assert loss == pytest.approx(expected, abs=1e-3)


def test_names_and_templates_are_of_one_half():
    halves = [repeated_names.repeated_names(test=test) for test in (False, True)]
    for sentences in halves:
        assert len(sentences) == 64
        assert len({one.text for one in sentences}) == 64
        for one in sentences:
            assert one.text.count(one.name) == 2
            assert one.text.endswith(one.name)
            assert one.other.count(one.name) == 1
            assert one.other.endswith(one.name)
            assert "{" not in one.text
    first, test = ({(one.name, one.template) for one in half} for half in halves)
    for i in range(2):
        assert not {one[i] for one in first} & {one[i] for one in test}
    assert len({one[0] for one in first}) == len({one[0] for one in test}) == 16
    with pytest.raises(ValueError, match="test must be"):
        repeated_names.repeated_names(test=1)
