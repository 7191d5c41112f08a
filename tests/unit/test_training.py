"""helpers.training: rates, optimizers, losses and the loop."""

import dataclasses
import io
import itertools
import math
import random
import re
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from helpers.text.batches import Documents
from helpers.training.config import TrainConfig
from helpers.training.loop import bits, evaluate, train
from helpers.training.muon import Muon
from helpers.training.optimizers import learning_rate_at, make_optimizers
from tests.samples.training import (
    CONTEXT_LENGTH,
    VOCAB_SIZE,
    RestlessModel,
    TinyModel,
    make_config,
    make_data,
)


def quick(model=None, data=None, *, steps=6, device="cpu", **options):
    """A run of a few steps, silent and on the CPU unless told otherwise."""
    fields = {field.name for field in dataclasses.fields(TrainConfig)}
    changes = {name: options.pop(name) for name in fields & options.keys()}
    config = make_config(steps=steps, **changes)
    options = {"progress": False, "device": device} | options
    return train(model or TinyModel(), data or make_data(), config, **options)


def stories():
    return Documents([[1, 2, 3], [4], [5, 6, 7, 8]], CONTEXT_LENGTH, 0)


@pytest.mark.parametrize("schedule", ["cosine", "linear", "constant"])
def test_the_rate_rises_reaches_its_peak_and_falls(schedule):
    config = TrainConfig(
        20, 4, 0.8, warmup_steps=4, schedule=schedule, final_learning_rate=0.2
    )
    rates = [learning_rate_at(config, step) for step in range(1, 22)]
    assert rates[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8])
    middle = {"cosine": 0.5, "linear": 0.5, "constant": 0.8}
    end = {"cosine": 0.2, "linear": 0.2, "constant": 0.8}
    assert rates[12] == pytest.approx(middle[schedule])
    assert rates[20] == pytest.approx(end[schedule])
    quarter = {"cosine": 0.2 + 0.3 * (1 + math.sqrt(0.5)), "linear": 0.65}
    assert rates[8] == pytest.approx(quarter.get(schedule, 0.8))


def test_without_warm_up_the_first_step_has_the_peak():
    assert learning_rate_at(TrainConfig(5, 4, 0.8), 1) == 0.8


def rates_of_a_run(**changes):
    model, seen = TinyModel(), []
    config = {"learning_rate": 0.5, "muon_learning_rate": 2.0} | changes

    def watch(step, *_):
        seen.append([group["lr"] for group in step.param_groups])

    handle = register_optimizer_step_pre_hook(watch)
    try:
        quick(model, steps=4, schedule="linear", warmup_steps=2, **config)
    finally:
        handle.remove()
    return seen


def test_the_optimizers_follow_the_rate():
    expected = [0.25, 0.5, 0.5, 0.25]
    assert rates_of_a_run() == [[rate, rate] for rate in expected]
    muon, apart = {"optimizer": "muon"}, {"hidden_learning_rate": 0.125}
    for config, share in ((muon, 4), (apart, 0.25)):
        both = iter(rates_of_a_run(**config))
        for rate in expected:
            assert next(both) == [rate, rate]
            assert next(both) == [share * rate]


def named(model, optimizer):
    names = {id(p): name for name, p in model.named_parameters()}
    return [
        sorted(names[id(p)] for p in group["params"])
        for group in optimizer.param_groups
    ]


def test_matrices_decay_and_biases_and_norms_do_not():
    model = TinyModel()
    (adamw,) = make_optimizers(model, make_config(weight_decay=0.3, betas=(0.5, 0.6)))
    assert named(model, adamw) == [
        ["embedding.weight", "head.weight", "hidden.weight"],
        ["head.bias", "hidden.bias", "norm.bias", "norm.weight"],
    ]
    assert [group["weight_decay"] for group in adamw.param_groups] == [0.3, 0.0]
    assert adamw.param_groups[0]["betas"] == (0.5, 0.6)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    ("kind", "rate"),
    [
        (Muon, {"optimizer": "muon", "muon_learning_rate": 0.7}),
        (torch.optim.AdamW, {"hidden_learning_rate": 0.7, "betas": (0.5, 0.6)}),
    ],
)
def test_hidden_matrices_alone_have_an_optimizer_of_their_own(tied, kind, rate):
    model = TinyModel(tied=tied)
    adamw, own = make_optimizers(model, make_config(weight_decay=0.3, **rate))
    assert isinstance(adamw, torch.optim.AdamW)
    assert isinstance(own, kind)
    assert named(model, own) == [["hidden.weight"]]
    (group,) = own.param_groups
    assert (group["lr"], group["weight_decay"]) == (0.7, 0.3)
    assert group.get("betas", (0.5, 0.6)) == (0.5, 0.6)
    both = named(model, adamw) + named(model, own)
    assert sorted(itertools.chain(*both)) == sorted(
        name for name, _ in model.named_parameters()
    )


def test_the_first_windows_may_be_short_and_many():
    seen = []

    class Watched(TinyModel):
        def forward(self, ids):
            seen.append(tuple(ids.shape))
            return super().forward(ids)

    quick(Watched(), steps=5, batch_size=3, short_steps=2, warmup_steps=0)
    half = CONTEXT_LENGTH // 2
    assert seen == [(6, half)] * 2 + [(3, CONTEXT_LENGTH)] * 3
    with pytest.raises(ValueError, match=r"short_steps shortens Windows.* Documents"):
        quick(data=stories(), short_steps=2)


def test_muon_leaves_a_matrix_that_an_embedding_shares():
    model = TinyModel(width=VOCAB_SIZE, tied=True)
    # The tied layer is no longer the last, and could be taken for a hidden one.
    model.last = nn.Linear(VOCAB_SIZE, VOCAB_SIZE)
    _, muon = make_optimizers(model, make_config(optimizer="muon"))
    assert named(model, muon) == [["hidden.weight"]]


def test_frozen_parameters_stay_as_they_are():
    model = TinyModel()
    model.hidden.requires_grad_(False)
    before = model.hidden.weight.clone()
    quick(model)
    assert torch.equal(model.hidden.weight, before)


def test_one_step_is_the_one_that_is_written_out():
    model, data = TinyModel(dropout=0.0), make_data()
    other = TinyModel(dropout=0.0)
    result = quick(model, data, steps=1, warmup_steps=0, gradient_clip=0.1)
    inputs, targets = data.batch(4, torch.Generator().manual_seed(0))
    loss = F.cross_entropy(other(inputs).transpose(1, 2), targets)
    loss.backward()
    length = sum((p.grad**2).sum() for p in other.parameters()).sqrt()
    assert length > 0.1
    matrices = [p for p in other.parameters() if p.dim() == 2]
    vectors = [p for p in other.parameters() if p.dim() == 1]
    for p in other.parameters():
        p.grad *= 0.1 / length
    groups = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
    torch.optim.AdamW(groups, lr=0.01, betas=(0.9, 0.99)).step()
    assert result.loss == pytest.approx(loss.item(), abs=1e-6)
    for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-6)


def test_the_gradient_can_go_unclipped():
    def final_weight(clip):
        model = TinyModel(dropout=0.0)
        # AdamW's first step has the same length for any gradient; the second not.
        quick(model, steps=2, gradient_clip=clip, warmup_steps=0)
        return model.hidden.weight

    assert torch.equal(final_weight(None), final_weight(1e6))
    assert not torch.equal(final_weight(None), final_weight(0.01))


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_training_learns_and_its_history_says_so(optimizer):
    result = quick(
        steps=150,
        optimizer=optimizer,
        learning_rate=0.03,
        batch_size=16,
        held_out=make_data(63, seed=1),
        evaluate_every=50,
    )
    history = result.history
    assert [row.step for row in history] == list(range(1, 151))
    evaluated = [row.step for row in history if row.held_out is not None]
    assert evaluated == [50, 100, 150]
    assert history[0].loss > 2.0
    # One bit of noise a character, some of it told by the character before it.
    assert result.loss < 1.2
    assert result.held_out < 1.2
    seconds = [row.seconds for row in history]
    assert seconds == sorted(seconds)
    assert 0 < seconds[0] < result.seconds == seconds[-1]


def test_held_out_text_is_evaluated_at_the_end_at_least():
    model, held_out = TinyModel(), make_data(63, seed=1)
    result = quick(model, held_out=held_out, evaluate_every=None)
    assert [row.step for row in result.history if row.held_out is not None] == [6]
    assert result.held_out == evaluate(model, held_out)
    result = quick()
    assert result.held_out is None


def test_a_nat_is_more_than_a_bit():
    assert bits(math.log(2)) == 1.0
    assert bits(math.log(4)) == 2.0


@pytest.mark.parametrize("batch_size", [1, 2, 64])
@pytest.mark.parametrize("data", [make_data(58, seed=2), stories()])
def test_evaluation_is_the_mean_over_all_characters(data, batch_size):
    model = TinyModel().eval()
    losses = []
    for inputs, targets in data.all(1):
        real = targets[0] >= 0
        log_probabilities = model(inputs)[0, real].log_softmax(-1)
        chosen = targets[0, real][:, None]
        losses += (-log_probabilities.gather(1, chosen)).flatten().tolist()
    assert len(losses) == data.num_targets
    mean = sum(losses) / len(losses)
    assert evaluate(model, data, batch_size=batch_size) == pytest.approx(mean, rel=1e-6)


def test_padding_carries_no_gradient():
    model, other = TinyModel(dropout=0.0), TinyModel(dropout=0.0)
    quick(model, stories(), steps=4)

    class Repadded(Documents):
        def batch(self, batch_size, generator):
            inputs, targets = super().batch(batch_size, generator)
            return inputs.where(targets >= 0, 7), targets

    documents = [[1, 2, 3], [4], [5, 6, 7, 8]]
    quick(other, Repadded(documents, CONTEXT_LENGTH, 0), steps=4)
    assert torch.equal(model.embedding.weight, other.embedding.weight)


def test_evaluation_leaves_modes_weights_and_random_numbers_alone():
    model = RestlessModel(dropout=0.5)
    model.norm.eval()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    state = torch.get_rng_state(), random.getstate()
    first = evaluate(model, make_data())
    assert evaluate(model, make_data()) == first
    assert (model.training, model.dropout.training, model.norm.training) == (
        True,
        True,
        False,
    )
    assert torch.equal(torch.get_rng_state(), state[0])
    assert random.getstate() == state[1]
    assert all(map(torch.equal, before.values(), model.state_dict().values()))
    assert all(p.grad is None for p in model.parameters())


def test_a_seed_decides_the_run_and_what_is_outside_goes_on():
    def run(seed):
        model = RestlessModel()
        quick(model, seed=seed)
        return model.head.weight

    def outside():
        return random.random(), np.random.rand(), torch.rand(1).item()

    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    expected = outside()
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch.set_rng_state(states[2])
    first = run(3)
    assert outside() == expected
    assert torch.equal(run(3), first)
    assert not torch.equal(run(4), first)


def test_evaluations_checkpoints_and_calls_do_not_change_the_run(tmp_path):
    plain, watched = RestlessModel(), RestlessModel()
    modes = []
    quick(plain)
    quick(
        watched,
        held_out=make_data(63, seed=1),
        evaluate_every=1,
        checkpoint_dir=tmp_path,
        checkpoint_every=2,
        after_step=lambda step, model: modes.append((step, model.training)),
    )
    assert modes == [(step, False) for step in range(7)]
    assert all(
        map(torch.equal, plain.state_dict().values(), watched.state_dict().values())
    )
    assert not watched.training


class BreaksAt(TinyModel):
    """Its loss, gradient or weight stops being a number at one step."""

    def __init__(self, step, kind):
        super().__init__()
        self.calls, self.broken_call, self.kind = 0, step, kind

    def forward(self, ids):
        logits = super().forward(ids)
        if not self.training:
            return logits
        self.calls += 1
        if self.calls != self.broken_call:
            return logits
        if self.kind == "gradient":
            logits.register_hook(lambda gradient: gradient * math.nan)
            return logits
        return logits * {"loss": math.nan, "infinite": math.inf}[self.kind]


@pytest.mark.parametrize("kind", ["loss", "infinite", "gradient"])
def test_a_loss_that_is_no_number_stops_the_run(tmp_path, kind):
    model, weights = BreaksAt(6, kind), []
    name = "norm of the gradient" if kind == "gradient" else "loss"
    message = f"the {name} at step 6 is .*last good checkpoint is .*step-00000004"
    options = {"checkpoint_dir": tmp_path, "checkpoint_every": 2, "steps": 20}
    with pytest.raises(FloatingPointError, match=message):
        quick(
            model,
            after_step=lambda *_: weights.append(model.hidden.weight.clone()),
            **options,
        )
    assert torch.equal(model.hidden.weight, weights[5])
    with pytest.raises(
        FloatingPointError, match=r"step 1 is .*no checkpoint was saved"
    ):
        quick(BreaksAt(1, kind))


@pytest.mark.parametrize("layer", ["embedding", "unread"])
def test_weights_that_are_no_numbers_are_not_saved(tmp_path, layer):
    model = TinyModel()
    model.unread = nn.Linear(1, 1)  # the last of all weights, not the first

    def break_it(step, _):
        if step == 3:
            # The character that the first row belongs to is never read.
            getattr(model, layer).weight.data[0] = math.nan

    data = Documents([[1, 2, 3], [4, 5]], CONTEXT_LENGTH, 6)
    with pytest.raises(FloatingPointError, match=r"weight .* at step 4 .*00000002"):
        quick(
            model,
            data,
            checkpoint_dir=tmp_path,
            checkpoint_every=2,
            after_step=break_it,
        )


@pytest.mark.parametrize(
    ("stderr", "static", "progress", "shown"),
    [
        ("terminal", None, None, True),
        ("terminal", "", None, True),
        ("terminal", "1", None, False),
        ("terminal", None, False, False),
        ("notebook", None, None, True),
        ("notebook", "1", None, False),
        ("file", None, None, False),
        ("file", "1", True, True),
    ],
)
def test_the_bar_shows_loss_and_time_where_somebody_watches(
    monkeypatch, stderr, static, progress, shown
):
    class Written(io.StringIO):
        __module__ = "ipykernel.iostream" if stderr == "notebook" else __name__

        def isatty(self):
            return stderr == "terminal"

    monkeypatch.setattr("sys.stderr", Written())
    monkeypatch.delenv("BOOK_STATIC", raising=False)
    if static is not None:
        monkeypatch.setenv("BOOK_STATIC", static)
    result = quick(progress=progress)
    written = sys.stderr.getvalue()
    if shown:
        assert f"loss {result.loss:.3f}" in written
        assert re.search(r"6/6 \[\d\d:\d\d<00:00", written)
    else:
        assert written == ""


def test_mixed_precision_is_off_on_the_cpu_unless_asked_for():
    seen = []

    class Watched(TinyModel):
        def forward(self, ids):
            logits = super().forward(ids)
            seen.append((self.training, logits.dtype))
            return logits

    quick(Watched(), steps=1, warmup_steps=0)
    quick(Watched(), steps=1, warmup_steps=0, mixed_precision="off")
    assert {kind for _, kind in seen} == {torch.float32}
    seen.clear()
    model = Watched()
    held_out = make_data(63, seed=1)
    result = quick(model, held_out=held_out, mixed_precision="bfloat16")
    assert set(seen) == {(True, torch.bfloat16), (False, torch.float32)}
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert result.loss == pytest.approx(quick(TinyModel()).loss, abs=0.05)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_cuda_device_takes_the_same_path(monkeypatch, optimizer):
    def run(**options):
        model = TinyModel(dropout=0.0)
        return quick(model, steps=30, optimizer=optimizer, **options), model

    expected, _ = run()
    monkeypatch.setenv("BOOK_DEVICE", "cuda")
    exact, model = run(device=None, mixed_precision="off")
    mixed, _ = run(device=None, mixed_precision="auto")
    assert model.hidden.weight.device.type == "cuda"
    # Muon computes in bfloat16 on any device.
    tolerance = 1e-4 if optimizer == "adamw" else 0.02
    assert exact.loss == pytest.approx(expected.loss, abs=tolerance)
    assert mixed.loss == pytest.approx(expected.loss, abs=0.05)
    assert mixed.loss != exact.loss


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps must be an integer .* got 0"),
        ({"batch_size": 0}, "batch_size must be an integer .* got 0"),
        ({"evaluate_every": 0}, "evaluate_every must be an integer"),
        ({"checkpoint_every": 0}, "checkpoint_every must be an integer"),
        ({"warmup_steps": -1}, "warmup_steps must be .* got -1"),
        ({"short_steps": 30}, r"short_steps .* 0 to steps - 1 = 29, got 30"),
        ({"short_steps": 1.5}, r"short_steps .* got 1.5"),
        ({"warmup_steps": 30}, r"warmup_steps .* 0 to steps - 1 = 29, got 30"),
        ({"learning_rate": 0}, "learning_rate must be a finite number above 0, got 0"),
        ({"learning_rate": math.nan}, "learning_rate must be .* got nan"),
        ({"muon_learning_rate": "fast"}, "muon_learning_rate .* got 'fast'"),
        ({"hidden_learning_rate": 0}, "hidden_learning_rate must .* above 0, got 0"),
        (
            {"optimizer": "muon", "hidden_learning_rate": 0.1},
            "hidden_learning_rate must be None with optimizer 'muon', .* got 0.1",
        ),
        ({"final_learning_rate": -1}, "final_learning_rate .* at least 0, got -1"),
        ({"weight_decay": -0.1}, "weight_decay .* at least 0, got -0.1"),
        ({"gradient_clip": 0}, "gradient_clip must be a finite number above 0"),
        ({"betas": 0.9}, "betas must be a pair of numbers, got 0.9"),
        ({"betas": (0.9, 1.0)}, r"betas\[1\] must be a probability"),
        ({"optimizer": "sgd"}, "optimizer must be one of adamw, muon, got 'sgd'"),
        ({"schedule": "step"}, "schedule must be one of cosine, .* got 'step'"),
        ({"mixed_precision": True}, "mixed_precision must be one of auto, .* got True"),
        ({"seed": -1}, "seed must be an integer .* got -1"),
        ({"seed": True}, "seed must be an integer .* got True"),
    ],
)
def test_a_bad_config_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        make_config(**changes)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: quick(data=make_data(context_length=6)), "^data .* 5, got 6"),
        (
            lambda: quick(held_out=make_data(context_length=6)),
            "^held_out must have a context_length of at most the model's 5, got 6",
        ),
        (
            lambda: quick(data=Documents([[VOCAB_SIZE]], 3, 0)),
            "^data must hold ids below the model's vocab_size 11, got 11",
        ),
        (lambda: evaluate(TinyModel(), make_data(context_length=6)), "^data .* got 6"),
        (lambda: evaluate(TinyModel(), make_data(), batch_size=0), "batch_size .* 0"),
        (lambda: quick(device="gpu"), "^device must be a device .* 'gpu'"),
        (lambda: quick(ShallowModel(), optimizer="muon"), "need a hidden nn.Linear"),
        (lambda: quick(Nameless(), optimizer="muon"), "need model.vocab_size"),
        (
            lambda: quick(TinyModel().requires_grad_(False)),
            "model must have parameters to train, got none",
        ),
    ],
)
def test_what_does_not_fit_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


class ShallowModel(nn.Module):
    """An embedding and the output layer, and nothing hidden between them."""

    def __init__(self):
        super().__init__()
        self.vocab_size, self.context_length = VOCAB_SIZE, CONTEXT_LENGTH
        self.layers = nn.Sequential(nn.Embedding(VOCAB_SIZE, 3), nn.Linear(3, 11))

    def forward(self, ids):
        return self.layers(ids)


class Nameless(ShallowModel):
    def __init__(self):
        super().__init__()
        del self.vocab_size


def test_a_model_without_vocab_size_trains_with_adamw():
    assert quick(Nameless()).loss > 0
