"""helpers.runtime: the device, the seed, and tensors as text."""

import contextlib
import random

import numpy as np
import pytest
import torch

from helpers.runtime import (
    choose_device,
    eval_mode,
    format_tensor,
    seed_everything,
    show,
)


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


def test_eval_mode_gives_each_module_its_own_mode_back():
    model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Dropout(0.5)).train()
    model[1].eval()
    inside = []
    with contextlib.suppress(ZeroDivisionError), eval_mode(model):
        inside += [module.training for module in model.modules()]
        raise ZeroDivisionError
    assert inside == [False, False, False]
    assert [module.training for module in model.modules()] == [True, True, False]


def test_a_matrix_is_aligned_and_has_no_negative_zero():
    text = format_tensor(torch.tensor([[-0.00001, 12.5], [-1.0, 0.25]]), "m")
    assert text == "m (2, 2)\n 0.0000  12.5000\n-1.0000   0.2500"


def test_a_sign_in_one_number_moves_no_other():
    one = format_tensor(torch.tensor([0.5, 0.00004]))
    other = format_tensor(torch.tensor([0.5, -0.00006]))
    assert one == " 0.5000   0.0000"
    assert other == " 0.5000  -0.0001"


def test_labels_stand_at_rows_and_columns():
    tensor = torch.tensor([[1, 2], [3, 4]])
    text = format_tensor(tensor, rows=["cat", "a"], columns=["x", "long"])
    assert text == "     x  long\ncat  1     2\na    3     4"


def test_leading_axes_are_named():
    text = format_tensor(torch.arange(4).view(1, 2, 1, 2), axes=("batch", "head"))
    assert text == "batch 0, head 0:\n0  1\nbatch 0, head 1:\n2  3"


def test_leading_axes_without_names_are_counted():
    assert format_tensor(torch.zeros(1, 1, 1)) == "axis 0, index 0:\n 0.0000"


def test_show_prints_with_every_option(capsys):
    show(torch.zeros(1, 2, 1), rows=["a", "b"], axes=["batch"], decimals=1)
    assert capsys.readouterr().out == "batch 0:\na   0.0\nb   0.0\n"


def test_a_single_number_has_a_name_and_no_shape():
    assert format_tensor(torch.tensor(0.5), "s") == "s\n0.5000"


def test_decimals_set_the_width_too():
    assert format_tensor(torch.zeros(1), decimals=2) == " 0.00"


def test_numbers_booleans_and_infinities():
    assert format_tensor(torch.tensor(1.23456), "x", decimals=2) == "x\n1.23"
    assert format_tensor(torch.tensor([True, False])) == "True  False"
    assert format_tensor([float("-inf"), 1.0]) == "   -inf   1.0000"
    assert format_tensor(torch.empty(0)) == ""


def test_a_tensor_with_gradient_prints_without_it(capsys):
    show(torch.ones(1, requires_grad=True) * 2, "twice", columns=["a"])
    assert capsys.readouterr().out == "twice (1,)\n      a\n 2.0000\n"


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((2, 2, 3), {"rows": ["a"]}, "rows must hold 2 labels .*got 1"),
        ((2, 2, 3), {"columns": "abcd"}, "columns must hold 3 labels .*got 4"),
        ((2, 2, 3), {"axes": ("batch", "head")}, "axes must name the 1 leading axes"),
        ((1,), {"columns": []}, "columns must hold 1 labels .*got 0"),
        ((1,), {"rows": ["a"]}, "rows must hold None labels .*got 1"),
        ((), {"columns": ["a"]}, "columns must hold None labels .*got 1"),
    ],
)
def test_labels_that_do_not_fit_are_named(shape, options, message):
    with pytest.raises(ValueError, match=message):
        format_tensor(torch.zeros(shape), **options)
