"""Vectors of sentences: how an encoder reads them, without a pretrained one."""

import pytest
import torch
import torch.nn.functional as F

from helpers.models.encoder import TransformerEncoder
from helpers.models.language_model import TransformerLM
from helpers.models.pretrained.sentences import sentence_vectors
from helpers.models.transformer_block import TransformerConfig
from helpers.text.subwords import SubwordTokenizer

SIZES = {
    "vocab_size": 3,
    "context_length": 9,
    "d_model": 8,
    "num_heads": 2,
    "num_layers": 1,
}
TOKENIZER = SubwordTokenizer.from_merges(["a", "b", "ab"], [("a", "b")])
TEXTS = ["ab", "bab", "aaaab", "b", "ba"]  # 1, 2, 4, 1 and 2 tokens


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return TransformerEncoder(TransformerConfig(**SIZES, causal=False, dropout=0.5))


def test_each_is_its_own_mean_in_the_order_of_the_texts(encoder):
    vectors = sentence_vectors(encoder, TOKENIZER, iter(TEXTS))
    encoder.eval()
    for text, vector in zip(TEXTS, vectors, strict=True):
        features = encoder(torch.tensor([TOKENIZER.encode(text)]))
        torch.testing.assert_close(vector, F.normalize(features[0].mean(0), dim=-1))
    assert sentence_vectors(encoder, TOKENIZER, []).shape == (0, 8)


def test_dropout_is_off_and_no_gradient_is_kept(encoder):
    encoder.train().dropout.eval()
    modes = [one.training for one in encoder.modules()]
    first, second = (sentence_vectors(encoder, TOKENIZER, TEXTS) for _ in range(2))
    assert first.equal(second)
    assert not first.requires_grad
    assert [one.training for one in encoder.modules()] == modes


def test_many_texts_are_read_in_parts(encoder):
    sizes = []
    encoder.register_forward_pre_hook(lambda _, args: sizes.append(len(args[0])))
    vectors = sentence_vectors(encoder, TOKENIZER, ["ab", "bab"] * 130)
    assert sizes == [64, 64, 2] * 2
    torch.testing.assert_close(vectors, vectors[:2].repeat(130, 1))


def test_bad_input_is_named(encoder):
    language_model = TransformerLM(TransformerConfig(**SIZES))
    for model, tokenizer, texts, message in (
        (language_model, TOKENIZER, TEXTS, "model must be a TransformerEncoder, got"),
        (encoder, None, TEXTS, "tokenizer must be a SubwordTokenizer, got NoneType"),
        (encoder, TOKENIZER, "ab", "texts must be several strings, got 'ab'"),
        (encoder, TOKENIZER, None, "texts must be several strings, got None"),
        (encoder, TOKENIZER, ["a", None], "several strings, got None among them"),
        (encoder, TOKENIZER, (one for one in ["a" * 10]), "at most 9 tokens, got 10"),
        (encoder, TOKENIZER, ["a", ""], "at least 1 .*got 0: ''"),
    ):
        with pytest.raises(ValueError, match=message):
            sentence_vectors(model, tokenizer, texts)
