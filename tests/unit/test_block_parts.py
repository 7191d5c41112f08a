"""experiments.block_parts: sides that differ in one thing; RMS matching."""

import itertools
import math

import pytest
import torch

from experiments import block_parts, sweeps
from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.text.batches import Documents
from helpers.text.tokenizer import CharTokenizer
from helpers.training.muon import Muon

TOKENIZER = CharTokenizer("\nab")
RUN = {"text": "little-world", "seed": 0, "steps": 6}
SIZES = {"validation": 3, "test": 4}


def config(part):
    return block_parts.build(TOKENIZER, RUN, **block_parts.PARTS[part])[0]


def matrices(part):
    """How many weights the matrices of the blocks hold."""
    blocks = TransformerLM(config(part)).blocks
    return sum(one.numel() for one in blocks.parameters() if one.dim() == 2)


def test_each_side_differs_from_the_plain_block_in_what_its_part_says():
    plain = vars(config(block_parts.PLAIN))
    for part, options in block_parts.PARTS.items():
        found = vars(config(part))
        assert {name for name in plain if found[name] != plain[name]} == {*options}
    assert (plain["positions"], plain["norm"]) == ("rotary", "layer")
    assert (plain["activation"], plain["norm_first"]) == ("gelu", True)


def test_all_sides_have_as_many_weights():
    assert len({matrices(part) for part in block_parts.PARTS}) == 1


def learn(wanted, loss):
    """A record that is completed by a made-up loss."""
    record = {"runs": []}
    while missing := wanted(record):
        run = missing[0]
        record["runs"].append(run | dict.fromkeys(("validation", "test"), loss(run)))
    return record


def test_every_part_has_five_seeds_at_its_best_rate_on_both_texts():
    best = {"little-world": 0.032, "tiny-shakespeare": 0.002}

    def loss(run):
        return abs(math.log2(run["rate"] / best[run["text"]])) + 0.01 * run["seed"]

    runs = learn(block_parts.wanted, loss)["runs"]
    for text, rate in best.items():
        for part in block_parts.PARTS:
            seeds = [
                (run["rate"], run["seed"])
                for run in runs
                if (run["text"], run["part"]) == (text, part)
            ]
            assert {seed for one, seed in seeds if one == rate} == {*sweeps.SEEDS}
            for near in sweeps.neighbours(rate):
                assert near in {one for one, _ in seeds}


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_score_is_that_of_a_query_with_a_key_that_it_may_see(seed):
    torch.manual_seed(seed)
    model = TransformerLM(
        TransformerConfig(3, 8, 12, 3, 2, positions="learned", qkv_bias=True)
    )
    data = Documents.from_texts(["abab", "ba"], TOKENIZER, 8)
    found, inputs = [], {}
    for block in model.blocks:
        block.attention.register_forward_pre_hook(
            lambda layer, given: inputs.update({layer: given[0]})
        )
    measured = block_parts.largest_score(model, data)
    for layer, x in inputs.items():
        B, T, _ = x.shape
        queries, keys = (one(x).detach() for one in (layer.W_query, layer.W_key))
        for b, head, t in itertools.product(range(B), range(3), range(T)):
            part = slice(4 * head, 4 * head + 4)
            for s in range(t + 1):
                found.append(float(queries[b, t, part] @ keys[b, s, part]) / 2)
    assert measured == pytest.approx(max(map(abs, found)), rel=1e-5)
    ids = next(data.all(2))[0]
    assert model.blocks[0].attention.core is None
    assert model(ids).isfinite().all()


@pytest.mark.slow
def test_a_short_run_measures_what_a_long_one_would():
    settings = RUN | {"part": "SwiGLU", "rate": 0.008}
    run = block_parts.train_one(settings, **SIZES)
    assert run == block_parts.train_one(settings, **SIZES)
    assert run["validation"] != run["test"]
    assert 2 < run["test"] < 4.5


def test_a_loss_without_bound_is_kept_as_a_run_that_failed(monkeypatch):
    def fail(*_, **__):
        raise FloatingPointError

    monkeypatch.setattr(block_parts, "train", fail)
    settings = RUN | {"part": block_parts.PLAIN, "rate": 0.008}
    assert block_parts.train_one(settings, **SIZES) == {"validation": None}


@pytest.mark.parametrize("shape", [(6, 6), (12, 4), (4, 12)])
def test_a_matched_step_is_pytorchs_and_has_one_size_in_every_shape(shape):
    torch.manual_seed(0)
    start, gradient = torch.zeros(shape), torch.randn(shape)
    steps = []
    for kind in (Muon, torch.optim.Muon):
        weight = torch.nn.Parameter(start.clone())
        weight.grad = gradient
        kind([weight], lr=1.0, adjust_lr_fn="match_rms_adamw").step()
        steps.append(weight.detach())
    torch.testing.assert_close(*steps, atol=0.03, rtol=0)
    assert 0.13 < steps[0].square().mean().sqrt() < 0.23


def test_an_unknown_factor_is_named():
    message = "adjust_lr_fn must be one of 'original', 'match_rms_adamw', got 'rms'"
    with pytest.raises(ValueError, match=message):
        Muon([torch.ones(3, 3)], lr=1.0, adjust_lr_fn="rms")


def test_a_state_from_before_the_choice_steps_as_it_did():
    weights = [torch.nn.Parameter(torch.ones(4, 8)) for _ in range(2)]
    old, new = Muon(weights[:1], lr=0.5), Muon(weights[1:], lr=0.5)
    state = old.state_dict()
    del state["param_groups"][0]["adjust_lr_fn"]
    new.load_state_dict(state)
    for weight, optimizer in zip(weights, (old, new), strict=True):
        weight.grad = torch.arange(32.0).view(4, 8).cos()
        optimizer.step()
    assert weights[0].equal(weights[1])
