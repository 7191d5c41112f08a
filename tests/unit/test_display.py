"""helpers.notebook.display: tensors as text."""

import pytest
import torch

from helpers.notebook.display import format_tensor, show


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
