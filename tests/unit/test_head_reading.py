"""helpers.models.head_reading: what a reading holds is what the model computes."""

import base64

import numpy as np
import pytest
import torch

from experiments.real_model import head_readings
from helpers.models.encoder import TransformerEncoder
from helpers.models.head_reading import HeadReader, pack_weights
from helpers.models.language_model import CharLanguageModel
from helpers.models.switches import silenced
from helpers.models.transformer_block import TransformerConfig
from helpers.text.tokenizer import CharTokenizer
from helpers.views.all_heads import unpack_weights
from tests.samples import models

TOKENIZER = CharTokenizer("abcdefghij\n")
TEXT = "abcab"
T, L, H = 5, 2, 6


def reader(**options):
    model = models.model(**options)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)  # so that heads differ
    return HeadReader(model, TOKENIZER)


def numbers(packed, kind):
    return np.frombuffer(base64.b64decode(packed), dtype=kind).astype(float)


def test_a_reading_has_the_weights_of_the_model_in_8_bits():
    one = reader()
    reading = one.read(TEXT)
    ids = torch.tensor([TOKENIZER.encode(TEXT)])
    logits, weights = one.model(ids, return_weights=True)
    found = unpack_weights(reading)
    assert found.shape == (L, H, T, T)
    expected = torch.cat([*weights])
    torch.testing.assert_close(found, expected, atol=0.5 / 255 + 1e-6, rtol=0)
    assert len(base64.b64decode(reading["weights"])) == L * H * T * (T + 1) // 2
    assert reading["tokens"] == list(TEXT)
    assert reading["same"] == [0, 1, 2, 0, 1]
    assert (reading["layers"], reading["heads"], reading["causal"]) == (L, H, True)
    best = logits[0, -1].softmax(-1).topk(5)
    for (token, share), p, i in zip(
        reading["next"], best.values.tolist(), best.indices.tolist(), strict=True
    ):
        assert token == TOKENIZER.decode([i])
        assert share == pytest.approx(p, abs=1e-4)


@pytest.mark.parametrize("options", [{}, {"num_kv_heads": 2, "positions": "rotary"}])
def test_each_head_is_missed_as_if_it_were_silenced(options):
    one = reader(**options)
    reading = one.read_without_each(TEXT)
    ids = torch.tensor([TOKENIZER.encode(TEXT)])
    packed = reading["without"]
    pairs = numbers(packed["next"], "<u2").reshape(L, H, 5, 2)
    lost = numbers(packed["lost"], "<i2").reshape(L, H) / 1000
    with torch.no_grad():
        before = one.model(ids)[0, -1].log_softmax(-1)
        top = before.argmax()
        for layer in range(L):
            for head in range(H):
                with silenced(one.model, layer, head):
                    after = one.model(ids)[0, -1].log_softmax(-1)
                loss = float(before[top] - after[top])
                assert lost[layer, head] == pytest.approx(loss, abs=6e-4)
                told = [
                    (packed["vocabulary"][int(place)], share / 65535)
                    for place, share in pairs[layer, head]
                ]
                best = after.exp().topk(5)
                names = [TOKENIZER.decode([i]) for i in best.indices.tolist()]
                assert [name for name, _ in told] == names
                shares = [share for _, share in told]
                assert shares == pytest.approx(best.values.tolist(), abs=1e-5)
    assert len(set(lost.flatten().tolist())) > L * H / 2
    assert reading | {"without": 0} == one.read(TEXT) | {"without": 0}


def test_several_heads_are_off_together():
    one = reader()
    ids = torch.tensor([TOKENIZER.encode(TEXT)])
    found = one.next_without(TEXT, [(0, 1), (1, 5)])
    with torch.no_grad(), silenced(one.model, 0, 1), silenced(one.model, 1, 5):
        best = one.model(ids)[0, -1].softmax(-1).topk(5)
    assert [p for _, p in found] == pytest.approx(best.values.tolist(), abs=1e-4)
    assert one.next_without(TEXT, []) == one.read(TEXT)["next"]


def test_an_encoder_is_read_in_both_directions_and_predicts_nothing():
    config = TransformerConfig(11, 12, 24, 6, 2, causal=False)
    torch.manual_seed(0)
    one = HeadReader(TransformerEncoder(config), TOKENIZER)
    reading = one.read(TEXT)
    assert (reading["causal"], reading["next"]) == (False, None)
    assert unpack_weights(reading)[..., 0, T - 1].min() > 0
    for call in (
        lambda: one.read_without_each(TEXT),
        lambda: one.next_without(TEXT, []),
    ):
        with pytest.raises(ValueError, match=r"TransformerLM, .*got TransformerEnc"):
            call()


def test_the_model_is_as_it_was_afterwards():
    one = reader(dropout=0.5)
    one.model.train()
    assert one.read_without_each(TEXT) == one.read_without_each(TEXT)
    assert one.model.training
    assert not any(module._forward_hooks for module in one.model.modules())


class Pieces:
    """A tokenizer with names of its own for its tokens."""

    def encode(self, text):
        return TOKENIZER.encode(text)

    def decode(self, ids):
        raise AssertionError("pieces are asked first")

    def pieces(self, ids):
        return [f"<{i}>" for i in ids]


def test_tokens_have_the_names_that_the_tokenizer_gives_its_pieces():
    reading = HeadReader(models.model(), Pieces()).read("ab")
    assert reading["tokens"] == ["<0>", "<1>"]


def test_weights_are_packed_row_by_row():
    weights = torch.tensor([[1.0, 0.0], [0.2, 0.8]])
    assert numbers(pack_weights(weights, causal=True), "u1").tolist() == [255, 51, 204]
    packed = numbers(pack_weights(weights, causal=False), "u1")
    assert packed.tolist() == [255, 0, 51, 204]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reader().read(""), r"text must have 1 to 12 tokens, got 0"),
        (lambda: reader().read("abcdefghijabc"), r"1 to 12 tokens, got 13 from 'abcde"),
        (lambda: reader().read(3), r"text must be .*str"),
        (lambda: reader().read("x"), r"text holds 'x' at position 0"),
        (lambda: reader().next_without("ab", [(2, 0)]), r"layer .* 0 to 1, got 2"),
        (lambda: reader().next_without("ab", [(0, 6)]), r"head .* 0 to 5, got 6"),
        (
            lambda: HeadReader(CharLanguageModel(11, 12, 24, 6), TOKENIZER),
            r"model must be a TransformerLM.*got CharLanguageModel",
        ),
        (
            lambda: HeadReader(models.model(), "abc"),
            r"tokenizer must have encode and decode, got str",
        ),
        (
            lambda: HeadReader(models.model(), TOKENIZER, most_tokens=0),
            r"most_tokens must be an integer",
        ),
        (
            lambda: HeadReader(models.model(), TOKENIZER, most_tokens=3).read("abcd"),
            r"text must have 1 to 3 tokens, got 4",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_recorded_sentences_are_short_and_all_different():
    assert 2 <= len(set(head_readings.SENTENCES)) == len(head_readings.PLAN) <= 4
