"""helpers.models.quantisation: each group has its own even steps."""

import gguf
import pytest
import torch

from helpers.models.quantisation import rounded


def drawn(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("size", [5, 35, None])
def test_a_weight_moves_by_half_a_step_of_its_own_group(bits, size):
    weight = drawn(5, 7) * torch.tensor([1e-2, 1.0, 10.0, 0.3, 1.0])[:, None]
    given = weight.clone()
    found = rounded(weight, bits, size)
    assert found.shape == weight.shape
    assert torch.equal(weight, given)
    before, after = (one.reshape(-1, size or 35) for one in (weight, found))
    steps = (before.amax(1) - before.amin(1)) / (2**bits - 1)
    scale = before.abs().amax(1)
    # Half a step, and what 16 bits lose of the smallest and of the step.
    assert ((before - after).abs().amax(1) <= steps / 2 + scale * 2**-9).all()
    assert max(len(group.unique()) for group in after) <= 2**bits


def test_it_is_what_the_format_q4_1_stores():
    weight = drawn(8, 64)
    kind = gguf.GGMLQuantizationType.Q4_1
    stored = gguf.quantize(weight.numpy(), kind)
    theirs = torch.tensor(gguf.dequantize(stored, kind))
    found = rounded(weight, 4, 32)
    # A weight between two numbers may go to the other one.
    same = (found - theirs).abs() < 1e-5
    assert same.float().mean() > 0.99


def test_a_group_whose_weights_are_alike_stays_as_it_is():
    weight = torch.tensor([[0.75, 0.75, 0.0, 0.0], [-0.5, -0.5, 1e-9, 2e-9]])
    found = rounded(weight, 4, 2)
    torch.testing.assert_close(found, weight, rtol=0, atol=1e-8)


def test_what_is_rounded_stays_as_it_is():
    once = rounded(drawn(4, 32), 4, 32)
    torch.testing.assert_close(rounded(once, 4, 32), once, rtol=0, atol=1e-2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rounded([1.0], 4), r"weight must be a torch\.Tensor, got list"),
        (lambda: rounded(drawn(4).double(), 4), "weight must .* got torch.float64"),
        (lambda: rounded(torch.zeros(0), 4), r"weight must hold .* shape \(0,\)"),
        (lambda: rounded(drawn(4), 9), "bits must be from 1 to 8, got 9"),
        (lambda: rounded(drawn(4), 0), "bits must be from 1 to 8, got 0"),
        (lambda: rounded(drawn(4), 4, 3), "size must divide the 4 weights .* got 3"),
        (lambda: rounded(drawn(4), 4, 0), "size must divide .* got 0"),
        (
            lambda: rounded(drawn(4), 4, 2.0),
            "size must be an integer of at least 0, got 2.0",
        ),
        (lambda: rounded(torch.tensor([0.0, 1e6]), 4), "weight must .* float16"),
        (lambda: rounded(torch.tensor([0.0, torch.nan]), 4), "weight must .*float16"),
    ],
)
def test_what_cannot_be_rounded_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
