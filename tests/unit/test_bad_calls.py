"""Bad input to models, texts and training: a ValueError that names the argument."""

import datetime
import math
import random

import pytest
import torch
from torch import nn

import attention_audit
from helpers import attention
from helpers.models import generation, induction, positions, switches
from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import (
    Block,
    BlockAttention,
    TransformerConfig,
    make_norm,
)
from helpers.text import corpus, dates, encoding, excess, grammar
from helpers.text.batches import Documents
from helpers.text.repeats import repeats
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import TrainConfig, preset
from helpers.training.loop import evaluate, train
from helpers.training.muon import Muon
from helpers.training.optimizers import learning_rate_at

MODEL = TransformerLM(TransformerConfig(5, 8, 8, 2, 1))
TOKENIZER = CharTokenizer("\nabcd")
IDS = torch.zeros(1, 4, dtype=torch.int64)
DATA = Documents([[1, 2, 3]] * 4, 8, 0)
TRAINING = TrainConfig(steps=1, batch_size=2, learning_rate=1e-3)
HEADS, ANGLES = torch.randn(2, 3, 4), torch.randn(3, 2)
DATE, PLACES = datetime.date(1998, 3, 3), torch.arange(3)


def draw(count=1, alphabet="ab", lengths=(1, 2)):
    return repeats(count, alphabet, lengths, random.Random(0))


def mask(queries=PLACES, keys=PLACES, **options):
    return attention.mask_between(queries, keys, **options)


def step(lr):
    return Muon([nn.Parameter(torch.ones(2, 2))], lr=lr)


def silence(layer, head):
    with switches.silenced(MODEL, layer, head):
        pass


def rotate(heads=HEADS, cosines=ANGLES, sines=ANGLES):
    return positions.rotate(heads, cosines, sines)


def audit(**options):
    return attention_audit.audit(nn.Identity(), 8, 6, **options)


BAD = {
    # attention and positions
    "list": (lambda: mask([0, 1]), "query_positions must be a torch.Tensor, got list"),
    "floats": (lambda: mask(keys=torch.rand(3)), r"key_positions .* torch\.float32"),
    "no window": (lambda: mask(window=0), "window must be an integer .* got 0"),
    "sinks alone": (lambda: mask(sinks=2), "got sinks 2 and no window"),
    "no tensor": (lambda: rotate([1]), "heads must be a torch.Tensor, got list"),
    "whole heads": (
        lambda: rotate(torch.ones(3, 4, dtype=torch.int64)),
        r"heads must be floating point, got torch\.int64",
    ),
    "odd D": (lambda: rotate(torch.randn(3, 5)), r"heads .*even.* got 5"),
    "one angle": (
        lambda: rotate(cosines=torch.ones(1, 1)),
        r"cosines must have shape \(T, D / 2\) = \(3, 2\), got \(1, 1\)",
    ),
    "sines": (lambda: rotate(sines=torch.ones(2, 2)), r"sines .*got \(2, 2\)"),
    "odd width": (
        lambda: positions.sinusoidal_positions(0, 3, 5),
        "d_model must be even, got 5",
    ),
    "odd head": (lambda: positions.rotary_angles(0, 3, 5), "head_dim must be even"),
    "base 0": (lambda: positions.rotary_angles(0, 3, 4, base=0), "base .* got 0"),
    "base -5": (lambda: positions.rotary_angles(0, 3, 4, base=-5.0), "base .* -5"),
    # models
    "block": (lambda: Block({}), "config must be a TransformerConfig, got dict"),
    "its attention": (lambda: BlockAttention(None), "config must be .* got NoneType"),
    "norm": (lambda: make_norm(None), "config must be a .* got NoneType"),
    "model": (lambda: generation.generate(None, IDS, 2), "model must .* NoneType"),
    "no language": (
        lambda: generation.generate(nn.Linear(2, 2), IDS, 2),
        "model must have a vocab_size and a context_length, got Linear",
    ),
    "tokenizer": (
        lambda: generation.generate_text(MODEL, None, "a", 2),
        "tokenizer must have .* got NoneType",
    ),
    "layer a": (lambda: silence("a", 0), "layer must be an integer from 0 to 0"),
    "layer 0.0": (lambda: silence(0.0, 0), r"layer must be an integer .* got 0\.0"),
    "head a": (
        lambda: induction.copying_matrix(MODEL, 0, "a"),
        "head must be an integer from 0 to 1, got 'a'",
    ),
    "by hand": (lambda: induction.by_hand("a", 4), "vocab_size .* got 'a'"),
    # texts
    "texts": (
        lambda: encoding.encode_for_model(None, TOKENIZER),
        "texts must be a string or several, got NoneType",
    ),
    "its tokenizer": (
        lambda: encoding.encode_for_model("a", None),
        "tokenizer must have .* got NoneType",
    ),
    "documents": (lambda: Documents(None, 2, 0), "documents must be .* got NoneType"),
    "one text": (
        lambda: Documents.from_texts("abc", TOKENIZER, 4),
        "texts must be several texts, got the string 'abc'",
    ),
    "corpus": (lambda: corpus.load([]), r"name must be one of .* got \[\]"),
    "stories": (lambda: excess.Truth(5), "stories must be .* got int"),
    "alphabet": (lambda: draw(alphabet=""), "alphabet must hold .* got ''"),
    "number": (lambda: draw(alphabet=5), "alphabet must hold .* got 5"),
    "lengths": (lambda: draw(lengths=3), "lengths must be a pair .* got 3"),
    "weight": (lambda: grammar.share(1, [(math.nan, "a")]), "weights, got nan"),
    "total": (lambda: grammar.share(-1, [(1, "a")]), "total must be .* got -1"),
    "spec": (
        lambda: dates.write(DATE, "{year:zz}{month}{day}"),
        "form must be a template, got '{year:zz}",
    ),
    "conversion": (
        lambda: dates.write(DATE, "{year!r}{month}{day}"),
        "form must have fields without conversions, got '!r'",
    ),
    # training
    "recipe": (lambda: preset([], 5), r"name must be one of .* got \[\]"),
    "config": (
        lambda: train(MODEL, DATA, {}),
        "config must be a TrainConfig, got dict",
    ),
    "data": (
        lambda: train(MODEL, "abc", TRAINING),
        "data must be Windows or Documents, got str",
    ),
    "no model": (lambda: train(None, DATA, TRAINING), "model must be a .* NoneType"),
    "no data": (lambda: evaluate(MODEL, None), "data must be .* got NoneType"),
    "rate a": (lambda: step("a"), "lr must be a finite number of at least 0, got 'a'"),
    "rate inf": (lambda: step(math.inf), "lr must be a finite number .* got inf"),
    "rate True": (lambda: step(True), "lr must be a finite number .* got True"),
    "step 0": (lambda: learning_rate_at(TRAINING, 0), "step must be .* got 0"),
    # the audit
    "scale": (lambda: audit(scale=True), "scale is True; a number above 0 is needed"),
    "seconds": (lambda: audit(seconds=True), "seconds is True"),
    "require": (lambda: audit(require=3), "require must name checks, got 3"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_argument_is_named(name):
    call, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("schedule", ["cosine", "linear", "constant"])
def test_behind_the_last_step_the_rate_stays_where_it_ended(schedule):
    options = {"schedule": schedule, "warmup_steps": 2, "final_learning_rate": 0.1}
    config = TrainConfig(steps=9, batch_size=2, learning_rate=0.8, **options)
    last = 0.8 if schedule == "constant" else 0.1
    assert [learning_rate_at(config, step) for step in (10, 11, 30)] == [last] * 3
