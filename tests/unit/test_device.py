"""helpers.notebook.device: where to compute, and the seed."""

import random

import numpy as np
import pytest
import torch

from helpers.notebook.device import choose_device, seed_everything


@pytest.fixture(autouse=True)
def _no_override(monkeypatch):
    monkeypatch.delenv("BOOK_DEVICE", raising=False)


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"),
    [
        (True, True, "cuda"),
        (True, False, "cuda"),
        (False, True, "mps"),
        (False, False, "cpu"),
    ],
)
def test_the_fastest_device_is_chosen(monkeypatch, cuda, mps, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.mps, "is_available", lambda: mps)
    assert choose_device() == torch.device(expected)


def test_the_environment_overrides_the_choice(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv("BOOK_DEVICE", "cpu")
    assert choose_device() == torch.device("cpu")
    assert choose_device("cuda:1") == torch.device("cuda:1")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("gpu", "BOOK_DEVICE must be a device .*'gpu'"),
        ("cuda", "BOOK_DEVICE asks for 'cuda', which this machine doesn't have"),
        ("meta", "BOOK_DEVICE asks for 'meta'"),
    ],
)
def test_a_device_that_is_not_there_is_named(monkeypatch, asked, message):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("BOOK_DEVICE", asked)
    with pytest.raises(ValueError, match=message):
        choose_device()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("gpu", "^name must be a device .*'gpu'"),
        ("cuda", "^name asks for 'cuda', which this machine doesn't have"),
    ],
)
def test_a_device_asked_for_by_name_is_named_so(monkeypatch, asked, message):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=message):
        choose_device(asked)


def test_an_empty_environment_variable_asks_for_nothing(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.mps, "is_available", lambda: False)
    monkeypatch.setenv("BOOK_DEVICE", "")
    assert choose_device() == torch.device("cpu")


def test_a_seed_repeats_every_stream():
    def draw():
        return random.random(), np.random.rand(), torch.rand(1).item()

    seed_everything(7)
    first = draw()
    seed_everything(7)
    assert draw() == first
    assert draw() != first


@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_the_seed_itself_goes_to_pytorch(seed):
    seed_everything(seed)
    drawn = torch.rand(1)
    torch.manual_seed(seed)
    assert drawn.equal(torch.rand(1))


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, True, "7"])
def test_a_bad_seed_is_named(seed):
    with pytest.raises(ValueError, match=f"seed .*{seed!r}"):
        seed_everything(seed)
