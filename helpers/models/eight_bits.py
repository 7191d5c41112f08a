"""A model's weights in 8 bits: a quarter of float32's size, small enough for a page.

Each row of a matrix becomes whole numbers from -127 to 127 and one scale, the number
that they are multiples of. A row is what makes one output of a linear layer, or one
character's embedding. So a row of large weights doesn't make those of another coarse,
and a linear layer can multiply by the scale once, behind its sum. Vectors (biases and
norms) are few, and stay float16.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from helpers import validation

LARGEST = 127  # the same on both sides of 0
SCALES = ".scales"


def to_eight_bits(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round weights to 8 bits.

    A weight moves by half of its row's scale at most, which is 1/254 of the row's
    largest weight (and by float16's rounding of the scale, 16 times less).

    Args:
        weights: a dict from names to floating-point tensors, (rows, columns) or (n,).

    Returns:
        stored: for each matrix an int8 tensor (rows, columns) under its name, and its
            scales, a float16 tensor (rows,), under that name and ".scales"; for each
            vector a float16 tensor.

    Raises:
        ValueError: what isn't a tensor, has another number of axes, or doesn't hold
            finite floating-point numbers.
    """
    stored: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        _require_weights(name, tensor)
        if tensor.dim() == 1:
            stored[name] = tensor.detach().half()
            continue
        scales = (tensor.detach().float().abs().amax(dim=1) / LARGEST).half()
        steps = scales.float().where(scales > 0, 1.0)[:, None]  # a row may hold zeros
        whole = (tensor.detach().float() / steps).round()
        stored[name] = whole.clamp(-LARGEST, LARGEST).to(torch.int8)
        stored[name + SCALES] = scales
    return stored


def from_eight_bits(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights that 8 bits stand for.

    Args:
        stored: what ``to_eight_bits`` returned.

    Returns:
        weights: a dict from names to float32 tensors, in the same order.

    Raises:
        ValueError: a matrix without its scales.
    """
    weights = {}
    for name, tensor in stored.items():
        if name.endswith(SCALES):
            continue
        weights[name] = tensor.float()
        if tensor.dim() == 2:
            if name + SCALES not in stored:
                raise ValueError(f"stored must hold {name + SCALES}, got {name} alone")
            weights[name] *= stored[name + SCALES].float()[:, None]
    return weights


def _require_weights(name: str, tensor: Tensor) -> None:
    validation.require_tensor(name, tensor)
    if tensor.dim() not in (1, 2) or not tensor.is_floating_point():
        raise ValueError(
            f"{name} must be a floating-point matrix or vector, got {tensor.dtype} of "
            f"shape {validation.shape_of(tensor)}"
        )
    if not validation.holds(lambda: tensor.isfinite().all()):
        raise ValueError(f"{name} must hold finite numbers")
