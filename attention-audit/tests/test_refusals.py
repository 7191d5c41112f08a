"""A dtype that is refused by mistake fails, and no other that is refused."""

import math

import pytest
import torch

import attention_audit
from public_bugs.dtypes import Billion, CosinesInFloat32, WeightsInFloat32
from steps import D_IN, H, Steps, T


class Says(Steps):
    """Refuses 16 bits with an error of its own."""

    words = "float32 or float64 is needed, got {}"

    def forward(self, x):
        if x.dtype in (torch.float16, torch.bfloat16):
            raise TypeError(self.words.format(x.dtype))
        return super().forward(x)


class LacksAKernel(Says):
    """As on a machine without an operation in 16 bits."""

    words = "\"softmax_kernel_impl\" not implemented for 'Half', same dtype, Float"


class LiftsAndLowers(Steps):
    """Softmax in float32, brought back afterwards."""

    def softmax(self, scores):
        return super().softmax(scores.float()).to(scores)


class MasksByMillions(Steps):
    """A mask that float16 has only as -inf, which it takes."""

    def softmax(self, scores):
        return super().softmax(scores.masked_fill(scores == -math.inf, -6e4))


def row(layer, d_in, **options):
    torch.manual_seed(0)
    found = attention_audit.audit(layer(), d_in, T, num_heads=H, **options)
    return next(one for one in found.rows if one.check == "dtypes")


@pytest.mark.parametrize("layer", [Says, LacksAKernel, LiftsAndLowers, MasksByMillions])
def test_what_is_meant_or_lacking_is_no_mistake(layer):
    assert row(layer, D_IN, require=["dtypes"]).result == "passes"


@pytest.mark.parametrize(
    ("layer", "options", "said"),
    [
        (Billion, {}, "refuses float16 and not bfloat16: "),
    ],
)
def test_a_constant_or_a_cast_that_refuses_16_bits_is_a_mistake(layer, options, said):
    one = row(layer, layer.d_in, **options)
    assert one.result == "FAILS"
    assert said in one.reason
    assert ".py:" in one.reason


@pytest.mark.parametrize(
    ("layer", "options"),
    [(WeightsInFloat32, {}), (CosinesInFloat32, {"positions": "rotary"})],
)
def test_what_is_made_in_float32_is_a_mistake_for_whoever_requires_dtypes(
    layer, options
):
    one = row(layer, layer.d_in, **options)
    assert one.result != "FAILS"
    one = row(layer, layer.d_in, require=["dtypes"], **options)
    assert one.result == "FAILS"
    assert "made in another dtype in the middle" in one.reason


def test_the_largest_number_of_float16_is_named():
    assert row(Billion, Billion.d_in).reason.endswith("float16 ends at 65,504")
